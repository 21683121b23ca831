// The filter of the dashboard on the command line, in the days of this machine.

import type { Problem } from "../../core/errors/problems.js";
import { filter_keys, parseJobFilter } from "../../core/shown/job_filter.js";
import { type DayStart, whenAt } from "../../core/shown/job_filter_time.js";
import type { JobFilter } from "../../engine/verbs/records.js";

/** For the help of commands that take one. */
export const filter_help = Object.entries(filter_keys)
  .map(([key, about]) => `  ${`${key}:`.padEnd(13)}${about}`)
  .join("\n");

export function readFilter(text: string, problems: Problem[]): JobFilter {
  const read = parseJobFilter(text);
  for (const { from, to, problem, fix } of read.problems)
    problems.push({ path: text.slice(from, to).slice(0, 60), problem, fix });
  const { words, types, statuses, labels, conditions, id, error, group, correlation, created, finished, priority } =
    read.terms;
  const now = new Date();
  const at = (when: string | null) => (when === null ? null : whenAt(when, now, localDay).toISOString());
  const some = <One>(list: One[]) => (list.length === 0 ? null : list);
  return {
    words: some(words),
    type: some(types),
    status: some(statuses),
    id,
    error,
    group_id: group,
    correlation_id: correlation,
    labels: Object.fromEntries(labels.flatMap(({ key, value }) => (value === null ? [] : [[key, value]]))),
    label_keys: labels.flatMap(({ key, value }) => (value === null ? [key] : [])),
    created_after: at(created.from),
    created_before: at(created.to),
    finished_after: at(finished.from),
    finished_before: at(finished.to),
    priority_from: priority.from,
    priority_to: priority.to,
    ...Object.fromEntries(conditions.map((condition) => [condition, true])),
  };
}

const localDay: DayStart = (year, month, day) => new Date(year, month - 1, day);
