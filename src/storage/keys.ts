// Which keys a store takes. Keys are built from ids; whatever could leave the folder, or name another file on another
// system, is refused. Pure.
import { StorageError } from "../core/errors.js";
import { quoted } from "../core/problems.js";

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

function refused(key: unknown, why: string): StorageError {
  return new StorageError("bad_key", `The storage key ${quoted(key)} is refused: ${why}.`, {
    hint: "Build keys from ids: letters, digits, _ . = + @ - and / between parts.",
  });
}
