// What is to be done about the times of a schedule that are due: which of them get a job, which were missed, and when it is due
// next. All from times that are given; only the database knows what time it is. Pure.
import type { Times } from "./cron.js";

export const missed_policies = ["skip", "one", "all"] as const;
export type MissedPolicy = (typeof missed_policies)[number];

/** A time taken later than this was missed: nobody was there to take it. */
export const late_s = 60;
/** So many times of one schedule are looked at together; the others stay due. */
export const most_at_once = 100;
/** What was missed is counted no further. */
const most_counted = 1000;

export interface DueTime {
  tick_at: Date;
  /** missed: no job is submitted for it. */
  outcome: "submit" | "missed";
  /** So many earlier times it stands for. */
  missed: number;
}

export interface Due {
  times: DueTime[];
  /** The last of the times that are settled with these. */
  last_at: Date;
  next_at: Date | null;
}

/**
 * `due_at` is the first time that nobody took, `now` what the database says. Times that are late by no more than a minute are
 * taken one by one. Of those before, skip takes none, one takes the last for all of them, and all takes each.
 */
export function settleDue(times: Times, policy: MissedPolicy, due_at: Date, now: Date): Due {
  const late = new Date(now.getTime() - late_s * 1000 - 1);
  const found: DueTime[] = [];
  let at: Date | null = due_at;
  if (policy !== "all" && due_at.getTime() <= late.getTime()) {
    const last = times.last(due_at, late) ?? due_at;
    const earlier = countUpTo(times, due_at, last);
    found.push(
      policy === "one"
        ? { tick_at: last, outcome: "submit", missed: earlier }
        : { tick_at: last, outcome: "missed", missed: earlier },
    );
    at = times.next(last);
  }
  while (at !== null && at.getTime() <= now.getTime() && found.length < most_at_once) {
    found.push({ tick_at: at, outcome: "submit", missed: 0 });
    at = times.next(at);
  }
  return { times: found, last_at: found.at(-1)?.tick_at ?? due_at, next_at: at };
}

/** How many times lie from `first` up to, but not including, `last`; counted no further than a thousand. */
function countUpTo(times: Times, first: Date, last: Date): number {
  let count = 0;
  for (
    let at: Date | null = first;
    at !== null && at.getTime() < last.getTime() && count < most_counted;
    at = times.next(at)
  ) {
    count++;
  }
  return count;
}

const placeholder = /^\{\{\s*tick_at\s*\}\}$/;

/**
 * Parameters of one time's job: every string value, at any depth, that is exactly "{{tick_at}}" becomes that time, ISO 8601 in UTC.
 * Nothing else is replaced: not inside longer strings, not in names.
 */
export function fillTick(value: unknown, tick_at: Date): unknown {
  if (typeof value === "string") return placeholder.test(value) ? tick_at.toISOString() : value;
  if (Array.isArray(value)) return value.map((one) => fillTick(one, tick_at));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, fillTick(one, tick_at)]));
}
