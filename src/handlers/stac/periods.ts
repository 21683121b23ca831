// Times of a search as people write them: a moment, or two of them with a slash between and `..` for an open end. Pure.
import { isMoment } from "../../geo/times.js";

export type Period = [start: string | null, end: string | null];

/** null when it is none. */
export function parsePeriod(text: string): Period | null {
  const parts = text.split("/").map((part) => (part === ".." || part === "" ? null : part));
  const [start, end] = parts.length === 1 ? [parts[0], parts[0]] : parts;
  if (start === undefined || end === undefined || parts.length > 2 || (start ?? end) === null) return null;
  if ([start, end].some((part) => part !== null && !isMoment(part))) return null;
  return [start, end];
}
