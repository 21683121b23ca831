// Which format a file has: by its first bytes, and by its name where text can be several things. Pure but for the read it is given.
import type { VectorFormat } from "../../../geo/vector.js";

export type FileKind = VectorFormat | "zip";

const text_bytes = 64 * 1024;

/** null: nothing that is known. `start` holds the first bytes, at most 64 KB of them. */
export function fileKind(name: string, start: Uint8Array): FileKind | null {
  const bytes = Buffer.from(start.buffer, start.byteOffset, Math.min(start.byteLength, text_bytes));
  const has = (text: string, at = 0) => bytes.subarray(at, at + text.length).toString("latin1") === text;
  if (has("PK\x03\x04") || has("PK\x05\x06")) return "zip";
  if (has("SQLite format 3\0")) return "gpkg";
  if (has("fgb")) return "flatgeobuf";
  if (has("PAR1")) return "geoparquet";
  const extension = /\.([A-Za-z0-9]+)$/.exec(name)?.[1]?.toLowerCase() ?? "";
  const text = bytes
    .toString("utf8")
    .replace(/^\uFEFF/, "")
    .trimStart();
  if (text.startsWith("\x1e")) return "geojsonseq";
  if (text.startsWith("{")) return isSequence(extension, text) ? "geojsonseq" : "geojson";
  if (text.startsWith("<")) return xmlKind(text);
  return ["csv", "tsv", "txt"].includes(extension) && text !== "" ? "csv" : null;
}

/** One feature a line, however the file is called. */
function isSequence(extension: string, text: string): boolean {
  if (["geojsonl", "geojsons", "geojsonseq", "ndjson", "ndgeojson", "jsonl"].includes(extension)) return true;
  const end = text.indexOf("\n");
  if (end === -1) return false;
  try {
    const first = JSON.parse(text.slice(0, end)) as { type?: unknown };
    return first.type === "Feature" && text.slice(end).trimStart().startsWith("{");
  } catch {
    return false;
  }
}

function xmlKind(text: string): FileKind | null {
  if (/<(\w+:)?kml[\s>]/i.test(text)) return "kml";
  return /xmlns(:\w+)?\s*=\s*["']http:\/\/www\.opengis\.net\/gml/i.test(text) ? "gml" : null;
}

export const drivers: Readonly<Record<Exclude<VectorFormat, "geoparquet">, string>> = {
  shapefile: "ESRI Shapefile",
  gpkg: "GPKG",
  geojson: "GeoJSON",
  geojsonseq: "GeoJSONSeq",
  flatgeobuf: "FlatGeobuf",
  kml: "KML",
  csv: "CSV",
  gml: "GML",
  filegdb: "OpenFileGDB",
};

/** GDAL looks at the end of a name. */
export const file_names: Readonly<Record<VectorFormat, string>> = {
  shapefile: "source.shp",
  gpkg: "source.gpkg",
  geojson: "source.geojson",
  geojsonseq: "source.geojsonl",
  flatgeobuf: "source.fgb",
  kml: "source.kml",
  csv: "source.csv",
  gml: "source.gml",
  filegdb: "source.gdb",
  geoparquet: "source.parquet",
};

/** What has no CRS of its own because its format has one, or because nobody writes it down. */
export const default_crs: Readonly<Partial<Record<VectorFormat, string>>> = {
  geojson: "EPSG:4326",
  geojsonseq: "EPSG:4326",
  kml: "EPSG:4326",
  csv: "EPSG:4326",
};

/** Formats in which a row is found without reading those before it. */
export const has_random_access: ReadonlySet<VectorFormat> = new Set(["shapefile", "gpkg", "filegdb", "geoparquet"]);
