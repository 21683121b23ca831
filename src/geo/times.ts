// Moments as STAC and CQL2 write them. Pure.

const moment = /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.\d{1,20})?([Zz]|[+-]\d\d:\d\d)$/;
const day = /^(\d{4})-(\d\d)-(\d\d)$/;

/** RFC 3339, a date and a time with its offset, of a day there is. */
export function isMoment(text: unknown): text is string {
  if (typeof text !== "string") return false;
  const parts = moment.exec(text);
  if (parts === null) return false;
  const [hours, minutes, seconds] = parts.slice(4, 7).map(Number) as [number, number, number];
  const offset_is_right =
    parts[7]!.length === 1 || (Number(parts[7]!.slice(1, 3)) < 15 && Number(parts[7]!.slice(4)) < 60);
  // 60 is a leap second.
  return isDay(text.slice(0, 10)) && hours < 24 && minutes < 60 && seconds <= 60 && offset_is_right;
}

/** A day there is, of the years 1 to 9999. */
export function isDay(text: unknown): text is string {
  if (typeof text !== "string") return false;
  const parts = day.exec(text);
  if (parts === null) return false;
  const [year, month, number] = parts.slice(1).map(Number) as [number, number, number];
  if (year < 1 || month < 1 || month > 12) return false;
  // The day before the first of the next month.
  const last = new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
  return number >= 1 && number <= last;
}
