// What can be done about a task as it stands. Pure.

interface Standing {
  status: string;
  job_id: string | null;
}

interface TaskVerb {
  label: string;
  /** Only for a task that stands alone. */
  lone?: true;
  /** It runs the task again: what the dialog says about one that stands alone, and about one of a job. */
  again?: readonly [lone: string, of_job: string];
  /** Why it cannot be done now; null: it can. */
  refusal(task: Standing): string | null;
}

const isOpen = ({ status }: Standing) => status === "queued" || status === "processing";

const verbs = {
  retry: {
    label: "Retry",
    again: [
      "It goes back into the queue with all its attempts.",
      "Its job is opened again, and goes on from this task.",
    ],
    refusal(task) {
      if (task.status === "completed") return "It is completed: redo it.";
      return isOpen(task) ? "It has not ended." : null;
    },
  },
  redo: {
    label: "Redo",
    again: [
      "It goes back into the queue, because what it delivered may be gone.",
      "Its job is opened again: this task runs once more, and what follows it.",
    ],
    refusal: ({ status }) => (status === "completed" ? null : "Only a completed task is redone."),
  },
  skip: {
    label: "Skip",
    refusal({ status }) {
      if (status === "completed") return "It is completed.";
      return status === "skipped" ? "It is skipped already." : null;
    },
  },
  reschedule: {
    label: "Move",
    lone: true,
    refusal({ status, job_id }) {
      if (job_id !== null) return "Only a task that stands alone is moved.";
      return status === "queued" ? null : "Only a task that waits is moved.";
    },
  },
  cancel: {
    label: "Cancel",
    lone: true,
    refusal(task) {
      if (task.job_id !== null) return "A task of a job is cancelled with its job.";
      return isOpen(task) ? null : "It has ended.";
    },
  },
} satisfies Record<string, TaskVerb>;

export type Verb = keyof typeof verbs;
export const task_verbs: Record<Verb, TaskVerb> = verbs;

/** Why it cannot be done now; null: it can. */
export function refusal(verb: Verb, task: Standing): string | null {
  return task_verbs[verb].refusal(task);
}
