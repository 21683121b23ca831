// What can be done with a job as it stands, and why the rest cannot. Pure.
import { isTerminal } from "../../../../src/core/shown/statuses.js";
import type { Job, Stage } from "./records.js";

type Standing = Pick<Job, "status" | "paused_at" | "resumable">;

/** null: it can be done; else why not, in a sentence. */
export const why_not = {
  resume(job: Standing): string | null {
    if (!isTerminal(job.status)) return "It is under way: there is nothing to resume.";
    return job.resumable ? null : "It completed: nothing is left to resume. Retry a stage, or run it again.";
  },
  retry_stage(job: Standing): string | null {
    return isTerminal(job.status) ? null : "A stage can be retried once the job has ended.";
  },
  pause(job: Standing): string | null {
    if (isTerminal(job.status)) return "It has ended: there is nothing to pause.";
    return job.paused_at === null ? null : "It is paused already.";
  },
  continue(job: Standing): string | null {
    if (isTerminal(job.status)) return "It has ended.";
    return job.paused_at === null ? "It is not paused." : null;
  },
  cancel(job: Standing): string | null {
    return isTerminal(job.status) ? "It has ended: there is nothing to cancel." : null;
  },
  retry_group(job: Standing): string | null {
    return isTerminal(job.status)
      ? null
      : "A group can be retried once the job has ended; failed attempts are retried by themselves.";
  },
} as const;

/** A stage that never began has nothing to retry: the job is resumed instead. */
export function whyNotThisStage(job: Standing, stage: Pick<Stage, "status" | "total">): string | null {
  const not = why_not.retry_stage(job);
  if (not !== null) return not;
  if (stage.status === "cancelled" && stage.total === null) return "It was never reached: resume the job.";
  return null;
}
