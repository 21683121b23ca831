// One source in every format that GDAL reads, made with the system's.
import { converted, towns, zipOf } from "./vector_files.js";

export const formats: Record<string, { file: string; make: () => Promise<Uint8Array | string> }> = {
  geojson: { file: "towns.geojson", make: async () => towns() },
  geojsonseq: { file: "towns.geojsonl", make: () => converted(towns(), "geojsonseq") },
  shapefile: { file: "towns.zip", make: () => converted(towns(), "shapefile", ["-lco", "ENCODING=UTF-8"]) },
  gpkg: { file: "towns.gpkg", make: () => converted(towns(), "gpkg", ["-t_srs", "EPSG:25832"]) },
  flatgeobuf: { file: "towns.fgb", make: () => converted(towns(), "flatgeobuf") },
  kml: { file: "towns.kml", make: () => converted(towns(), "kml") },
  kmz: { file: "towns.kmz", make: async () => zipOf({ "doc.kml": await converted(towns(), "kml") }) },
  gml: { file: "towns.gml", make: () => converted(towns(), "gml") },
  filegdb: { file: "towns_gdb.zip", make: () => converted(towns(), "filegdb") },
  csv: { file: "towns.csv", make: () => converted(towns(), "csv", ["-lco", "GEOMETRY=AS_WKT"]) },
};
