// What the vector handlers ask of GDAL, whichever it is: the system's programs or the WASM build. Both are asked the same and write the
// same rows, so that a layer does not depend on the machine it was loaded on. Files named here are ours, in the task's scratch folder.
export interface OgrSource {
  /** A file, or a folder of them. */
  path: string;
  driver: string;
  /** NAME=VALUE, as the driver has them. */
  options: readonly string[];
}

/** What an engine opens. A sequence of one feature looks like a GeoJSON to GDAL, and its driver refuses it unless it is named. */
export function addressOf({ driver }: Pick<OgrSource, "driver">, path: string): string {
  return driver === "GeoJSONSeq" ? `${driver}:${path}` : path;
}

export interface OgrPart {
  layer: string;
  /** Rows from..from+most of the layer; all of them when left out. */
  from?: number | undefined;
  most?: number | undefined;
  /** Reprojected on the way: for a CRS that has no code. */
  target_crs?: string | undefined;
}

export interface OgrEngine {
  readonly name: "gdal" | "gdal-wasm";
  readonly version: string;
  /** What ogrinfo tells of all layers. */
  info(source: OgrSource, signal: AbortSignal): Promise<string>;
  /** The rows of a layer as lines of COPY in a PGDUMP file. */
  dump(source: OgrSource, part: OgrPart, target: string, signal: AbortSignal): Promise<void>;
  /** Has it this driver to write with? */
  writes(driver: string): boolean;
  /** A file in another format; `options` as ogr2ogr takes them, `-f` and the driver first. */
  write(source: OgrSource, target: string, options: readonly string[], signal: AbortSignal): Promise<void>;
}

export const geometry_name = "fanfold_geometry";

export const info_options = ["-so", "-al", "-nomd", "-wkt_format", "WKT2"];

export function dumpOptions({ layer, from, most, target_crs }: OgrPart): string[] {
  const quoted = `"${layer.replaceAll('"', '\\"')}"`;
  const chosen =
    from === undefined
      ? [layer]
      : ["-dialect", "OGRSQL", "-sql", `SELECT * FROM ${quoted} LIMIT ${most ?? 0} OFFSET ${from}`];
  return [
    ...["-f", "PGDUMP", "-nln", "rows", "-unsetFieldWidth", "-unsetFid"],
    ...[
      "LAUNDER=NO",
      "SPATIAL_INDEX=NONE",
      "CREATE_TABLE=OFF",
      "DROP_TABLE=OFF",
      // A field that is called as this column would be written twice.
      "FID=fanfold_fid",
      `GEOMETRY_NAME=${geometry_name}`,
    ].flatMap((option) => ["-lco", option]),
    ...(target_crs === undefined ? [] : ["-t_srs", target_crs]),
    ...chosen,
  ];
}
