// vector_to_h3: the features of a layer counted in H3 cells: how many, statistics of their numbers, the most frequent category.
//
//   plan → tally ×parts → gather → load ×ranges → publish → conclude
//
// What goes wrong, and what then happens:
//   a column is not there, or is no number   the job fails at plan, before any work
//   a feature has no place                   it is in no cell
//   a worker dies                            its part is counted again; one that was written is not, and nothing counts twice
//   the source layer is replaced             the version the job began with is read, as long as its table is there (ten minutes)
import { z } from "zod";
import { defineJob } from "../core/declare/declare.js";
import type { FeaturePart, TallyPlan } from "../handlers/h3/facts.js";
import { toldOf } from "../handlers/h3/handlers/plan_vector.js";
import { vector_fields, vector_parameters } from "../handlers/h3/settings.js";
import { cell_stages, foldStages } from "./cell_stages.js";

export const vectorToH3 = defineJob({
  type: "vector_to_h3",
  description: "The features of a layer counted in H3 cells, with statistics of their columns",
  parameters: z.object(vector_fields),
  stages: [
    { name: "plan", task: "h3.plan_vector", description: "Which features are counted in which task" },
    {
      name: "tally",
      task: "h3.tally_vector",
      description: "Features are counted into cells, a part at a time",
      parallelism: "fan_out",
      max_parallel: 16,
      when: "$.parameters.dry_run == false",
      tasks: async function* ({ parameters, previous }) {
        const { parts } = await previous.one<TallyPlan<FeaturePart>>();
        const { resolution, values, category } = parameters;
        for (const load of parts)
          yield {
            index: `part-${load.part}`,
            parameters: { load, resolution, values, ...(category !== undefined && { category }) },
          };
      },
    },
    ...foldStages((parameters) => toldOf(vector_parameters.parse(parameters))),
    ...cell_stages,
  ],
});
