// The STAC item of a layer: where it lies, what columns it has (table extension), and where it is served. Pure.
import { type StacItem, stac_version } from "../../geo/stac.js";
import type { LayerColumn } from "../../geo/vector.js";
import type { Target } from "./facts.js";

export interface LayerItem {
  id: string;
  collection: string;
  target: Target;
  description: string | undefined;
  extent: number[] | null;
  /** Null: it is not known for long. */
  feature_count: number | null;
  datetime: string;
  job_id: string | null;
}

export const table_extension = "https://stac-extensions.github.io/table/v1.2.0/schema.json";
const extensions = {
  table: table_extension,
  projection: "https://stac-extensions.github.io/projection/v2.0.0/schema.json",
};

export function layerItem(given: LayerItem): StacItem {
  const { target, extent } = given;
  const path = `/ogc/collections/${encodeURIComponent(given.id)}`;
  const { geometry, bbox } = boxOf(extent);
  return {
    type: "Feature",
    stac_version,
    stac_extensions: target.srid === null ? [extensions.table] : [extensions.table, extensions.projection],
    id: given.id,
    collection: given.collection,
    geometry,
    ...(bbox === null ? {} : { bbox }),
    properties: {
      datetime: given.datetime,
      title: target.title ?? given.id,
      ...(given.description === undefined ? {} : { description: given.description }),
      ...(given.feature_count === null ? {} : { "table:row_count": given.feature_count }),
      ...tableFields(target.columns, target.has_geometry ? "geom" : null),
      ...(target.srid === null ? {} : { "proj:code": `EPSG:${target.srid}` }),
      "fanfold:layer": given.id,
      ...(given.job_id === null ? {} : { "fanfold:job_id": given.job_id }),
      "fanfold:sources": target.sources.slice(0, 20).map(({ source, layer }) => `${source}#${layer}`),
    },
    links: [],
    assets: {
      features: { href: `${path}/items`, type: "application/geo+json", roles: ["data"], title: "Features" },
      collection: { href: path, type: "application/json", roles: ["metadata"], title: "OGC API collection" },
    },
  };
}

/** The fields of the table extension; `geometry`: the name of its column. */
export function tableFields(columns: readonly LayerColumn[], geometry: string | null): Record<string, unknown> {
  return {
    "table:columns": [
      { name: "fid", type: "int64", description: "key of the feature" },
      ...(geometry === null ? [] : [{ name: geometry, type: "byte_array", description: "geometry" }]),
      ...columns.map(tableColumn),
    ],
    ...(geometry === null ? {} : { "table:primary_geometry": geometry }),
  };
}

/** What an item says of where a layer is; null where none of it has a place. */
export function boxOf(extent: number[] | null): { geometry: StacItem["geometry"]; bbox: number[] | null } {
  if (extent === null) return { geometry: null, bbox: null };
  const bbox = flat(extent);
  return { geometry: { type: "Polygon", coordinates: [ring(bbox)] }, bbox };
}

/** A box without an area is none to a polygon: a point gets a little of it. */
function flat([west = 0, south = 0, east = 0, north = 0]: number[]): number[] {
  const least = 1e-7;
  return [west, south, east > west ? east : west + least, north > south ? north : south + least];
}

function ring([west, south, east, north]: number[]): (number | undefined)[][] {
  return [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
}

const parquet_types: Readonly<Record<LayerColumn["type"], string>> = {
  string: "string",
  integer: "int64",
  number: "double",
  boolean: "boolean",
  date: "date",
  datetime: "timestamp",
  json: "json",
};

function tableColumn({ name, type, source_name }: LayerColumn): Record<string, string> {
  return { name, type: parquet_types[type], ...(source_name === name ? {} : { description: source_name }) };
}
