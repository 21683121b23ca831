// When a raster's content was observed: what the caller says, else the item it comes from, else its name, else the file itself, else
// the time the file was written, which is told as an assumption. Pure.
import type { Finding } from "../../../geo/raster.js";
import { type GivenDates, type ItemDates, itemDates, parseMoment } from "../../../geo/stac_dates.js";

export interface KnownDates extends GivenDates {
  /** The dates of the item or the job that the file comes from. */
  dates?: ItemDates | undefined;
}

export function datesOf(
  given: KnownDates,
  source: string,
  metadata: Readonly<Record<string, string>>,
  modified_at: string,
): { dates: ItemDates; findings: Finding[] } {
  const { dates } = itemDates(given, source, modified_at);
  if (dates.source === "parameter") return { dates, findings: [] };
  if (given.dates !== undefined) return { dates: given.dates, findings: [] };
  if (dates.source !== "fallback") return { dates, findings: [] };
  const own = tiffMoment(metadata.TIFFTAG_DATETIME ?? "");
  if (own !== null) return { dates: { datetime: own, source: "file" }, findings: [] };
  const message = `Neither its name nor the file says when it was observed; ${dates.datetime}, when it was written, is taken for it.`;
  const hint = "Give datetime, or start_datetime and end_datetime.";
  return { dates, findings: [{ code: "datetime_assumed", severity: "warning", message, hint }] };
}

/** TIFF writes 2024:01:31 12:00:00, without an offset: UTC, for want of better. */
function tiffMoment(text: string): string | null {
  const parts = /^(\d{4}):(\d\d):(\d\d) (\d\d:\d\d:\d\d)$/.exec(text.trim());
  return parts === null ? null : parseMoment(`${parts[1]}-${parts[2]}-${parts[3]}T${parts[4]}Z`);
}
