// export_collection: the COGs of a collection put together, as one COG or a grid of them, in zone gold: a mosaic without resampling.
//
//   plan → mosaic ×parts → register (by hundreds) → publish
//
// What goes wrong, and what then happens:
//   the rasters lie on different grids        the job fails at plan and names every difference
//   an item of that name is there            overwrite=refuse: the job fails at plan, before any work
//   a part cannot be made                    the job fails, nothing of it is in the catalogue; resume makes what is missing
//   a worker dies                            its part is made again
import { z } from "zod";
import { defineJob } from "../core/declare/declare.js";
import type { PlannedMosaic } from "../handlers/export/handlers/plan_mosaic.js";
import { mosaic_fields } from "../handlers/export/settings.js";
import { catalog_stages } from "./catalog_stages.js";

export const exportCollection = defineJob({
  type: "export_collection",
  description: "The COGs of a collection into one COG, or a grid of N × N, in zone gold",
  parameters: z.object(mosaic_fields),
  stages: [
    { name: "plan", task: "export.plan_mosaic", description: "What lies where is known" },
    {
      name: "mosaic",
      task: "export.mosaic",
      description: "COGs in the gold zone",
      parallelism: "fan_out",
      max_parallel: 100,
      tasks: async function* ({ parameters, previous }) {
        const { tasks, datetimes } = await previous.one<PlannedMosaic>();
        const { collection, source, name = source, purpose, compression, block_size } = parameters;
        const settings = {
          collection,
          name,
          purpose,
          block_size,
          ...(compression === undefined ? {} : { compression }),
        };
        for (const task of tasks) yield { index: task.item_id, parameters: { ...settings, ...task, datetimes } };
      },
    },
    ...catalog_stages,
  ],
});
