// Every job and handler that the faults know: one registry for all workers and submitters.
import type { Handler, Job } from "../../src/core/declare.js";
import type { Recorder } from "./effects.js";
import { chain_job, chainHandlers } from "./job.js";
import { mosaic_job, mosaicHandlers } from "./mosaic.js";
import { act, crash_job, deaf, deaf_job, hang_job, patient_deaf_job } from "./poison.js";
import { pages_job, race_job, raceHandlers } from "./race.js";

export function castOf(record: Recorder): { jobs: Job[]; handlers: Handler[] } {
  return {
    jobs: [chain_job, mosaic_job, race_job, pages_job, crash_job, hang_job, deaf_job, patient_deaf_job] as Job[],
    handlers: [...chainHandlers(record), ...mosaicHandlers(record), ...raceHandlers(record), act, deaf],
  };
}
