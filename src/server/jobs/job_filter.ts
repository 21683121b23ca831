// What a query asks of jobs, as the engine takes it.
import type { JobFilterQuery } from "../../core/api/job_query.js";
import type { JobFilter } from "../../engine/verbs/records.js";

export function jobFilter({ q, label, ...filter }: JobFilterQuery): JobFilter {
  return { ...filter, words: q, ...label };
}
