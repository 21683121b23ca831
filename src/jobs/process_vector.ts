// process_vector: vector files into layers of schema geo, served as soon as they are published, with a STAC item for each.
//
//   list → inspect ×files → plan → load ×parts → publish ×layers → conclude
//
// What goes wrong, and what then happens:
//   a file cannot be used                    the job fails at inspect, with every finding and what to do about it
//   a layer of that name is there            mode create: the job fails at plan, before any work
//   a feature cannot be used                 it is kept in geo.rejects with the reason; more than max_rejected_percent: the job fails at
//                                            publish, and the layer stays as it was; resume with another source is a new job
//   a worker dies                            its part is loaded again, from the burst it had come to; the layer stays as it was
//   two jobs publish the same layer          one after the other: each is a version of its own
import { z } from "zod";
import { defineJob } from "../core/declare/declare.js";
import type { LoadPlan } from "../handlers/vector/facts.js";
import { sourceWishes, vector_fields, vectorCrossChecks } from "../handlers/vector/settings.js";

const loads = "$.parameters.dry_run == false";

export const processVector = defineJob({
  type: "process_vector",
  description: "Vector files into layers of PostGIS, served at once",
  parameters: z.object(vector_fields).superRefine(vectorCrossChecks),
  stages: [
    {
      name: "list",
      task: "raster.inventory",
      description: "The files are known",
      tasks: function* ({ parameters: { source, sources } }) {
        yield { index: "files", parameters: { sources: source === undefined ? sources : { list: [source] } } };
      },
    },
    {
      name: "inspect",
      task: "vector.inspect",
      description: "Each file is looked at: format, layers, CRS, counts",
      parallelism: "fan_out",
      max_parallel: 50,
      tasks: async function* ({ parameters, previous }) {
        const { sources } = await previous.one<{ sources: { source: string }[] }>();
        const wishes = sourceWishes(parameters);
        for (const { source } of sources) yield { index: source.slice(0, 200), parameters: { ...wishes, source } };
      },
    },
    { name: "plan", task: "vector.plan", description: "Layers, columns and parts of the load", parallelism: "fan_in" },
    {
      name: "load",
      task: "vector.load",
      description: "Rows are copied, checked and repaired",
      parallelism: "fan_out",
      max_parallel: 16,
      when: loads,
      tasks: async function* ({ parameters, previous }) {
        const { parts } = await previous.one<LoadPlan>();
        const { without_geometry } = parameters;
        const wishes = sourceWishes(parameters);
        for (const load of parts) {
          const index = `part-${load.part}`;
          yield { index, parameters: { load, wishes, keeps_null: without_geometry === "keep" } };
        }
      },
    },
    {
      name: "publish",
      task: "vector.publish",
      description: "Indexes, then the layer, its version and its STAC item at once",
      parallelism: "fan_out",
      after: ["plan", "load"],
      of: "plan",
      when: loads,
      tasks: async function* ({ parameters, previous }) {
        const { targets } = await previous("plan").one<LoadPlan>();
        for (const target of targets) yield { index: target.layer, parameters: { target, settings: parameters } };
      },
    },
    {
      name: "conclude",
      task: "vector.conclude",
      description: "Says what is served now, or would be",
      after: ["plan", "publish"],
    },
  ],
});
