// When a raster was taken: as given, else as its file name says, else as far as is known; never made up without saying so. STAC
// wants a moment, or null with a start and an end. Pure.
import type { Problem } from "../core/errors/problems.js";
import { quoted } from "../core/errors/problems.js";

export interface ItemDates {
  datetime: string | null;
  start_datetime?: string;
  end_datetime?: string;
  /** Where it comes from; `item`: of the item that the source is an asset of. */
  source: "parameter" | "item" | "file_name" | "file" | "fallback";
}

export interface GivenDates {
  datetime?: string | null;
  start_datetime?: string | null;
  end_datetime?: string | null;
}

/** Parameters win over the file name; `fallback` is a moment that the caller knows, such as when the source was stored. */
export function itemDates(
  given: GivenDates,
  file_name: string,
  fallback: string,
): { dates: ItemDates; problems: Problem[] } {
  const problems: Problem[] = [];
  const parsed = (name: keyof GivenDates) => {
    const text = given[name];
    if (text === null || text === undefined || text === "") return null;
    const moment = parseMoment(text);
    if (!moment)
      problems.push({
        path: `$.${name}`,
        problem: `${quoted(text)} is not a moment`,
        fix: "write it as 2024-01-31T10:30:00Z",
      });
    return moment;
  };
  const [datetime, start, end] = [parsed("datetime"), parsed("start_datetime"), parsed("end_datetime")];
  if (start && end && start > end) {
    problems.push({ path: "$.end_datetime", problem: `${end} is before the start ${start}`, fix: "swap them" });
  }
  if ((start === null) !== (end === null) && problems.length === 0) {
    const missing = start === null ? "start_datetime" : "end_datetime";
    problems.push({
      path: `$.${missing}`,
      problem: "is missing: a range needs both ends",
      fix: "give both, or datetime alone",
    });
  }
  const range = start && end ? { start_datetime: start, end_datetime: end } : {};
  if (datetime || (start && end)) return { dates: { datetime, ...range, source: "parameter" }, problems };
  const named = fileNameDates(file_name);
  if (named) return { dates: { ...named, source: "file_name" }, problems };
  return { dates: { datetime: parseMoment(fallback) ?? fallback, source: "fallback" }, problems };
}

/** RFC 3339, or a day alone, which begins at midnight UTC. Null when it is no moment of the calendar. */
export function parseMoment(text: string): string | null {
  const match =
    /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(\.\d{1,9})?)?([Zz]|[+-]\d{2}:\d{2})?)?$/.exec(
      text.trim(),
    );
  if (!match) return null;
  const [, year, month, day, hour = "00", minute = "00", second = "00", fraction = "", zone = "Z"] = match;
  if (
    !isDay(Number(year), Number(month), Number(day)) ||
    Number(hour) > 23 ||
    Number(minute) > 59 ||
    Number(second) > 59
  )
    return null;
  const moment = new Date(
    `${year}-${month}-${day}T${hour}:${minute}:${second}${fraction.slice(0, 4)}${zone.toUpperCase()}`,
  );
  return Number.isNaN(moment.getTime()) ? null : shortIso(moment);
}

/** The first date in a name that can be one. Months and years alone are ranges. */
export function fileNameDates(file_name: string): Omit<ItemDates, "source"> | null {
  const name = file_name.split("/").at(-1) ?? "";
  const moment = /(?<!\d)((?:19|20)\d{2})(\d{2})(\d{2})[T_-]?(\d{2})(\d{2})(\d{2})(?!\d)/.exec(name);
  if (moment) {
    const [, year, month, day, hour, minute, second] = moment;
    const found = parseMoment(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
    if (found) return { datetime: found };
  }
  for (const pattern of [
    /(?<!\d)((?:19|20)\d{2})(\d{2})(\d{2})(?!\d)/g,
    /(?<!\d)((?:19|20)\d{2})[-_.](\d{2})[-_.](\d{2})(?!\d)/g,
  ]) {
    for (const [, year, month, day] of name.matchAll(pattern)) {
      const found = parseMoment(`${year}-${month}-${day}`);
      if (found) return { datetime: found };
    }
  }
  // Year and day of the year, as in the names of MODIS and VIIRS.
  const ordinal = /(?<!\d)((?:19|20)\d{2})(\d{3})(?!\d)/.exec(name);
  if (ordinal && Number(ordinal[2]) >= 1 && Number(ordinal[2]) <= 365) {
    return { datetime: shortIso(new Date(Date.UTC(Number(ordinal[1]), 0, Number(ordinal[2])))) };
  }
  const month = /(?<!\d)((?:19|20)\d{2})[-_](0[1-9]|1[0-2])(?!\d|[-_]\d{2}(?!\d))/.exec(name);
  if (month) return range(Number(month[1]), Number(month[2]) - 1, 1);
  const year = /(?<![\dA-Za-z])((?:19|20)\d{2})(?![\dA-Za-z])/.exec(name);
  return year ? range(Number(year[1]), 0, 12) : null;
}

function range(year: number, month: number, months: number): Omit<ItemDates, "source"> {
  const end = new Date(Date.UTC(year, month + months, 1) - 1000);
  return { datetime: null, start_datetime: shortIso(new Date(Date.UTC(year, month, 1))), end_datetime: shortIso(end) };
}

function isDay(year: number, month: number, day: number): boolean {
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

function shortIso(date: Date): string {
  return date.toISOString().replace(".000Z", "Z");
}
