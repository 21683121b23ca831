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

type Asked = Pick<Why, "code" | "command" | "call" | "evidence">;

const calls: readonly [RegExp, (match: RegExpExecArray) => WhyAction][] = [
  [
    /^POST \/api\/jobs\/([0-9a-f]+)\/(resume|continue|cancel|pause)$/,
    ([, job_id = "", verb]) => ({ kind: "job", job_id, verb: verb as "resume" }),
  ],
  [
    /^POST \/api\/jobs\/([0-9a-f]+)\/approve(?: \{"stage": "([^"]+)"\})?$/,
    ([, job_id = "", stage]) => ({ kind: "decide", job_id, stage }),
  ],
  [
    /^POST \/api\/jobs\/retry-stage\/([0-9a-f]+)\/([^\s{}]+)$/,
    ([, job_id = "", stage = ""]) => ({ kind: "stage", job_id, stage }),
  ],
  [
    /^POST \/api\/task-types\/(\S+)\/continue$/,
    ([, task_type = ""]) => ({ kind: "type", verb: "continue", task_type }),
  ],
  [/^POST \/api\/tasks\/(\d+-\d+)\/retry$/, ([, task_id = ""]) => ({ kind: "task", verb: "retry", task_id })],
  [
    /^POST \/api\/tasks\/(\d+-\d+)\/reschedule \{"run_at": "([^"]+)"\}$/,
    ([, task_id = "", run_at = ""]) => ({ kind: "run_now", task_id, run_at }),
  ],
  [/^GET \/api\/jobs\/([0-9a-f]+)\/verify$/, ([, job_id = ""]) => ({ kind: "verify", job_id })],
  [/^GET \/api\/jobs\/(?:status\/)?([0-9a-f]+)(?:\/why)?$/, ([, job_id = ""]) => ({ kind: "open_job", job_id })],
  [/^GET \/api\/tasks\/(\d+-\d+)(?:\/why)?$/, ([, task_id = ""]) => ({ kind: "open_task", task_id })],
];

/** Where an operator looks when there is nothing to do but look. */
const pages: Record<string, "workers" | "limits" | "health"> = {
  WORKERS_BUSY: "workers",
  CLAIMED_NOT_STARTED: "workers",
  HEARTBEAT_NO_PROGRESS: "workers",
  STRAGGLER: "workers",
  TENANT_LIMIT: "limits",
  JANITOR_LATE: "health",
};

/** Those that can be done at once first; the command to copy is the last resort. */
export function actionsOf({ code, command, call, evidence }: Asked): WhyAction[] {
  const actions: WhyAction[] = [];
  for (const [pattern, action] of calls) {
    const match = call === null ? null : pattern.exec(call);
    if (match !== null) {
      actions.push(action(match));
      break;
    }
  }
  // What is to be done about the job it waits for is best seen there.
  const other = code === "WAITING_DEPENDENCY" ? firstJob(evidence) : null;
  if (other !== null) return [{ kind: "open_job", job_id: other }];
  if (actions.length === 0 && command !== null) actions.push({ kind: "command", command });
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
  UNKNOWN: "Nobody knows why",
};

/** A code as people read it: JOB_PAUSED is "Job paused". */
export function codeWords(code: string): string {
  if (Object.hasOwn(titles, code)) return titles[code] as string;
  const text = code.toLowerCase().replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}
