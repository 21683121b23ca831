// Moments as climate and weather files write them: a number and "hours since 1900-01-01 00:00:00". Pure.
import { parseMoment } from "../stac_dates.js";

const seconds_of: readonly [RegExp, number][] = [
  [/^(milliseconds?|millisecs?|msecs?|ms)$/i, 0.001],
  [/^(seconds?|secs?|s)$/i, 1],
  [/^(minutes?|mins?)$/i, 60],
  [/^(hours?|hrs?|h)$/i, 3600],
  [/^(days?|d)$/i, 86_400],
];

/** Calendars in which a day of the file is a day of ours; what is counted without leap years has days that never were. */
const civil = /^(|standard|gregorian|proleptic_gregorian)$/i;

/** null: no number, units of another kind, or a calendar that is not the civil one. */
export function cfMoment(value: number, units: string, calendar = ""): string | null {
  const [, unit = "", since = ""] = /^\s*(\w+)\s+since\s+(.+?)\s*$/i.exec(units) ?? [];
  const seconds = seconds_of.find(([name]) => name.test(unit))?.[1];
  const origin = originOf(since);
  if (seconds === undefined || origin === null || !Number.isFinite(value) || !civil.test(calendar)) return null;
  const time = new Date(origin + Math.round(value * seconds * 1000));
  return Number.isNaN(time.getTime()) ? null : parseMoment(time.toISOString().replace(".000Z", "Z"));
}

/** As people write it: with or without a time, a T, seconds, an offset; single digits, too. */
function originOf(text: string): number | null {
  const parts =
    /^(\d{1,4})-(\d{1,2})-(\d{1,2})(?:[T ]+(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.\d*)?)?)?\s*(?:Z|UTC|[+-]00?:?00)?$/i.exec(
      text,
    );
  if (parts === null) return null;
  const [year, month, day, hour, minute, second] = parts.slice(1).map((part) => Number(part ?? 0));
  const time = Date.UTC(2000, month! - 1, day, hour, minute, second);
  // Date.UTC takes years below 100 for those of the last century.
  return Number.isNaN(time) ? null : new Date(time).setUTCFullYear(year!, month! - 1, day);
}
