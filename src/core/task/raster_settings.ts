// What the operator says about raster work on a machine, as handlers see it: ctx.raster. Pure.

export const raster_engines = ["auto", "gdal", "wasm"] as const;
export type RasterEngineChoice = (typeof raster_engines)[number];

export const catalog_settings = ["auto", "stac", "pgstac", "off"] as const;
export type CatalogSetting = (typeof catalog_settings)[number];

export interface RasterSettings {
  /** auto: the system's GDAL where there is one (in a warm Python, where that has it), the WASM build otherwise. gdal: its programs. */
  engine: RasterEngineChoice;
  /** Where GDAL's programs are looked for, as in PATH. */
  path: string;
  /** Where a GDAL in an unusual place keeps its data: GDAL_DATA, PROJ_DATA, PROJ_LIB, LD_LIBRARY_PATH. */
  env: Readonly<Record<string, string>>;
  /** Sources that are kept on this machine from task to task; null: each task fetches its own. */
  source_cache: { dir: string; bytes: number } | null;
  /** Larger sources are refused before they are fetched. */
  source_max_bytes: number;
  /** The catalogue that items go into: the one that is served. */
  catalog: CatalogSetting;
  /** What a worker has asked the GDAL at this path, so that none of its processes asks again. */
  gdal?: KnownGdal;
}

/** What a system's GDAL says of itself, before any file. */
export interface KnownGdal {
  /** "3.6.2". */
  version: string;
  /** Short names of all its drivers. */
  drivers: readonly string[];
  /** TIFF codecs, as in src/geo/raster.ts. */
  codecs: readonly string[];
  /** A Python that has the same GDAL as a library; null: none. */
  python: string | null;
}

export const default_raster_settings: Readonly<RasterSettings> = Object.freeze({
  engine: "auto",
  path: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:/opt/homebrew/bin:/opt/local/bin",
  env: {},
  source_cache: null,
  source_max_bytes: 16 * 2 ** 30,
  catalog: "auto",
});
