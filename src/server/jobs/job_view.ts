// A job as the status call shows it: the engine's record, and how far it is.
import type { z } from "zod";
import type { job_record } from "../../core/api/job_records.js";
import { isTerminal } from "../../core/shown/statuses.js";
import type { JobRecord, StageRecord } from "../../engine/verbs/records.js";

type View = z.output<typeof job_record>;

/** `items_url`: where the catalogue has what it made; null where there is no catalogue. */
export function jobView(job: JobRecord, items_url: string | null): View {
  const { stages } = job;
  const ended = stages.filter(({ status }) => isTerminal(status));
  const at = stages.find(({ status }) => !isTerminal(status) && status !== "waiting") ?? lastOf(ended) ?? stages[0];
  return {
    ...job,
    stage: at?.number ?? null,
    total_stages: stages.length,
    resume_hint: job.resumable ? `POST /api/jobs/${job.job_id}/resume` : null,
    outcomes: job.outcomes.map((outcome) => ({
      ...outcome,
    })),
    result_spill: job.result_spill && { ...job.result_spill },
    items_url,
    progress: progressOf(job),
    stage_results: Object.fromEntries(ended.map((stage) => [String(stage.number), stageResult(stage)])),
  };
}

/** The last stage that was reached: of a failed job those behind it were never opened. */
function lastOf(ended: readonly StageRecord[]): StageRecord | undefined {
  return ended.findLast(({ opened_at }) => opened_at !== null);
}

function stageResult(stage: StageRecord): View["stage_results"][string] {
  const { name, status, total, completed, failed, skipped, closed_at, skip_reason } = stage;
  const parts = [
    ...(total === null ? [] : [`${completed} of ${total} tasks completed`]),
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
    ...(skip_reason === null ? [] : [`skipped: ${skip_reason}`]),
  ];
  return {
    stage: name,
    status,
    total,
    completed,
    failed,
    skipped,
    checkpoint: status === "completed" || status === "skipped",
    completed_at: closed_at,
    task_count: total,
    success_count: completed,
    summary: parts.length === 0 ? status : parts.join(", "),
  };
}

function progressOf({ status, stages }: JobRecord): View["progress"] {
  const sum = (name: "completed" | "failed" | "skipped" | "cancelled" | "processing" | "queued") =>
    stages.reduce((total, stage) => total + stage[name], 0);
  const share = (stage: StageRecord) => {
    if (stage.total === null || stage.total === 0)
      return isTerminal(stage.status) && stage.status !== "cancelled" ? 1 : 0;
    return (stage.completed + stage.failed + stage.skipped) / stage.total;
  };
  const done = stages.reduce((total, stage) => total + share(stage), 0) / Math.max(1, stages.length);
  return {
    fraction: status === "completed" ? 1 : Math.min(1, Math.round(done * 10_000) / 10_000),
    total: stages.reduce((total, stage) => total + (stage.total ?? 0), 0),
    completed: sum("completed"),
    failed: sum("failed"),
    skipped: sum("skipped"),
    cancelled: sum("cancelled"),
    processing: sum("processing"),
    queued: sum("queued"),
    stages: stages.length,
    stages_ended: stages.filter((stage) => isTerminal(stage.status)).length,
  };
}
