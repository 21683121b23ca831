// The conditional and partial parts of HTTP (RFC 9110) for one file: which bytes are asked for, and whether they are needed at all.
// Pure.

export type Wanted = { kind: "whole" } | { kind: "part"; from: number; to: number } | { kind: "unsatisfiable" };

/** One range; several, or what is none, are answered with the whole, as the standard allows. */
export function wantedBytes(range: string | undefined, bytes: number): Wanted {
  const [, first, last] = /^bytes *= *(\d{0,15})-(\d{0,15})$/i.exec(range?.trim() ?? "") ?? [];
  if (first === undefined || last === undefined || first + last === "") return { kind: "whole" };
  if (first === "") {
    // The last so many.
    const count = Math.min(Number(last), bytes);
    return count === 0 ? { kind: "unsatisfiable" } : { kind: "part", from: bytes - count, to: bytes - 1 };
  }
  const from = Number(first);
  if (last !== "" && Number(last) < from) return { kind: "whole" };
  if (from >= bytes) return { kind: "unsatisfiable" };
  return { kind: "part", from, to: last === "" ? bytes - 1 : Math.min(Number(last), bytes - 1) };
}

/** What a caller says about the file it knows, as the headers of a request have it. */
export interface Conditions {
  "if-match"?: string | undefined;
  "if-unmodified-since"?: string | undefined;
  "if-none-match"?: string | undefined;
  "if-modified-since"?: string | undefined;
}

/** In the order of RFC 9110, 13.2.2: a tag counts before a date, and what must be before what need not be. */
export function conditionsOf(asked: Conditions, etag: string, modified_ms: number): "send" | "not_modified" | "failed" {
  const { "if-match": match, "if-none-match": none_match } = asked;
  // Dates in HTTP have whole seconds.
  const modified = Math.floor(modified_ms / 1000) * 1000;
  if (match !== undefined) {
    // A weak tag is never the same file for sure.
    if (match.trim() !== "*" && !match.split(",").some((one) => one.trim() === etag)) return "failed";
  } else {
    const unmodified_since = dateOf(asked["if-unmodified-since"]);
    if (unmodified_since !== null && modified > unmodified_since) return "failed";
  }
  if (none_match !== undefined) return isKnown(none_match, etag) ? "not_modified" : "send";
  const modified_since = dateOf(asked["if-modified-since"]);
  return modified_since !== null && modified <= modified_since ? "not_modified" : "send";
}

/** What is no date is as if it were not there. */
function dateOf(text: string | undefined): number | null {
  const ms = text === undefined || !/\bGMT$/.test(text.trim()) ? Number.NaN : Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}

/** If-None-Match: weak comparison. */
export function isKnown(if_none_match: string | undefined, etag: string): boolean {
  if (if_none_match === undefined) return false;
  if (if_none_match.trim() === "*") return true;
  return if_none_match.split(",").some((one) => one.trim().replace(/^W\//, "") === etag);
}

/** If-Range: a part only of the very file that the caller has the rest of; a date is none. */
export function isSameFile(if_range: string | undefined, etag: string): boolean {
  return if_range === undefined || if_range.trim() === etag;
}
