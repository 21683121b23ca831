// register_rasters: STAC items for COGs that are there already. The files stay where they are, and are never swept.
//
//   inventory → prepare → inspect ×N → register (by hundreds) → publish
//
// What goes wrong, and what then happens:
//   a file is no COG                           check=refuse: its task fails; warn: it is registered, and its item says so
//   a file is broken                           its task fails, up to half of them: partial_success; resume repeats those only
//   the catalogue cannot be written            partial_success; resume registers them
import { z } from "zod";
import { defineJob } from "../core/declare/declare.js";
import type { Inventory } from "../handlers/raster/handlers/inventory.js";
import {
  collection_fields,
  crossChecks,
  overwrite_field,
  raster_type_field,
  registered_sources,
  time_fields,
} from "../handlers/raster/settings.js";
import { any_share, catalog_stages } from "./catalog_stages.js";

export const registerRasters = defineJob({
  type: "register_rasters",
  description: "STAC items for COGs that are there already",
  parameters: z
    .object({
      sources: registered_sources.describe(
        "which files: { prefix, pattern } in a zone, { list } of zone:key, or { job_id } of a job that made COGs",
      ),
      ...collection_fields,
      check: z
        .enum(["refuse", "warn"])
        .default("refuse")
        .describe("what is done about a file that is no cloud-optimised GeoTIFF"),
      ...time_fields,
      ...raster_type_field,
      ...overwrite_field,
    })
    .superRefine(crossChecks),
  stages: [
    { name: "inventory", task: "raster.inventory", description: "The files are known" },
    { name: "prepare", task: "stac.prepare", description: "The collection is there" },
    {
      name: "inspect",
      task: "raster.inspect",
      description: "Each file is read",
      parallelism: "fan_out",
      failure_budget: { percent: 50 },
      overrides: any_share,
      tasks: async function* ({ parameters, previous }) {
        const { sources } = await previous.one<Inventory>();
        const { sources: _, ...settings } = parameters;
        for (const source of sources) yield { index: source.item_id, parameters: { ...settings, ...source } };
      },
    },
    ...catalog_stages,
  ],
});
