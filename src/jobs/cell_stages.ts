// The end of every job that makes a layer of cells: vector.publish and vector.conclude, as a vector's layer has them. And before it, what
// puts tallies of the tasks together.
import type { StageDeclaration } from "../core/declare/declare.js";
import type { FoldPart, Told } from "../handlers/h3/facts.js";
import type { LoadPlan } from "../handlers/vector/facts.js";
import { vector_parameters } from "../handlers/vector/settings.js";

export const cell_stages: readonly StageDeclaration[] = [
  {
    name: "publish",
    task: "vector.publish",
    description: "Indexes, then the layer, its version and its STAC item at once",
    parallelism: "fan_out",
    after: ["plan", "load"],
    of: "plan",
    when: "$.parameters.dry_run == false",
    tasks: async function* ({ parameters, previous }) {
      const { targets } = await previous("plan").one<LoadPlan>();
      const settings = vector_parameters.parse(parameters);
      for (const target of targets) yield { index: target.layer, parameters: { target, settings } };
    },
  },
  {
    name: "conclude",
    task: "vector.conclude",
    description: "Says what is served now, or would be",
    after: ["plan", "publish"],
  },
];

/** `told`: what was tallied, and the statistics that are wanted of it. */
export function foldStages(told: (parameters: Record<string, unknown>) => Told[]): readonly StageDeclaration[] {
  const when = "$.parameters.dry_run == false";
  return [
    {
      name: "gather",
      task: "h3.plan_fold",
      description: "All tallies are there; which cells are put together in which task",
      after: ["plan", "tally"],
      when,
    },
    {
      name: "load",
      task: "h3.fold_cells",
      description: "Tallies of a cell become its statistics, exactly, and are copied with its outline",
      parallelism: "fan_out",
      max_parallel: 16,
      after: ["gather"],
      when,
      tasks: async function* ({ parameters, previous }) {
        const { parts } = await previous.one<{ parts: FoldPart[] }>();
        const { geometry } = parameters;
        for (const load of parts)
          yield { index: `part-${load.part}`, parameters: { load, geometry, told: told(parameters) } };
      },
    },
  ];
}
