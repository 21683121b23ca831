// What may be asked of the jobs over H3 cells, field by field: documentation, help and forms are made from these. Data only.
import { z } from "zod";
import { statistic_names, statistic_rule } from "../../geo/h3/statistics.js";
import { zone_object } from "../raster/settings.js";
import { catalog_fields, layer_name, vector_sources } from "../vector/settings.js";

export const resolution = z.int().min(0).max(15);

const degrees = (most: number) => z.number().min(-most).max(most);

export const target_fields = {
  layer: layer_name.describe("name of the layer that is made"),
  title: z.string().min(1).max(500).optional().describe("title of the layer"),
  description: z.string().min(1).max(10_000).optional().describe("description of the layer"),
  mode: z
    .enum(["create", "replace"])
    .default("create")
    .describe("what happens to a layer that is there: create refuses, replace takes its place"),
  geometry: z
    .enum(["polygon", "point", "none"])
    .default("polygon")
    .describe("what a cell has as its geometry: its outline, its centre, or nothing"),
  indexes: z
    .array(z.string().min(1).max(63))
    .max(20)
    .default(["h3"])
    .describe("columns that get an index beside the geometry's"),
  ...catalog_fields,
  dry_run: z.boolean().default(false).describe("only plan: how many cells at most, and in how many tasks"),
};

export const max_cells_field = {
  max_cells: z
    .int()
    .min(1)
    .max(200_000_000)
    .default(20_000_000)
    .describe("a job that would make more cells is refused before any work"),
};

export const area_fields = {
  extent: z
    .tuple([degrees(180), degrees(90), degrees(180), degrees(90)])
    .optional()
    .describe("west, south, east, north in degrees; west beyond east goes over the antimeridian"),
  land: z.boolean().default(false).describe("only land: Natural Earth at 1:50 million, which ships with Fanfold"),
  within: z
    .strictObject({
      layer: layer_name,
      where: z.record(z.string().min(1).max(63), z.union([z.string(), z.number(), z.boolean()])).default({}),
    })
    .optional()
    .describe('only within the polygons of a layer, all or those with these values: {layer, where: {iso: "CH"}}'),
  members: z
    .enum(["centre", "overlap"])
    .default("centre")
    .describe("which cells belong to an area: those whose centre lies in it, or all that touch it"),
};

export const grid_fields = {
  resolution: resolution.describe("H3 resolution, 0 to 15"),
  ...area_fields,
  ...target_fields,
  ...max_cells_field,
};
export const grid_parameters = z.object(grid_fields);
export type GridParameters = z.output<typeof grid_parameters>;

export const cascade_fields = {
  from_layer: layer_name.describe("the layer whose cells are taken apart: one with a column h3"),
  to: resolution.describe("finest resolution that is made"),
  from: resolution.optional().describe("coarsest resolution that is made; default: as to"),
  split_by: z
    .literal("resolution")
    .optional()
    .describe("one layer for each resolution, called <layer>_<resolution>, in place of one with all"),
  ...target_fields,
  ...max_cells_field,
};
export const cascade_parameters = z.object(cascade_fields);
export type CascadeParameters = z.output<typeof cascade_parameters>;

/** What a schema of single fields cannot say; all of it at once. */
export function extentCheck(
  { extent }: Pick<GridParameters, "extent">,
  refinement: { addIssue(issue: { code: "custom"; path: string[]; message: string }): void },
): void {
  if (extent !== undefined && extent[1] >= extent[3]) {
    refinement.addIssue({ code: "custom", path: ["extent"], message: "has its south at or above its north" });
  }
  if (extent !== undefined && extent[0] === extent[2]) {
    refinement.addIssue({ code: "custom", path: ["extent"], message: "has no width" });
  }
}

export function cascadeCheck(
  { from, to }: Pick<CascadeParameters, "from" | "to">,
  refinement: { addIssue(issue: { code: "custom"; path: string[]; message: string }): void },
): void {
  if (from !== undefined && from > to) {
    refinement.addIssue({ code: "custom", path: ["from"], message: "is finer than to: give the coarser one here" });
  }
}

export const statistics_field = {
  statistics: z
    .array(z.string().regex(statistic_rule, `is none of ${statistic_names.join(", ")}`))
    .min(1)
    .max(40)
    .refine((names) => new Set(names).size === names.length, "has a name twice")
    .default(["count", "sum", "mean", "min", "max"])
    .describe(`what is told of the values in a cell: ${statistic_names.join(", ")}`),
};

export const raster_fields = {
  source: zone_object.optional().describe("the COG: zone:key, such as silver:dem/scene-1.tif"),
  sources: vector_sources.optional().describe("several COGs, in place of source: {list: [...]} or {prefix, pattern}"),
  source_crs: z
    .string()
    .regex(/^EPSG:[0-9]{1,6}$/i, "is not a CRS by its EPSG code, such as EPSG:4326")
    .overwrite((text) => text.toUpperCase())
    .optional()
    .describe("CRS of a source that does not say it"),
  band: z.int().min(1).max(65535).default(1).describe("which band, from 1"),
  nodata: z.number().optional().describe("a value that is no data, beside what the file says"),
  resolution: resolution.describe("H3 resolution, 0 to 15"),
  ...statistics_field,
  ...target_fields,
  ...max_cells_field,
};
export const raster_parameters = z.object(raster_fields);
export type RasterParameters = z.output<typeof raster_parameters>;

export function rasterCheck(
  { source, sources }: Pick<RasterParameters, "source" | "sources">,
  refinement: { addIssue(issue: { code: "custom"; path: string[]; message: string }): void },
): void {
  if ((source === undefined) !== (sources === undefined)) return;
  const message = source === undefined ? "is missing: give it, or sources" : "is given beside sources: give one";
  refinement.addIssue({ code: "custom", path: ["source"], message });
}

/** One module for the handlers that open rasters, as it is on disk: .js when built, .ts in a test. */
export const h3_module = import.meta.url.replace(/settings(\.[jt]s)$/, "isolated$1");
export const h3_memory_mb = 768;

const column = z.string().min(1).max(63);

export const vector_fields = {
  from_layer: layer_name.describe("the layer whose features are counted"),
  resolution: resolution.describe("H3 resolution, 0 to 15"),
  values: z
    .array(z.strictObject({ column, statistics: statistics_field.statistics }))
    .max(20)
    .default([])
    .describe('columns of numbers and what is told of them: [{column: "people", statistics: ["sum"]}]'),
  category: column
    .optional()
    .describe("column of which the most frequent value and the share of each are told, at most 1024 in a cell"),
  ...target_fields,
  ...max_cells_field,
};
export const vector_parameters = z.object(vector_fields);
export type VectorParameters = z.output<typeof vector_parameters>;
