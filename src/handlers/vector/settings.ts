// What may be asked of the vector jobs, field by field: documentation, help and forms are made from these. Data only.
import { z } from "zod";
import { stac_id, zone_object, zone_prefix } from "../raster/settings.js";

/** A collection's id in every service, and a name in SQL comments and file names. */
export const layer_name = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,127}$/, "must begin with a letter or a digit, then a-z, 0-9, _ and -, at most 128");

const crs = z
  .string()
  .regex(/^EPSG:[0-9]{1,6}$/i, "is not a CRS by its EPSG code, such as EPSG:4326")
  .overwrite((text) => text.toUpperCase());

const column = z.string().min(1).max(500);

export const vector_sources = z.union([
  z.strictObject({
    prefix: zone_prefix.describe("zone:prefix, such as bronze:parcels/"),
    pattern: z
      .string()
      .min(1)
      .max(500)
      .default("**")
      .describe("which files below it, by name: * within a folder, ** across folders, ? one character"),
  }),
  z.strictObject({ list: z.array(zone_object).min(1).max(1000) }),
]);

export const source_fields = {
  source: zone_object.optional().describe("the file: zone:key, such as bronze:parcels.gpkg"),
  sources: vector_sources.optional().describe("several files, in place of source: {list: [...]} or {prefix, pattern}"),
  layers: z
    .array(z.string().min(1).max(500))
    .min(1)
    .max(500)
    .optional()
    .describe("layers of the source to load, by name; default: all"),
  source_crs: crs.optional().describe("CRS of a source that has none, or has a wrong one, such as EPSG:25832"),
  encoding: z
    .string()
    .regex(/^[A-Za-z0-9_.:-]{1,40}$/)
    .optional()
    .describe(
      "encoding of text in a Shapefile, CSV or GeoJSON, such as windows-1252; default: UTF-8, or what the file says",
    ),
  x_column: column.optional().describe("column of the longitude in a CSV; default: found by name"),
  y_column: column.optional().describe("column of the latitude in a CSV; default: found by name"),
  wkt_column: column.optional().describe("column of the geometry as WKT in a CSV; default: found by name"),
};

export const layer_fields = {
  layer: layer_name
    .optional()
    .describe("name of the layer; default: from the file. With several source layers it comes before their own names"),
  combine: z.boolean().default(false).describe("all source layers into the one layer that is named"),
  title: z.string().min(1).max(500).optional().describe("title of the layer"),
  description: z.string().min(1).max(10_000).optional().describe("description of the layer"),
  mode: z
    .enum(["create", "replace", "append", "upsert"])
    .default("create")
    .describe(
      "what happens to a layer that is there: create refuses, replace takes its place, append adds, upsert replaces by key",
    ),
  key: z.array(column).min(1).max(10).optional().describe("columns by which upsert knows a feature"),
  columns: z
    .array(column)
    .min(1)
    .max(1500)
    .optional()
    .describe("columns to keep, by their names in the source; default: all"),
  indexes: z.array(column).max(20).default([]).describe("columns that get an index beside the geometry's"),
  time_column: column.optional().describe("column of dates that datetime queries mean"),
  split_by: column.optional().describe("one layer for each value of this column, at most 200"),
  target_crs: z
    .union([z.literal("source"), crs])
    .default("EPSG:4326")
    .describe("CRS of the layer, such as EPSG:3857; source keeps that of the source"),
  without_geometry: z
    .enum(["reject", "keep"])
    .default("reject")
    .describe("features without a geometry: rejected, or kept without a place"),
  max_rejected: z.int().min(0).optional().describe("so many rejected features are tolerated, whatever share they are"),
  max_rejected_percent: z.number().min(0).max(100).default(5).describe("share of rejected features that is tolerated"),
  styles: z.record(z.string(), z.unknown()).optional().describe("styles for maps, by name"),
};

export const catalog_fields = {
  collection: stac_id.default("layers").describe("STAC collection of the layer's item; made when it is not there"),
  license: z
    .string()
    .regex(/^[\w.+-]{1,100}$/, "is not an SPDX identifier, nor other")
    .default("other")
    .describe("licence of the collection, when it is made here"),
  datetime: z.iso.datetime({ offset: true }).optional().describe("when the data is of; default: now"),
  register: z.boolean().default(true).describe("false: no STAC item is made for the layer"),
  release: z
    .record(z.string(), z.unknown())
    .optional()
    .describe("which release of a dataset it is; told by platform requests"),
};

export const vector_fields = {
  ...source_fields,
  ...layer_fields,
  ...catalog_fields,
  dry_run: z
    .boolean()
    .default(false)
    .describe("only look: layers, columns, CRS, counts and findings; nothing is loaded"),
};

export const vector_parameters = z.object(vector_fields);
export type VectorParameters = z.output<typeof vector_parameters>;

/** How a source is to be read: what of it was said. */
export function sourceWishes(given: VectorParameters): Record<string, unknown> {
  const { layers, source_crs, encoding, x_column, y_column, wkt_column } = given;
  const wishes = { layers, source_crs, encoding, x_column, y_column, wkt_column };
  return Object.fromEntries(Object.entries(wishes).filter(([, value]) => value !== undefined));
}

/** What a schema of single fields cannot say; all of it at once. */
export function vectorCrossChecks(
  given: VectorParameters,
  refinement: { addIssue(issue: { code: "custom"; path: string[]; message: string }): void },
): void {
  const refuse = (field: string, message: string) => refinement.addIssue({ code: "custom", path: [field], message });
  if ((given.source === undefined) === (given.sources === undefined)) {
    refuse(
      "source",
      given.source === undefined ? "is missing: give it, or sources" : "is given beside sources: give one",
    );
  }
  if (given.mode === "upsert" && given.key === undefined) refuse("key", "is missing: upsert knows features by it");
  if (given.key !== undefined && given.mode !== "upsert") refuse("key", "means nothing without mode upsert");
  if (given.combine && given.layer === undefined) refuse("layer", "is missing: combine needs its name");
  if ((given.x_column === undefined) !== (given.y_column === undefined)) {
    refuse(given.x_column === undefined ? "x_column" : "y_column", "is missing: a place has two coordinates");
  }
  if (given.wkt_column !== undefined && given.x_column !== undefined)
    refuse("wkt_column", "is given beside x_column: give one");
  if (given.split_by !== undefined && (given.mode === "append" || given.mode === "upsert")) {
    refuse("split_by", `cannot be used with mode ${given.mode}: create or replace`);
  }
}

/** One module for every handler that opens vectors, as it is on disk: .js when built, .ts in a test. */
export const vector_module = import.meta.url.replace(/settings(\.[jt]s)$/, "isolated$1");
export const vector_memory_mb = 1536;
