// cascade_h3: the cells of a layer taken apart into those of finer resolutions, as a layer or one for each resolution.
//
//   plan → load ×parts → publish → conclude
//
// What goes wrong, and what then happens:
//   there would be more than max_cells       the job fails at plan, before any work
//   a cell cannot be read                    its part fails, and the layer stays as it was
//   a worker dies                            its part is computed again; one that was written is not, and nothing is there twice
//   the source layer is replaced             the version the job began with is read, as long as its table is there (ten minutes)
import { z } from "zod";
import { defineJob } from "../core/declare/declare.js";
import type { CascadePart, CellPlan } from "../handlers/h3/facts.js";
import { cascade_fields, cascadeCheck } from "../handlers/h3/settings.js";
import { cell_stages } from "./cell_stages.js";

export const cascadeH3 = defineJob({
  type: "cascade_h3",
  description: "The cells of a layer into those of finer H3 resolutions",
  parameters: z.object(cascade_fields).superRefine(cascadeCheck),
  stages: [
    { name: "plan", task: "h3.plan_cascade", description: "Which cells are taken apart in which task" },
    {
      name: "load",
      task: "h3.fill_cascade",
      description: "Descendants are computed and copied, a part at a time",
      parallelism: "fan_out",
      max_parallel: 16,
      when: "$.parameters.dry_run == false",
      tasks: async function* ({ parameters, previous }) {
        const { parts } = await previous.one<CellPlan<CascadePart>>();
        const { to, from, geometry } = parameters;
        for (const load of parts)
          yield { index: `part-${load.part}`, parameters: { load, to, geometry, ...(from !== undefined && { from }) } };
      },
    },
    ...cell_stages,
  ],
});
