// Where scratch directories are unless the operator says otherwise (among everybody's temporary files, but each user's own), and
// the sweep of those that workers of this machine left when they died. A worker that lives touches its own now and then; what has
// not been touched for a day, nor anything in it, is removed.
import { type Dirent, lstatSync, mkdirSync } from "node:fs";
import { lstat, readdir, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Logger } from "pino";
import { removeFolder } from "../isolation/owned_files.js";

/** The owner of the folder can change what tasks read and write there, so one that another user has made is refused. */
export function ownScratch(temporary = tmpdir(), uid = process.getuid?.()): string {
  const dir = join(temporary, `fanfold-scratch-${uid ?? "user"}`);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const { uid: owner } = lstatSync(dir);
  if (uid !== undefined && owner !== uid) {
    throw new Error(`scratch: ${dir} belongs to another user (uid ${owner}); remove it, or start with another TMPDIR`);
  }
  return dir;
}

/** <scratch_dir>/<worker id> */
const worker_id_pattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export async function sweepScratch(
  scratch_dir: string,
  own_id: string,
  older_than_ms: number,
  log: Logger,
): Promise<number> {
  const limit = Date.now() - older_than_ms;
  const now = new Date();
  // Made when a task first asks for it: there may be none.
  await utimes(join(scratch_dir, own_id), now, now).catch(() => {});
  let removed = 0;
  for (const found of await entries(scratch_dir)) {
    if (!found.isDirectory() || !worker_id_pattern.test(found.name) || found.name === own_id) continue;
    const dir = join(scratch_dir, found.name);
    if (await isUsed(dir, limit)) continue;
    try {
      await removeFolder(dir);
      removed++;
      log.info({ scratch: found.name }, "removed the scratch directory of a worker that is gone");
    } catch (error) {
      // Another user's.
      log.debug({ err: error, scratch: found.name }, "a scratch directory could not be removed");
    }
  }
  return removed;
}

/** Something in it, or itself, has changed since. */
async function isUsed(dir: string, limit: number): Promise<boolean> {
  const own = await lstat(dir).catch(() => null);
  if (own === null || own.mtimeMs >= limit) return own !== null;
  for (const found of await entries(dir)) {
    const path = join(dir, found.name);
    if (
      found.isDirectory() ? await isUsed(path, limit) : ((await lstat(path).catch(() => null))?.mtimeMs ?? 0) >= limit
    )
      return true;
  }
  return false;
}

async function entries(dir: string): Promise<Dirent[]> {
  return readdir(dir, { withFileTypes: true }).catch(() => []);
}
