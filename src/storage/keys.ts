// Which keys a store takes. Keys are built from ids; whatever could leave the folder, or name another file on another
// system, is refused. Pure.
import { StorageError } from "../core/errors/errors.js";
import { quoted } from "../core/errors/problems.js";

const max_key_bytes = 1024;
/** File systems stop at 255; the rest is for the temporary names of other stores. */
const max_segment_bytes = 200;
/** No dot first (hidden files, `.` and `..`), nothing a shell, URL or Windows path would read as something else. */
const segment_pattern = /^[A-Za-z0-9_][A-Za-z0-9_.=+@-]*$/;
const windows_devices = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)/i;

/** The key's segments, to be joined below the store's folder. Throws StorageError (bad_key). */
export function keySegments(key: unknown): string[] {
  if (typeof key !== "string" || key === "") throw refused(key, "a key is a text that is not empty");
  if (key.length > max_key_bytes) throw refused(key, `it has ${key.length} characters; the limit is ${max_key_bytes}`);
  const segments = key.split("/");
  for (const segment of segments) {
    if (!segment_pattern.test(segment)) throw refused(key, `${quoted(segment)} may not be part of a key`);
    if (segment.length > max_segment_bytes) throw refused(key, `a part of it is longer than ${max_segment_bytes}`);
    if (segment.endsWith(".") || windows_devices.test(segment)) {
      throw refused(key, `${quoted(segment)} means something else on Windows`);
    }
  }
  return segments;
}

/** C0 and C1 controls, and what would turn the line of a listing around. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
const unreadable = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/** The only files with a dot first that are data: what a Zarr store says of its arrays. */
const zarr_names = new Set([".zarray", ".zattrs", ".zgroup", ".zmetadata"]);

/**
 * For what others put into a zone: spaces, brackets and any script are fine; what could leave the prefix, hide, or mean
 * something else on another system is not. Throws StorageError (bad_key).
 */
export function readableSegments(key: unknown): string[] {
  const problem = readableProblem(key);
  if (problem !== null) throw refused(key, problem);
  return (key as string).split("/");
}

export function readableProblem(key: unknown): string | null {
  if (typeof key !== "string" || key === "") return "a key is a text that is not empty";
  const bytes = Buffer.byteLength(key);
  if (bytes > max_key_bytes) return `it has ${bytes} bytes; the limit is ${max_key_bytes}`;
  if (!key.isWellFormed()) return "it is not valid Unicode";
  if (unreadable.test(key)) return "it has control characters";
  if (key.includes("\\")) return "it has a backslash; parts are separated by /";
  if (/^[A-Za-z]:/.test(key)) return "it begins like a drive";
  for (const segment of key.split("/")) {
    if (segment === "") return "it has an empty part (a / at its beginning or end, or two together)";
    if (segment.startsWith(".") && !zarr_names.has(segment)) return `${quoted(segment)} begins with a dot`;
    if (Buffer.byteLength(segment) > 255) return "a part of it is longer than 255 bytes";
  }
  return null;
}

/** A prefix of keys to list: the beginning of a key, or nothing. Throws StorageError (bad_key). */
export function readablePrefix(prefix: unknown): string {
  if (prefix === "") return "";
  // "a/b/" and "a/b" are both beginnings of "a/b/c".
  const whole = typeof prefix === "string" && prefix.endsWith("/") ? prefix.slice(0, -1) : prefix;
  const problem = readableProblem(whole);
  if (problem !== null) throw refused(prefix, problem);
  return prefix as string;
}

function refused(key: unknown, why: string): StorageError {
  return new StorageError("bad_key", `The storage key ${quoted(key)} is refused: ${why}.`, {
    hint: "Build keys from ids: letters, digits, _ . = + @ - and / between parts.",
  });
}
