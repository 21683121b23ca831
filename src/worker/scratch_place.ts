// Where scratch directories are unless the operator says otherwise: among everybody's temporary files, but each user's own.
import { lstatSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Whoever owns the folder can change what tasks read and write there, so one that somebody else has made is refused. */
export function ownScratch(temporary = tmpdir(), uid = process.getuid?.()): string {
  const dir = join(temporary, `fanfold-scratch-${uid ?? "user"}`);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const { uid: owner } = lstatSync(dir);
  if (uid !== undefined && owner !== uid) {
    throw new Error(`scratch: ${dir} belongs to another user (uid ${owner}); remove it, or start with another TMPDIR`);
  }
  return dir;
}
