// process_raster_collection: many rasters into one STAC collection.
//
//   inventory → validate ×N → check → cog ×M → register (by hundreds) → publish
//
// What goes wrong, and what then happens:
//   there is no source                         the job fails at inventory
//   a source is broken                         it costs itself only: the job is a partial_success and names it; resume, once it is
//                                              mended, makes its COGs and adds its items, and repeats nothing else
//   more sources are broken than may be        the job fails at check, before any COG is made
//   the sources are not alike                  homogeneity=strict: the job fails at check and names every difference; warn: it goes on
//   the catalogue cannot be written            partial_success: the COGs are there and usable; resume registers them
import { z } from "zod";
import { defineJob, type StageDeclaration } from "../core/declare/declare.js";
import type { RasterPlan } from "../handlers/raster/facts.js";
import { cogTasks } from "../handlers/raster/handlers/cog_tasks.js";
import type { Inventory } from "../handlers/raster/handlers/inventory.js";
import {
  cog_fields,
  collection_fields,
  crossChecks,
  overwrite_field,
  raster_sources,
  register_field,
  source_fields,
  tile_fields,
  time_fields,
} from "../handlers/raster/settings.js";
import { any_share, asked_catalog_stages } from "./catalog_stages.js";

/** From what validate has said of each source to the collection. */
export const checked_stages: readonly StageDeclaration[] = [
  {
    name: "check",
    task: "raster.check_alike",
    description: "The sources go together, and the collection is there",
    parallelism: "fan_in",
  },
  {
    name: "cog",
    task: "raster.cog_tile",
    description: "COGs in the silver zone",
    parallelism: "fan_out",
    max_parallel: 100,
    failure_budget: { percent: 50 },
    overrides: any_share,
    tasks: async function* ({ previous }) {
      const { plans } = await previous.one<{ plans: RasterPlan[] }>();
      for (const plan of plans) yield* cogTasks(plan);
    },
  },
  ...asked_catalog_stages,
];

/** What a collection of rasters is asked for, beside where they are. */
export const collection_parameters = {
  ...collection_fields,
  homogeneity: z
    .enum(["strict", "warn"])
    .default("strict")
    .describe("when bands, data types, CRS, pixel sizes or raster types differ: refuse, or warn and go on"),
  max_broken_percent: z
    .number()
    .min(0)
    .max(100)
    .default(50)
    .describe("share of the sources that may be broken; with more of them the job fails before any COG is made"),
  ...time_fields,
  ...source_fields,
  ...cog_fields,
  ...tile_fields,
  ...overwrite_field,
  ...register_field,
};

export const processRasterCollection = defineJob({
  type: "process_raster_collection",
  description: "Many rasters into validated COGs and one STAC collection",
  parameters: z
    .object({
      sources: raster_sources.describe(
        "where the rasters are: { prefix, pattern } in a zone, { list } of zone:key and https URLs, or { collection, asset } of items in the catalogue",
      ),
      ...collection_parameters,
    })
    .superRefine(crossChecks),
  stages: [
    { name: "inventory", task: "raster.inventory", description: "The sources are known" },
    {
      name: "validate",
      task: "raster.validate",
      description: "Each source is checked",
      parallelism: "fan_out",
      // How many may be broken is the caller's to say: the next stage counts them.
      failure_budget: { percent: 100 },
      tasks: async function* ({ parameters, previous }) {
        const { sources } = await previous.one<Inventory>();
        const { sources: _, ...settings } = parameters;
        for (const source of sources) yield { index: source.item_id, parameters: { ...settings, ...source } };
      },
    },
    ...checked_stages,
  ],
});
