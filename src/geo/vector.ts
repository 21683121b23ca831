// What is known of a vector source and of the layer it becomes. Types and the small tables between them; pure.

export const vector_formats = [
  "shapefile",
  "gpkg",
  "geojson",
  "geojsonseq",
  "flatgeobuf",
  "kml",
  "csv",
  "gml",
  "filegdb",
  "geoparquet",
] as const;
export type VectorFormat = (typeof vector_formats)[number];

/** How a source writes a value; a list is one of Postgres's own arrays as text. */
export type FieldKind =
  | "text"
  | "integer"
  | "bigint"
  | "number"
  | "boolean"
  | "date"
  | "datetime"
  | "json"
  | "list"
  | "integer_list"
  | "number_list";

export interface SourceField {
  name: string;
  kind: FieldKind;
}

export interface SourceLayer {
  name: string;
  has_geometry: boolean;
  /** As the source declares it; what a layer is declared as is told from its rows. */
  declared_type: string;
  feature_count: number | null;
  /** "EPSG:4326"; null when the source has none, or one without a code: then `wkt` tells it. */
  crs: string | null;
  wkt: string | null;
  fields: SourceField[];
}

/** As geo.layers keeps it. */
export interface LayerColumn {
  name: string;
  type: "string" | "integer" | "number" | "boolean" | "date" | "datetime" | "json";
  pg_type: string;
  source_name: string;
}

const types: Readonly<Record<FieldKind, Pick<LayerColumn, "type" | "pg_type">>> = {
  text: { type: "string", pg_type: "text" },
  integer: { type: "integer", pg_type: "integer" },
  bigint: { type: "integer", pg_type: "bigint" },
  number: { type: "number", pg_type: "double precision" },
  boolean: { type: "boolean", pg_type: "boolean" },
  date: { type: "date", pg_type: "date" },
  datetime: { type: "datetime", pg_type: "timestamptz" },
  json: { type: "json", pg_type: "jsonb" },
  list: { type: "json", pg_type: "jsonb" },
  integer_list: { type: "json", pg_type: "jsonb" },
  number_list: { type: "json", pg_type: "jsonb" },
};

export function columnType(kind: FieldKind): Pick<LayerColumn, "type" | "pg_type"> {
  return types[kind];
}

const wider: Readonly<Partial<Record<FieldKind, readonly FieldKind[]>>> = {
  integer: ["bigint", "number"],
  bigint: ["number"],
  date: ["datetime"],
};

/** One kind for what two sources call by the same name; text takes everything. */
export function commonKind(a: FieldKind, b: FieldKind): FieldKind {
  if (a === b) return a;
  if (wider[a]?.includes(b)) return b;
  if (wider[b]?.includes(a)) return a;
  return "text";
}
