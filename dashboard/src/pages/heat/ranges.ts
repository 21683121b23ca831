// A selection in words that the command line and the API take. Pure.
import { type Commands, verbCommands } from "../../api/commands.js";
import type { Range } from "../../selection.js";

/** More than this the API does not take in one call. */
export const most_ranges = 10_000;

/** As `fanfold retry --tasks` takes it: 0-99,200. */
export function tasksText(ranges: readonly Range[]): string {
  return ranges.map(([lo, hi]) => (hi - lo === 1 ? String(lo) : `${lo}-${hi - 1}`)).join(",");
}

/** Ranges with little between them become one: reading a few tasks too many costs less than another call. */
export function pagesOf(ranges: readonly Range[], most_between: number): Range[] {
  const pages: [number, number][] = [];
  for (const [lo, hi] of ranges) {
    const last = pages.at(-1);
    if (last !== undefined && lo - last[1] <= most_between) last[1] = hi;
    else pages.push([lo, hi]);
  }
  return pages;
}

/** Only the first so many ordinals. */
export function firstOf(ranges: readonly Range[], most: number): Range[] {
  const kept: Range[] = [];
  let left = most;
  for (const [lo, hi] of ranges) {
    if (left <= 0) break;
    kept.push([lo, Math.min(hi, lo + left)]);
    left -= hi - lo;
  }
  return kept;
}

/** Longer than this a line is none for a terminal; the call below it carries the same. */
const longest_line = 2_000;

export function selectionCommands(
  base: string,
  verb: "retry" | "skip",
  { job_id, stage, ranges }: { job_id: string; stage: string; ranges: readonly Range[] },
  reason: string | undefined,
): Commands {
  const tasks = tasksText(ranges);
  const commands = verbCommands(base, `cells.${verb}`, { job_id, stage, ranges, reason }, { ranges: tasks });
  return tasks.length > longest_line ? { ...commands, cli: null } : commands;
}
