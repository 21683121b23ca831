// Moments and intervals as a search gives them: RFC 3339, with ".." or nothing for an open end.

import { type Problem, quoted } from "../../../core/errors/problems.js";
import { isMoment } from "../../../geo/times.js";

const fix = "Give an RFC 3339 moment such as 2024-05-06T07:08:09Z, or an interval: start/end, with .. for an open end.";

export type Span = [start: string | null, end: string | null];

export function readDatetime(text: string, path: string, problems: Problem[]): Span | undefined {
  const parts = text.split("/");
  const is_open = (part: string) => parts.length === 2 && (part === "" || part === "..");
  const wrong = parts.find((part) => !is_open(part) && !isMoment(part));
  if (parts.length > 2 || wrong !== undefined) {
    const problem = parts.length > 2 ? `${quoted(text)} has more than two parts` : `${quoted(wrong)} is not a moment`;
    problems.push({ path, problem, fix });
    return undefined;
  }
  const [start = null, end = start] = parts.map((part) => (is_open(part) ? null : part));
  return [start, end];
}
