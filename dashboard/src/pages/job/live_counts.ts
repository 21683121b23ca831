// A job's status with the counts that were told since. Pure.
import { doneOf, type Pace } from "../../../../src/core/shown/pace.js";
import type { StageCounts } from "../../live/hub.js";
import type { Job, Stage } from "./records.js";

/** `isNewer`: whether these counts were told after the status was. */
export function withCounts(
  job: Job,
  progress: ReadonlyMap<number, StageCounts>,
  isNewer: (counts: StageCounts) => boolean,
): Job {
  if (progress.size === 0) return job;
  let changed = false;
  const stages = job.stages.map((stage) => {
    const counts = progress.get(stage.stage_id);
    if (counts === undefined || !isNewer(counts)) return stage;
    changed = true;
    return countedStage(stage, counts);
  });
  return changed ? { ...job, stages } : job;
}

function countedStage(stage: Stage, counts: StageCounts): Stage {
  const { total, completed, failed, skipped, processing } = counts;
  const status = counts.status as Stage["status"];
  const left = Math.max(0, (total ?? 0) - completed - failed - skipped - processing);
  const queued = status === "processing" ? left : stage.queued;
  return {
    ...stage,
    status,
    total,
    completed,
    failed,
    skipped,
    processing,
    queued,
    retrying: Math.min(stage.retrying, queued),
  };
}

/** What was watched, once it was watched long enough; else what the server told. Null: nobody knows. */
export function paceOf(stage: Stage, watched: ReadonlyMap<number, Pace>, watched_ms: number): Pace | null {
  if (stage.status !== "processing" || doneOf(stage) >= (stage.total ?? 0)) return null;
  const seen = watched.get(stage.number);
  const told: Pace | null =
    stage.rate_per_s === null || stage.rate_per_s <= 0
      ? null
      : { per_s: stage.rate_per_s, eta_s: ((stage.total ?? 0) - doneOf(stage)) / stage.rate_per_s };
  if (seen === undefined) return told;
  return watched_ms >= 3_000 || told === null ? seen : told;
}
