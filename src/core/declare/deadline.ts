// What a job's deadline counts from, and how it is told. Pure.
import { took } from "../shown/figures.js";

/** Where neither blueprint nor submit says anything; app.usual_deadline_s says the same of blueprints that came by SQL. */
export const usual_deadline_s = 7200;

export const deadline_moments = ["start", "submit"] as const;
export type DeadlineFrom = (typeof deadline_moments)[number];

export interface DeadlineFacts {
  deadline_at: string | null;
  deadline_left_s: number | null;
  started_at: string | null;
}

/** In words, where there is no time to name: "2 h from the start of work", or what is left while it stands; null where there is none. */
export function standingDeadline({ deadline_at, deadline_left_s, started_at }: DeadlineFacts): string | null {
  if (deadline_at !== null || deadline_left_s === null) return null;
  const left = took(deadline_left_s);
  return started_at === null ? `${left} from the start of work` : `${left} left, and it stands still`;
}
