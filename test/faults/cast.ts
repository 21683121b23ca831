// Every job and handler that the faults know: one registry for all workers and submitters.
import type { Job } from "../../src/core/declare/declare.js";
import { defineRecipe } from "../../src/core/declare/recipe.js";
import { createRegistry, type Registry } from "../../src/core/declare/registry.js";
import type { Recorder } from "./effects.js";
import { chain_job, chainHandlers } from "./job.js";
import { mosaic_job, mosaicHandlers } from "./mosaic.js";
import { act, crash_job, deaf, deaf_job, hang_job, patient_deaf_job } from "./poison.js";
import { pages_job, race_job, raceHandlers } from "./race.js";
import { loose_job, pairs_job, shapeHandlers, sized_job, wide_job } from "./shapes.js";

/** What requests of the faults are made of: three jobs of job.ts, one after the other. */
const step = (name: string) => ({
  name,
  job: "chain",
  parameters: { n: "{parameters.n}", ms: "{parameters.ms}", name: `{request.dataset_id} ${name}` },
});
export const chained_jobs = [step("validate"), step("process"), step("publish")];
const chained = defineRecipe({ data_type: "chained", jobs: chained_jobs });

export function faultRegistry(record: Recorder): Registry {
  return createRegistry({
    jobs: [
      chain_job,
      mosaic_job,
      race_job,
      pages_job,
      crash_job,
      hang_job,
      deaf_job,
      patient_deaf_job,
      wide_job,
      pairs_job,
      loose_job,
      sized_job,
    ] as Job[],
    handlers: [
      ...chainHandlers(record),
      ...mosaicHandlers(record),
      ...raceHandlers(record),
      ...shapeHandlers(record),
      act,
      deaf,
    ],
    recipes: [chained],
  });
}

/** For those who run no tasks: they need the declarations only. */
export const nobody: Recorder = () => {
  throw new Error("a submitter runs no tasks");
};
