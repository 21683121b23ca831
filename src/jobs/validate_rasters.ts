// validate_rasters: many rasters checked, and nothing made of them.
//
//   inventory → validate ×N
//
// A broken one is a failed task; the job is a partial success while not more than half of them are broken.
import { z } from "zod";
import { defineJob } from "../core/declare/declare.js";
import type { Inventory } from "../handlers/raster/handlers/inventory.js";
import {
  cog_fields,
  crossChecks,
  raster_sources,
  source_fields,
  tile_fields,
  time_fields,
} from "../handlers/raster/settings.js";
import { any_share } from "./catalog_stages.js";

export const validateRasters = defineJob({
  type: "validate_rasters",
  description: "Many rasters checked: what they are, and whether COGs can be made of them",
  parameters: z
    .object({
      sources: raster_sources.describe(
        "where the rasters are: { prefix, pattern } in a zone, { list } of zone:key and https URLs, or { collection, asset } of items in the catalogue",
      ),
      ...time_fields,
      ...source_fields,
      ...cog_fields,
      ...tile_fields,
    })
    .superRefine(crossChecks),
  stages: [
    { name: "inventory", task: "raster.inventory", description: "The sources are known" },
    {
      name: "validate",
      task: "raster.validate",
      description: "Each source is checked",
      parallelism: "fan_out",
      failure_budget: { percent: 50 },
      overrides: any_share,
      tasks: async function* ({ parameters, previous }) {
        const { sources } = await previous.one<Inventory>();
        const { sources: _, ...settings } = parameters;
        for (const source of sources) yield { index: source.item_id, parameters: { ...settings, ...source } };
      },
    },
  ],
});
