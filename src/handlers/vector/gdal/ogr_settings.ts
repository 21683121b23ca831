// What GDAL may do with vectors: as with rasters, but that a Shapefile is several files beside each other, and that rows leave as COPY.
import { gdal_settings } from "../../raster/gdal/gdal_environment.js";

export const vector_drivers: ReadonlySet<string> = new Set([
  "ESRI Shapefile",
  "GPKG",
  "GeoJSON",
  "GeoJSONSeq",
  "FlatGeobuf",
  "KML",
  "CSV",
  "GML",
  "OpenFileGDB",
  "PGDUMP",
  "Memory",
  "PMTiles",
  "MBTiles",
  "MVT",
  "SQLite",
]);

/** One that is written through others needs these, too. */
export function writingDrivers(driver: string): string[] {
  return driver === "PMTiles" ? ["PMTiles", "MBTiles", "MVT", "GPKG", "SQLite"] : [driver];
}

export const ogr_settings: Readonly<Record<string, string>> = Object.freeze({
  ...gdal_settings,
  // The folder is ours and holds what was unpacked, nothing else.
  GDAL_DISABLE_READDIR_ON_OPEN: "FALSE",
  PG_USE_COPY: "YES",
  // One feature, not a file: a file that is one feature of a gigabyte is refused, not held.
  OGR_GEOJSON_MAX_OBJ_SIZE: "200",
  OGR_CSV_MAX_LINE_SIZE: "500000000",
  // No schema is fetched from where a document says.
  GML_DOWNLOAD_SCHEMA: "NO",
  GML_SKIP_RESOLVE_ELEMS: "ALL",
  OGR_CT_FORCE_TRADITIONAL_GIS_ORDER: "YES",
  OGR_ENABLE_PARTIAL_REPROJECTION: "NO",
});

/** GDAL 3.6 complains of these and goes on as it should. */
export const is_harmless_vector = /Non closed ring detected|Unable to open .*\.shx? or/;
