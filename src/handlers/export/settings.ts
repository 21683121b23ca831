// What may be asked of the exports, field by field: documentation, help and forms are made from these. Data only.
import { z } from "zod";
import { cog_fields, stac_id } from "../raster/settings.js";
import { layer_name } from "../vector/settings.js";

export const vector_export_formats = ["geoparquet", "flatgeobuf", "geopackage", "pmtiles", "csv"] as const;
export type VectorExportFormat = (typeof vector_export_formats)[number];

export const export_fields = {
  collection: stac_id.default("exports").describe("STAC collection of the export's item; made when it is not there"),
  license: z
    .string()
    .regex(/^[\w.+-]{1,100}$/, "is not an SPDX identifier, nor other")
    .default("other")
    .describe("licence of the collection, when it is made here"),
  title: z.string().min(1).max(500).optional().describe("title of the export; default: that of what is exported"),
  description: z.string().min(1).max(10_000).optional().describe("description of the export"),
  overwrite: z
    .enum(["refuse", "replace"])
    .default("refuse")
    .describe("when an export of that name is there: refuse to run, or take its place, as a schedule wants it"),
};

export const export_name = layer_name;

/** In zone gold: each export has a folder of its name in it. */
export const export_folder = "exports/";

export const vector_export_fields = {
  layer: layer_name.describe("the layer to export, by name"),
  formats: z
    .array(z.enum(vector_export_formats))
    .min(1)
    .max(vector_export_formats.length)
    .default(["geoparquet"])
    .describe("what to write"),
  columns: z
    .array(z.string().min(1).max(63))
    .min(1)
    .max(1500)
    .optional()
    .describe("columns to write beside key and geometry; default: all"),
  name: export_name.optional().describe("name of the export: its item and its folder; default: the layer's"),
  ...export_fields,
  compression: z
    .enum(["gzip", "snappy", "zstd"])
    .default("gzip")
    .describe("of GeoParquet: gzip is small, snappy fast to read, zstd both where Node is 22.15 or later"),
  row_group_rows: z
    .int()
    .min(1000)
    .max(1_000_000)
    .default(100_000)
    .describe("of GeoParquet: rows that a reader takes or leaves at a time"),
  min_zoom: z.int().min(0).max(22).default(0).describe("of PMTiles: the first zoom level"),
  max_zoom: z
    .int()
    .min(0)
    .max(22)
    .optional()
    .describe("of PMTiles: the last zoom level; default: what tippecanoe finds best, or 6 without it"),
};

export const vector_export_parameters = z.object(vector_export_fields);
export type VectorExportParameters = z.output<typeof vector_export_parameters>;

/** What a schema of single fields cannot say; all of it at once. */
export function vectorExportChecks(
  { formats, min_zoom, max_zoom, columns }: VectorExportParameters,
  refinement: { addIssue(issue: { code: "custom"; path: string[]; message: string }): void },
): void {
  const refuse = (field: string, message: string) => refinement.addIssue({ code: "custom", path: [field], message });
  if (new Set(formats).size < formats.length) refuse("formats", "names a format twice");
  if (columns !== undefined && new Set(columns).size < columns.length) refuse("columns", "names a column twice");
  if (max_zoom !== undefined && max_zoom < min_zoom) refuse("max_zoom", `is less than min_zoom, which is ${min_zoom}`);
}

export const stac_export_fields = {
  source: stac_id.describe("the collection to export"),
  formats: z
    .array(z.enum(["static", "geoparquet"]))
    .min(1)
    .max(2)
    .default(["static", "geoparquet"])
    .describe(
      "static: a folder of catalog.json, collection.json and a file for each item; geoparquet: stac-geoparquet",
    ),
  copy_assets: z
    .boolean()
    .default(false)
    .describe("of static: copy the items' files into the folder too, so that it needs nothing else"),
  name: export_name.optional().describe("name of the export: its item and its folder; default: the collection's"),
  ...export_fields,
};

export const mosaic_fields = {
  source: stac_id.describe("the collection whose COGs are put together"),
  asset: z.string().min(1).max(200).default("data").describe("which of an item's assets"),
  grid: z.int().min(1).max(64).default(1).describe("1: one COG; N: a grid of N × N, where there is something"),
  name: export_name
    .optional()
    .describe("name of the export: its item, or the beginning of theirs; default: the collection's"),
  collection: export_fields.collection,
  license: export_fields.license,
  overwrite: export_fields.overwrite,
  purpose: cog_fields.purpose,
  compression: cog_fields.compression,
  block_size: cog_fields.block_size,
};

/** One module for every handler that writes files, as it is on disk: .js when built, .ts in a test. */
export const export_module = import.meta.url.replace(/settings(\.[jt]s)$/, "isolated$1");
export const export_memory_mb = 1536;
