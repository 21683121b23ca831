// Moments and intervals as a search gives them: RFC 3339, with ".." or nothing for an open end.
import { isMoment } from "../../../catalog/times.js";
import { type Problem, quoted } from "../../../core/problems.js";

const fix = "Give an RFC 3339 moment such as 2024-05-06T07:08:09Z, or an interval: start/end, with .. for an open end.";

export type Span = [start: string | null, end: string | null];

export function readDatetime(text: string, path: string, problems: Problem[]): Span | undefined {
  const tell = (problem: string) => {
    problems.push({ path, problem, fix });
    return undefined;
  };
  const parts = text.split("/");
  if (parts.length > 2) return tell(`${quoted(text)} has more than two parts`);
  const is_open = (part: string) => parts.length === 2 && (part === "" || part === "..");
  const wrong = parts.find((part) => !is_open(part) && !isMoment(part));
  if (wrong !== undefined) return tell(`${quoted(wrong)} is not a moment`);
  const [start, end = start] = parts.map((part) => (is_open(part) ? null : part)) as [string | null, string | null];
  if (start === null && end === null) return tell("is open at both ends, which says nothing");
  if (start !== null && end !== null && Date.parse(start) > Date.parse(end)) return tell("its start is after its end");
  return [start, end];
}
