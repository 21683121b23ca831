// unpublish_export: takes exports out of the catalogue, with their files and their records. A dry run unless told otherwise.
//
//   select → remove (by hundreds) → conclude
//
// An item, its files and their records go in one transaction, or stay. What the export was made of is left alone.
import { z } from "zod";
import { defineJob } from "../core/declare/declare.js";
import { export_folder, export_name } from "../handlers/export/settings.js";
import { stac_id } from "../handlers/raster/settings.js";
import type { Selection } from "../handlers/stac/select_items.js";

export const unpublishExport = defineJob({
  type: "unpublish_export",
  description: "Exports out of the catalogue, with their files: the reverse of the export jobs",
  parameters: z
    .object({
      exports: z.array(export_name).min(1).max(1000).optional().describe("these exports, by name"),
      job_id: z
        .string()
        .regex(/^[0-9a-f]{64}$/, "is not a whole job id: 64 characters of 0-9 and a-f")
        .optional()
        .describe("the export that this job made"),
      collection: stac_id.default("exports").describe("the STAC collection of their items"),
      dry_run: z.boolean().default(true).describe("only say what would be removed"),
      reason: z.string().max(1000).optional().describe("why, for the record"),
    })
    .superRefine(({ exports, job_id }, refinement) => {
      if (exports !== undefined || job_id !== undefined) return;
      refinement.addIssue({ code: "custom", path: ["exports"], message: "is missing: give it, or job_id" });
    }),
  stages: [
    {
      name: "select",
      task: "stac.select_items",
      description: "What would go is known",
      tasks: function* ({ parameters: { exports, job_id, collection, dry_run } }) {
        const named = {
          ...(exports === undefined ? {} : { item_ids: exports }),
          ...(job_id === undefined ? {} : { job_id }),
        };
        yield {
          index: "select",
          parameters: { collection, ...named, dry_run, delete_files: false, unnamed_below: `gold:${export_folder}` },
        };
      },
    },
    {
      name: "remove",
      task: "stac.remove_items",
      description: "Items, files and records are gone",
      parallelism: "fan_out",
      when: "$.parameters.dry_run == false",
      tasks: async function* ({ previous }) {
        const { batches } = await previous.one<Selection>();
        for (const { collection, item_ids, files = [] } of batches) {
          const index = `${collection}/${item_ids[0] ?? files[0]}`;
          yield { index, parameters: { collection, item_ids, files, delete_files: false } };
        }
      },
    },
    {
      name: "conclude",
      task: "stac.conclude_removal",
      description: "Says what was removed, or would be; brings the collection up to date",
      after: ["select", "remove"],
      tasks: function* ({ parameters: { collection } }) {
        yield { index: "conclude", parameters: { collection, delete_collection: false } };
      },
    },
  ],
});
