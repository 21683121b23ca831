// The words for where things stand, the same in SQL, TypeScript and on the screen. Pure.

export const task_statuses = ["queued", "processing", "completed", "failed", "skipped", "cancelled"] as const;
export const stage_statuses = [
  "waiting",
  "waiting_approval",
  "planning",
  "processing",
  "completed",
  "partial_success",
  "failed",
  "skipped",
  "cancelled",
] as const;
export const job_statuses = ["queued", "processing", "completed", "partial_success", "failed", "cancelled"] as const;

export type TaskStatus = (typeof task_statuses)[number];
export type StageStatus = (typeof stage_statuses)[number];
export type JobStatus = (typeof job_statuses)[number];

export const terminal_stage_statuses = ["completed", "partial_success", "failed", "skipped", "cancelled"] as const;
export const terminal_job_statuses = ["completed", "partial_success", "failed", "cancelled"] as const;

const terminal: ReadonlySet<string> = new Set([...terminal_stage_statuses, ...terminal_job_statuses]);

/** No status is terminal for one kind of record and open for another, so one question serves tasks, stages and jobs. */
export function isTerminal(status: TaskStatus | StageStatus | JobStatus): boolean {
  return terminal.has(status);
}

export const parallelisms = ["single", "fan_out", "fan_in", "match_previous"] as const;
export type Parallelism = (typeof parallelisms)[number];

export const importances = ["critical", "important", "optional"] as const;
export type Importance = (typeof importances)[number];

/** What one failed task beyond the budget means for the others of its stage. */
export const on_task_failures = ["finish_stage", "fail_fast"] as const;
export type OnTaskFailure = (typeof on_task_failures)[number];

/** Why a task failed, which decides whether and when it is tried again. A crash took the handler's process with it. */
export const categories = ["transient", "throttled", "permanent", "contract", "crash"] as const;
export type Category = (typeof categories)[number];
