// Rows of the list as they are shown: what is new waits while somebody points at the rows, and progress follows the stream. Pure.
import type { Reply } from "../../api/call.js";

export type JobPage = Reply<"jobs.list">;
export type ListedJob = JobPage["jobs"][number];

interface Counts {
  stage_id: number;
  total: number | null;
  completed: number;
  failed: number;
  skipped: number;
}

/** The rows that stand keep their places and learn what became of them; `fresh` are those that wait to be shown. */
export function heldRows(
  shown: readonly ListedJob[],
  latest: readonly ListedJob[],
): { rows: ListedJob[]; fresh: number } {
  const by_id = new Map(latest.map((job) => [job.job_id, job]));
  const standing = new Set(shown.map(({ job_id }) => job_id));
  return {
    rows: shown.map((job) => by_id.get(job.job_id) ?? job),
    fresh: latest.filter(({ job_id }) => !standing.has(job_id)).length,
  };
}

export interface ShownProgress {
  total: number;
  completed: number;
  failed: number;
  skipped: number;
  processing: number;
}

/** What the list counted, with the open stages as the stream told of them since. */
export function liveProgress(
  { progress }: Pick<ListedJob, "progress">,
  live: ReadonlyMap<number, Counts & { processing: number }>,
): ShownProgress | null {
  if (progress === null) return null;
  const sum = {
    total: progress.total,
    completed: progress.completed,
    failed: progress.failed,
    skipped: progress.skipped,
    processing: 0,
  };
  for (const stage of live.values()) {
    const known = progress.open_stages.find(({ stage_id }) => stage_id === stage.stage_id);
    // A stage the list does not count as open has closed since, and is counted, or opens this moment.
    if (known === undefined) continue;
    const told = stage.completed + stage.failed + stage.skipped;
    if (told < known.completed + known.failed + known.skipped) continue;
    sum.total += (stage.total ?? known.total) - known.total;
    sum.completed += stage.completed - known.completed;
    sum.failed += stage.failed - known.failed;
    sum.skipped += stage.skipped - known.skipped;
    sum.processing += stage.processing;
  }
  return sum;
}

/** One sentence on where a job is. */
export function standing(job: ListedJob, counted: ShownProgress | null): string {
  const { progress } = job;
  const n = (amount: number) => amount.toLocaleString("en-US");
  if (job.waits_for > 0 && job.finished_at === null)
    return `waits for ${job.waits_for === 1 ? "another job" : `${n(job.waits_for)} other jobs`}`;
  if (progress === null || counted === null) return "";
  const { total, completed, failed, skipped } = counted;
  if (job.finished_at !== null) {
    if (total === 0) return "";
    const parts = [failed > 0 && `${n(failed)} failed`, skipped > 0 && `${n(skipped)} skipped`].filter(Boolean);
    return `${n(completed)} of ${n(total)}${parts.length === 0 ? "" : ` · ${parts.join(" · ")}`}`;
  }
  const done = completed + failed + skipped;
  const parts = [
    progress.stages > 1 &&
      `stage ${n(progress.stage ?? Math.min(progress.stages_ended + 1, progress.stages))} of ${n(progress.stages)}`,
    progress.approval ? "waits for approval" : total > 0 && `${n(done)} of ${n(total)}`,
    failed > 0 && `${n(failed)} failed`,
    progress.retrying && "retrying",
  ];
  return parts.filter(Boolean).join(" · ");
}
