// Cron with a time zone: which times a pattern names, and what it says in words. The next time is computed from a time that is
// given; nobody's clock is read. Gaps and overlaps of summer time are as croner defines them: a fixed time inside a gap comes at its
// end, and one inside an overlap once, the first time; times that repeat (every hour, every five minutes) follow the real hours. Pure.
import { Cron } from "croner";
import type { Problem } from "../errors/problems.js";

export interface Times {
  /** The first time after `after`; null: there is none. */
  next(after: Date): Date | null;
  /** The last time up to `until`, not before `from`; null: there is none. */
  last(from: Date, until: Date): Date | null;
}

export const max_cron_characters = 200;
const most_previewed = 100;

/** Letters, digits and what cron is written with; no `?`, which would mean "now", and no names with @. */
const cron_text = /^[\dA-Za-z*,/#+ \t-]+$/;

/** What other programs write for patterns, and the pattern that is meant. */
const nicknames: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

/** What is wrong with a pattern and its time zone, all at once. */
export function cronProblems(cron: unknown, time_zone: unknown): Problem[] {
  const problems: Problem[] = [];
  const zone_wrong = timeZoneProblem(time_zone);
  if (zone_wrong !== null)
    problems.push({ path: "$.time_zone", problem: zone_wrong, fix: "Write e.g. Europe/Zurich." });
  const fix =
    "Write minute, hour, day of month, month, day of week, e.g. 30 6 * * 1-5; a sixth field in front is seconds.";
  const wrong = cronProblem(cron);
  const meant = typeof cron === "string" ? nicknames[cron.trim().toLowerCase()] : undefined;
  if (meant !== undefined) {
    problems.push({ path: "$.cron", problem: "names with @ are not understood", fix: `Write ${meant}` });
  } else if (wrong !== null) problems.push({ path: "$.cron", problem: wrong, fix });
  else if (problems.length === 0 && timesOf(cron as string, time_zone as string).next(new Date(0)) === null) {
    problems.push({
      path: "$.cron",
      problem: "names a day that never comes, such as 30 February",
      fix: "Choose a day that the month has; L is its last day, e.g. 0 0 L 2 *",
    });
  }
  return problems;
}

function cronProblem(cron: unknown): string | null {
  if (typeof cron !== "string") return "must be a string";
  const text = cron.trim();
  if (text === "") return "is empty";
  if (text.length > max_cron_characters) return `is longer than ${max_cron_characters} characters`;
  if (!cron_text.test(text)) return "holds characters that cron does not know";
  const fields = text.split(/\s+/).length;
  if (fields !== 5 && fields !== 6) return `has ${fields} ${fields === 1 ? "field" : "fields"} and not 5 or 6`;
  try {
    timesOf(text, "UTC");
    return null;
  } catch (error) {
    return String((error as Error).message).replace(/^Cron\w*: /, "");
  }
}

function timeZoneProblem(time_zone: unknown): string | null {
  if (typeof time_zone !== "string" || time_zone === "" || time_zone.length > 64)
    return "is not the name of a time zone";
  try {
    // An offset such as +02:00 would know no summer time, and is a trap more often than a wish.
    if (!/^[A-Za-z]/.test(time_zone)) return "must be a name, not an offset";
    new Intl.DateTimeFormat("en", { timeZone: time_zone });
    return null;
  } catch {
    return `there is no time zone "${time_zone.slice(0, 64)}"`;
  }
}

/** Throws when the pattern or the zone is wrong; see cronProblems. */
export function timesOf(cron: string, time_zone: string): Times {
  const pattern = new Cron(cron.trim().replace(/\s+/g, " "), {
    timezone: time_zone,
    paused: true,
    mode: "5-or-6-parts",
  });
  // Between two moments of which one was asked for and the other is the answer there is nothing: a pattern that names few times, or
  // none, takes long to look through.
  let empty = { from: 0, to: 0 };
  const look = (after: Date): Date | null => {
    const found = pattern.nextRun(after);
    // Strictly later, whatever a change of the clocks may do: a time that came must not come again.
    return found === null || found.getTime() > after.getTime() ? found : look(new Date(after.getTime() + 1000));
  };
  const next = (after: Date): Date | null => {
    const at = after.getTime();
    if (at < empty.from || at >= empty.to) empty = { from: at, to: look(after)?.getTime() ?? Number.POSITIVE_INFINITY };
    return empty.to === Number.POSITIVE_INFINITY ? null : new Date(empty.to);
  };
  return {
    next,
    last(from, until) {
      const first = next(new Date(from.getTime() - 1));
      if (first === null || first.getTime() > until.getTime()) return null;
      // Halved again and again: a few dozen looks, however many times there are. None lies between `end` and `until`.
      let found = first;
      let end = until.getTime();
      while (end - found.getTime() >= 1000) {
        const middle = Math.floor((found.getTime() + end) / 2);
        const later = next(new Date(middle));
        if (later !== null && later.getTime() <= end) found = later;
        else end = middle;
      }
      return found;
    },
  };
}

/** The next times after `after`, at most `count`, and never more than a hundred. */
export function nextTimes(cron: string, time_zone: string, after: Date, count: number): Date[] {
  const times = timesOf(cron, time_zone);
  const found: Date[] = [];
  for (let at = times.next(after); at !== null && found.length < most_previewed; at = times.next(at)) {
    found.push(at);
    if (found.length >= count) break;
  }
  return found;
}
