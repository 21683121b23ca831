// The end of every job that makes a layer of cells: vector.publish and vector.conclude, as a vector's layer has them.
import type { StageDeclaration } from "../core/declare/declare.js";
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
