// process_raster: one raster into cloud-optimised GeoTIFFs in the silver zone, and a STAC item for each.
//
//   validate → plan → cog ×N → register (by hundreds) → publish
//
// What goes wrong, and what then happens:
//   the source cannot be used                  the job fails at validate, with every finding and what to do about it
//   an item of another job has the same id     the job fails at plan, before any work; overwrite=replace allows it
//   a tile holds nothing but nodata            no COG and no item for it; the result says so
//   a tile fails                               up to one in a hundred: partial_success, more: failed; resume repeats those only
//   the catalogue cannot be written            partial_success: the COGs are there and usable; resume registers them
import { z } from "zod";
import { defineJob } from "../core/declare/declare.js";
import type { RasterPlan } from "../handlers/raster/facts.js";
import { cogTasks } from "../handlers/raster/handlers/cog_tasks.js";
import {
  cog_fields,
  collection_fields,
  crossChecks,
  layer_fields,
  overwrite_field,
  register_field,
  source_fields,
  source_ref,
  stac_id,
  tile_fields,
  time_fields,
} from "../handlers/raster/settings.js";
import { any_share, asked_catalog_stages } from "./catalog_stages.js";

export const processRaster = defineJob({
  type: "process_raster",
  description: "One raster into validated COG tiles and STAC items",
  parameters: z
    .object({
      source: source_ref.describe("the raster: zone:key, such as bronze:scenes/dem.tif, or an https URL"),
      ...collection_fields,
      item_id: stac_id
        .optional()
        .describe("id of the item, and first part of the ids of tiles; default: the file's name"),
      ...time_fields,
      ...source_fields,
      ...layer_fields,
      ...cog_fields,
      ...tile_fields,
      ...overwrite_field,
      ...register_field,
    })
    .superRefine(crossChecks),
  stages: [
    { name: "validate", task: "raster.validate", description: "The source is checked" },
    { name: "plan", task: "raster.plan_tiles", description: "The collection is there, and the tiles are planned" },
    {
      name: "cog",
      task: "raster.cog_tile",
      description: "COGs in the silver zone",
      parallelism: "fan_out",
      max_parallel: 100,
      failure_budget: { percent: 1 },
      overrides: any_share,
      tasks: async function* ({ previous }) {
        const { plan } = await previous.one<{ plan: RasterPlan }>();
        yield* cogTasks(plan);
      },
    },
    ...asked_catalog_stages,
  ],
});
