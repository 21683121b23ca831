// What can be done about a task as it stands. Pure.
export type Verb = "retry" | "skip" | "cancel" | "reschedule";

/** Why it cannot be done now; null: it can. */
export function refusal(verb: Verb, task: { status: string; job_id: string | null }): string | null {
  const lone = task.job_id === null;
  const is_open = task.status === "queued" || task.status === "processing";
  switch (verb) {
    case "retry":
      if (task.status === "completed") return "It is completed. A whole stage can run again from the job's page.";
      return is_open ? "It has not ended." : null;
    case "skip":
      if (task.status === "completed") return "It is completed.";
      return task.status === "skipped" ? "It is skipped already." : null;
    case "cancel":
      if (!lone) return "A task of a job is cancelled with its job.";
      return is_open ? null : "It has ended.";
    case "reschedule":
      if (!lone) return "Only a task that stands alone is moved.";
      return task.status === "queued" ? null : "Only a task that waits is moved.";
  }
}
