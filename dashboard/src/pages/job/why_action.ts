// The one action of an answer of `why`: a verb of this page, a link to another, or the command to copy. Pure.
import type { Why } from "./records.js";

export type WhyAction =
  | { kind: "job"; verb: "resume" | "continue" | "cancel" | "pause"; job_id: string }
  | { kind: "decide"; job_id: string; stage: string | undefined }
  | { kind: "stage"; job_id: string; stage: string }
  | { kind: "type"; verb: "continue"; task_type: string }
  | { kind: "task"; verb: "retry"; task_id: string }
  | { kind: "run_now"; task_id: string; run_at: string }
  | { kind: "open_job"; job_id: string }
  | { kind: "open_task"; task_id: string }
  | { kind: "verify"; job_id: string }
  | { kind: "page"; page: "workers" | "limits" | "health" }
  | { kind: "command"; command: string };

type Asked = Pick<Why, "code" | "action" | "command" | "evidence">;
type Action = NonNullable<Why["action"]>;

/** What this page does about an action, by its verb; any other is the command to copy. */
const doings: Readonly<Record<string, (action: Action) => WhyAction>> = {
  resume: ({ job_id = "" }) => ({ kind: "job", verb: "resume", job_id }),
  continue: ({ job_id = "" }) => ({ kind: "job", verb: "continue", job_id }),
  cancel: ({ job_id = "" }) => ({ kind: "job", verb: "cancel", job_id }),
  pause: ({ job_id = "" }) => ({ kind: "job", verb: "pause", job_id }),
  approve: ({ job_id = "", stage }) => ({ kind: "decide", job_id, stage }),
  retry_stage: ({ job_id = "", stage = "" }) => ({ kind: "stage", job_id, stage }),
  continue_type: ({ task_type = "" }) => ({ kind: "type", verb: "continue", task_type }),
  "tasks.retry": ({ task_id = "" }) => ({ kind: "task", verb: "retry", task_id }),
  "tasks.reschedule": ({ task_id = "", run_at = "" }) => ({ kind: "run_now", task_id, run_at }),
  verify: ({ job_id = "" }) => ({ kind: "verify", job_id }),
  watch: ({ job_id = "" }) => ({ kind: "open_job", job_id }),
  why: ({ job_id = "" }) => ({ kind: "open_job", job_id }),
  "jobs.status": ({ job_id = "" }) => ({ kind: "open_job", job_id }),
  "tasks.get": ({ task_id = "" }) => ({ kind: "open_task", task_id }),
};

/** Where an operator looks when there is nothing to do but look. */
const pages: Record<string, "workers" | "limits" | "health"> = {
  WORKERS_BUSY: "workers",
  CLAIMED_NOT_STARTED: "workers",
  HEARTBEAT_NO_PROGRESS: "workers",
  STRAGGLER: "workers",
  TENANT_LIMIT: "limits",
  JANITOR_LATE: "health",
};

/** What can be done at once first; the command to copy is the last resort. */
export function actionsOf({ code, action, command, evidence }: Asked): WhyAction[] {
  // What is to be done about the job it waits for is best seen there.
  const other = code === "WAITING_DEPENDENCY" ? firstJob(evidence) : null;
  if (other !== null) return [{ kind: "open_job", job_id: other }];
  const actions: WhyAction[] = [];
  if (action !== null && Object.hasOwn(doings, action.verb)) actions.push(doings[action.verb]!(action));
  else if (command !== null) actions.push({ kind: "command", command });
  const page = Object.hasOwn(pages, code) ? pages[code] : undefined;
  if (page !== undefined) actions.push({ kind: "page", page });
  return actions;
}

function firstJob(evidence: unknown): string | null {
  const jobs = (evidence as { jobs?: unknown } | null)?.jobs;
  const [first] = Array.isArray(jobs) ? (jobs as { job_id?: unknown }[]) : [];
  return typeof first?.job_id === "string" && /^[0-9a-f]{64}$/.test(first.job_id) ? first.job_id : null;
}

const titles: Record<string, string> = {
  NO_WORKER_FOR_TYPE: "No worker for this type",
  WAITING_APPROVAL: "Waits for approval",
  WAITING_DEPENDENCY: "Waits for another job",
  WAITING_STAGE: "Waits for another stage",
  UPSTREAM_FAILED: "A stage failed",
  QUEUE_PAUSED: "The task type is paused",
  TENANT_LIMIT: "The limit of the tenant is reached",
  STAGE_LIMIT: "The limit of the stage is reached",
  BACKOFF: "Waits for the next attempt",
  CLAIMED_NOT_STARTED: "Claimed, not started",
  UNKNOWN: "It is not known why",
};

/** A code as people read it: JOB_PAUSED is "Job paused". */
export function codeWords(code: string): string {
  return Object.hasOwn(titles, code) ? (titles[code] as string) : capitalised(code.toLowerCase().replaceAll("_", " "));
}

/** Answers are clauses, for a terminal; here they stand alone. */
export function capitalised(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
