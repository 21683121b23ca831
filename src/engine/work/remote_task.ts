// How tasks are named over HTTP, and what the database calls them. Pure.
import type { WorkTask, WorkTypeCounts } from "../../core/api/work.js";
import { duration_bounds_s, failure_categories, type TypeCounts } from "../../core/task/work_counts.js";
import type { ClaimedBatch } from "./commands.js";

export interface Held {
  task_id: string;
  claim_id: number;
}

/** The ordinal of what makes a stage's tasks. */
const PLAN = -1;

export function tasksOf({ claim_id, stage_id, attempt, tasks }: ClaimedBatch): WorkTask[] {
  return tasks.map(([ordinal, index, parameters, metadata]) => ({
    kind: ordinal === PLAN ? ("plan" as const) : ("task" as const),
    task_id: `${stage_id}-${ordinal === PLAN ? "plan" : ordinal}`,
    claim_id,
    stage_id,
    ordinal,
    attempt,
    parameters,
    metadata,
    index: index ?? (ordinal === PLAN ? "plan" : String(ordinal)),
  }));
}

export function placeOf(task_id: string): { stage_id: number; ordinal: number } {
  const dash = task_id.indexOf("-");
  const ordinal = task_id.slice(dash + 1);
  return { stage_id: Number(task_id.slice(0, dash)), ordinal: ordinal === "plan" ? PLAN : Number(ordinal) };
}

/** As the database adds them up: by position; see core/task/work_counts.ts. */
export function countsOf(counts: Readonly<Record<string, WorkTypeCounts>>): TypeCounts {
  return Object.entries(counts).map(
    ([type, { claimed, completed, refused, duration_s, failed, retried, durations }]) => {
      const row = [
        claimed,
        completed,
        refused,
        duration_s,
        ...failure_categories.map((category) => failed[category] ?? 0),
        ...failure_categories.map((category) => retried[category] ?? 0),
        ...Array.from({ length: duration_bounds_s.length + 1 }, (_, at) => durations[at] ?? 0),
      ];
      return [type, row] as const;
    },
  );
}
