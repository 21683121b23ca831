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
