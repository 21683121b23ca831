// Moments in a job filter: relative to now (-1d), a day, or a time with its offset. The clock and the reader's days are arguments. Pure.
import { shorten } from "../errors/problems.js";

/** As they were written, so that "the last day" moves with the day; `to` is not part of it. */
export interface Span {
  from: string | null;
  to: string | null;
}

/** When a day begins where the reader is. */
export type DayStart = (year: number, month: number, day: number) => Date;

export const utcDay: DayStart = (year, month, day) => new Date(Date.UTC(year, month - 1, day));

const relative = /^-(?:\d{1,6}[smhdw])+$/;
const date = /^\d{4}-\d{2}-\d{2}$/;
const moment = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:Z|[+-]\d{2}:\d{2})$/;
const unit_s: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };
const advice = "Such as >-1d, <-2h, 2026-01-31, >2026-01-31T08:00Z or 2026-01-01..2026-01-31.";

/** Adds what the text says to the span; null: well. */
export function readSpan(text: string, span: Span): { problem: string; fix: string } | null {
  const range = /^(.*?)\.\.(.*)$/.exec(text);
  const found = /^(>=?|<=?)?(.*)$/s.exec(text)!;
  const [, operator, one] = found as unknown as [string, string | undefined, string];
  const bounds: Span =
    range !== null
      ? { from: range[1] || null, to: range[2] ? endOf(range[2]) : null }
      : operator === undefined
        ? { from: one, to: date.test(one) ? endOf(one) : null }
        : operator.startsWith(">")
          ? { from: one, to: null }
          : { from: null, to: operator === "<=" ? endOf(one) : one };
  if (bounds.from === null && bounds.to === null) return { problem: "has no time", fix: advice };
  for (const bound of [bounds.from, bounds.to]) {
    if (bound !== null && !isWhen(bound)) {
      const forgot = /^(?:\d{1,6}[smhdw])+$/.test(bound) ? `Did you mean -${bound}?` : advice;
      return { problem: `"${shorten(bound)}" is no time`, fix: forgot };
    }
  }
  if ((bounds.from !== null && span.from !== null) || (bounds.to !== null && span.to !== null))
    return { problem: "is given twice", fix: "One > and one < are enough." };
  span.from ??= bounds.from;
  span.to ??= bounds.to;
  return null;
}

/** A day that is meant whole ends when the next begins. */
function endOf(text: string): string {
  if (!date.test(text) || !isWhen(text)) return text;
  const next = new Date(Date.parse(`${text}T00:00:00Z`) + 86_400_000).toISOString();
  return date.test(next.slice(0, 10)) ? next.slice(0, 10) : text;
}

export function isWhen(text: string): boolean {
  if (relative.test(text)) return seconds(text) <= 3_650 * 86_400;
  if (!date.test(text) && !moment.test(text)) return false;
  const at = Date.parse(date.test(text) ? `${text}T00:00:00Z` : text);
  // The 30th of February becomes a day of March.
  const is_day = Number.isFinite(at) && new Date(Date.parse(`${text.slice(0, 10)}T00:00:00Z`)).toISOString();
  return is_day !== false && is_day.startsWith(text.slice(0, 10)) && !text.startsWith("0000");
}

export function whenAt(text: string, now: Date, dayStart: DayStart = utcDay): Date {
  if (relative.test(text)) return new Date(now.getTime() - seconds(text) * 1000);
  if (!date.test(text)) return new Date(text);
  const [year = 1, month = 1, day = 1] = text.split("-").map(Number);
  return dayStart(year, month, day);
}

function seconds(text: string): number {
  return [...text.matchAll(/(\d+)([smhdw])/g)].reduce((sum, [, n, unit]) => sum + Number(n) * unit_s[unit!]!, 0);
}
