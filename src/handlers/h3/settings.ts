// What may be asked of the jobs over H3 cells, field by field: documentation, help and forms are made from these. Data only.
import { z } from "zod";
import { catalog_fields, layer_name } from "../vector/settings.js";

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
