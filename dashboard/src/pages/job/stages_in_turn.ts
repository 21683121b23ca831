// Which stage a tab shows when none was asked for. Pure.
import { isTerminal } from "../../../../src/core/shown/statuses.js";
import type { Job, Stage } from "./records.js";

/** The one that is asked for; else where something fails, runs, or ran last. */
export function chosenStage(job: Job, wanted: string): Stage | undefined {
  const planned = job.stages.filter(({ total }) => total !== null && total > 0);
  return (
    job.stages.find(({ name, number }) => name === wanted || String(number) === wanted) ??
    planned.find(({ status }) => !isTerminal(status)) ??
    planned.find(({ failed }) => failed > 0) ??
    planned.findLast(({ total }) => (total ?? 0) > 1) ??
    planned.at(-1) ??
    job.stages[0]
  );
}

/** Where a map may open when no stage was asked for: the likeliest first, then those with the most tasks. */
export function stagesInTurn(job: Job): Stage[] {
  const first = chosenStage(job, "");
  const others = job.stages
    .filter((one) => one !== first && (one.total ?? 0) > 0)
    .sort((a, b) => (b.total ?? 0) - (a.total ?? 0));
  return first === undefined ? [] : [first, ...others];
}
