// When a raster's content was observed: what the caller says, else the item it comes from, else the file itself, else the time the
// file was written, which is said to be an assumption. Pure.
import type { Finding } from "../../geo/raster.js";
import type { ItemTime } from "./facts.js";

export interface GivenTime {
  datetime?: string;
  start_datetime?: string;
  end_datetime?: string;
  /** Of the item or the job that the file comes from. */
  time?: ItemTime;
}

export function itemTime(
  given: GivenTime,
  metadata: Readonly<Record<string, string>>,
  modified_at: string,
): { time: ItemTime; findings: Finding[] } {
  const { datetime, start_datetime, end_datetime } = given;
  if (datetime !== undefined) return { time: { datetime, from: "given" }, findings: [] };
  if (start_datetime !== undefined && end_datetime !== undefined) {
    return { time: { datetime: null, start_datetime, end_datetime, from: "given" }, findings: [] };
  }
  if (given.time !== undefined) return { time: given.time, findings: [] };
  const own = tiffTime(metadata.TIFFTAG_DATETIME ?? "");
  if (own !== null) return { time: { datetime: own, from: "file" }, findings: [] };
  const message = `The file does not say when it was observed; ${modified_at}, when it was written, is taken for it.`;
  return {
    time: { datetime: modified_at, from: "modified" },
    findings: [
      {
        ...{ code: "datetime_assumed", severity: "warning", message },
        hint: "Give datetime, or start_datetime and end_datetime.",
      },
    ],
  };
}

/** TIFF writes 2024:01:31 12:00:00, without an offset: UTC, for want of better. */
function tiffTime(text: string): string | null {
  const parts = /^(\d{4}):(\d\d):(\d\d) (\d\d):(\d\d):(\d\d)$/.exec(text.trim());
  if (parts === null) return null;
  const [, year, month, day, ...clock] = parts;
  const time = new Date(`${year}-${month}-${day}T${clock.join(":")}Z`);
  // A day there is not would be moved into the next month.
  if (Number.isNaN(time.getTime()) || time.getUTCDate() !== Number(day) || year === "0000") return null;
  return time.toISOString();
}
