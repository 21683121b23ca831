// What a query asks of jobs, as the engine takes it.
import type { JobWishes } from "../../core/api/job_query.js";
import type { JobFilter } from "../../engine/verbs/records.js";

export function jobFilter({ q, label, ...wishes }: JobWishes): JobFilter {
  return { ...wishes, words: q, ...label };
}
