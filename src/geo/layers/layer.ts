// A vector layer as the catalogue of layers tells it, and what a filter on its features may name. Pure.
import { quoted, suggestion } from "../../core/errors/problems.js";
import type { FilterNames, Type } from "../cql2/filter.js";

export type ColumnType = "string" | "integer" | "number" | "boolean" | "date" | "datetime" | "json";

export interface LayerColumn {
  name: string;
  type: ColumnType;
  pg_type: string;
  source_name?: string;
  title?: string;
}

export interface Layer {
  name: string;
  title: string | null;
  description: string | null;
  version: number;
  feature_count: number;
  /** West, south, east, north in degrees; null where no feature has a place. */
  extent: [number, number, number, number] | null;
  columns: LayerColumn[];
  key_column: string;
  geometry_column: string | null;
  geometry_type: string | null;
  srid: number | null;
  /** Does its reference system name north first? Null where it is none of EPSG's. */
  flips: boolean | null;
  time_column: string | null;
  updated_at: string;
}

/** How CQL2 compares a column; null: only the values tell. */
const types: Record<ColumnType, Type | null> = {
  string: "text",
  integer: "number",
  number: "number",
  boolean: "boolean",
  date: "time",
  datetime: "time",
  json: null,
};

/** What a name of the caller's stands for: a column, the key, or the geometry. */
export function columnOf(layer: Layer, name: string): LayerColumn | "geometry" | null {
  const found = layer.columns.find((column) => column.name === name);
  if (found !== undefined) return found;
  if (name === layer.key_column || name === "id")
    return { name: layer.key_column, type: "integer", pg_type: "bigint", title: "The feature's id" };
  return layer.geometry_column !== null && (name === "geometry" || name === layer.geometry_column) ? "geometry" : null;
}

/** What filters, sorting and choices of properties may name. */
export function namesOf(layer: Layer): string[] {
  return layer.columns.map(({ name }) => name);
}

/** `degrees`: the filter's geometries are in longitude and latitude. */
export function filterNames(layer: Layer, degrees: boolean): FilterNames {
  return {
    field(name) {
      const column = columnOf(layer, name);
      if (column === "geometry") return column;
      if (column === null)
        return { problem: `there is no property ${quoted(name)}`, fix: suggestion(name, namesOf(layer)) };
      return { node: { column: column.name }, type: types[column.type] };
    },
    span: () => null,
    degrees,
  };
}
