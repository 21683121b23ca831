// unpublish_raster: takes items out of the catalogue, with their files and their records. A dry run unless told otherwise.
//
//   select → remove (by hundreds) → conclude
//
// An item, its files and their records go in one transaction, or stay. Running it again finds nothing left and says so.
// What goes wrong, and what then happens:
//   there is no such collection or item        nothing is removed for it, and the result says so
//   a hundred cannot be removed                partial_success, and resume removes the rest
import { z } from "zod";
import { defineJob } from "../core/declare/declare.js";
import { stac_id } from "../handlers/raster/settings.js";
import type { Selection } from "../handlers/stac/select_items.js";
import { any_share } from "./catalog_stages.js";

export const unpublishRaster = defineJob({
  type: "unpublish_raster",
  description: "Items out of the catalogue, with their files: the reverse of the raster jobs",
  parameters: z
    .object({
      collection: stac_id.optional().describe("the collection; with nothing else, all of its items"),
      item_ids: z.array(stac_id).min(1).max(5000).optional().describe("these items of the collection only"),
      job_id: z
        .string()
        .regex(/^[0-9a-f]{64}$/, "is not a whole job id: 64 characters of 0-9 and a-f")
        .optional()
        .describe("the items that this job made"),
      job_ids: z
        .array(z.string().regex(/^[0-9a-f]{64}$/, "is not a whole job id: 64 characters of 0-9 and a-f"))
        .min(1)
        .max(1000)
        .optional()
        .describe(
          "the items that any of these jobs made; without a collection also every file that only they have made or recorded",
        ),
      dry_run: z.boolean().default(true).describe("only say what would be removed"),
      delete_files: z
        .boolean()
        .default(false)
        .describe(
          "also delete files that were there before the items, or that another job has made; an item's own files always go with it, but a file that another item has too stays",
        ),
      delete_collection: z.boolean().default(false).describe("also remove the collection, once nothing is left in it"),
      reason: z.string().max(1000).optional().describe("why, for the record"),
    })
    .superRefine(({ collection, item_ids, job_id, job_ids }, refinement) => {
      const refuse = (path: string, message: string) => refinement.addIssue({ code: "custom", path: [path], message });
      if (collection === undefined && job_id === undefined && job_ids === undefined)
        refuse("collection", "is missing: give it, or job_id, or job_ids");
      if (item_ids !== undefined && collection === undefined)
        refuse("item_ids", "are ids within a collection: give it too");
    }),
  stages: [
    { name: "select", task: "stac.select_items", description: "What would go is known" },
    {
      name: "remove",
      task: "stac.remove_items",
      description: "Items, files and records are gone",
      parallelism: "fan_out",
      when: "$.parameters.dry_run == false",
      failure_budget: { percent: 50 },
      overrides: any_share,
      tasks: async function* ({ parameters, previous }) {
        const { batches } = await previous.one<Selection>();
        const { delete_files, job_ids: made_by = [] } = parameters;
        for (const { collection, item_ids, files = [] } of batches) {
          const index = `${collection}/${item_ids[0] ?? files[0]}`;
          yield { index, parameters: { collection, item_ids, files, made_by, delete_files } };
        }
      },
    },
    {
      name: "conclude",
      task: "stac.conclude_removal",
      description: "Says what was removed, or would be; brings the collection up to date",
      parallelism: "fan_in",
      after: ["select", "remove"],
      of: "remove",
    },
  ],
});
