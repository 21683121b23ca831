// Files of isolated handlers that are another user's. The worker is root where there are such, and their owner may change what lies
// in the folder while it is looked at: so nothing is opened by a path that leads through it, only from the folder that is open.
import { randomUUID } from "node:crypto";
import { chmodSync, chownSync, constants, mkdirSync } from "node:fs";
import { type FileHandle, open, readdir, rename, rm, rmdir, unlink } from "node:fs/promises";
import { dirname } from "node:path";

/** Each lifts what is left by one folder. A process that still adds to it does not keep the worker busy for ever. */
const most_passes = 100_000;

/** A folder for this user alone, in one that can be passed through. */
export function makeFolderOf(uid: number, dir: string): void {
  mkdirSync(dirname(dir), { recursive: true });
  chmodSync(dirname(dir), 0o711);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  chownSync(dir, uid, uid);
}

/** With everything in it, whoever's it is. The folder that `dir` lies in must be the worker's own. */
export async function removeFolder(dir: string): Promise<void> {
  if (process.platform !== "linux" || process.getuid?.() !== 0) {
    await rm(dir, { recursive: true, force: true });
    return;
  }
  const root = await openFolder(dir);
  if (root === null) return;
  try {
    await empty(root);
  } finally {
    await root.close();
  }
  await rmdir(dir);
}

/** What lies deeper comes up before it is removed, so that no depth is too much and two folders are open at most. */
async function empty(root: FileHandle): Promise<void> {
  for (let pass = 0; pass < most_passes; pass++) {
    const paths = await pathsIn(root);
    if (paths.length === 0) return;
    for (const path of paths) {
      if (await isUnlinked(path)) continue;
      const folder = await openFolder(path);
      if (folder === null) continue;
      try {
        for (const inner of await pathsIn(folder)) {
          if (!(await isUnlinked(inner))) await rename(inner, inFolder(root, Buffer.from(randomUUID())));
        }
      } finally {
        await folder.close();
      }
      await rmdir(path);
    }
  }
}

/** As bytes: a name need not be text. */
async function pathsIn(folder: FileHandle): Promise<Buffer[]> {
  const names = await readdir(inFolder(folder), { encoding: "buffer" });
  return names.map((name) => inFolder(folder, name));
}

/** The system goes to the folder that is open, wherever it has been moved to and whatever has its name now. */
function inFolder({ fd }: FileHandle, name: Uint8Array = Buffer.of()): Buffer {
  return Buffer.concat([Buffer.from(`/proc/self/fd/${fd}/`), name]);
}

/** False for a folder. */
async function isUnlinked(path: Buffer): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return true;
    if (code === "EISDIR") return false;
    throw error;
  }
}

/** null: it is not there, or no longer a folder. */
async function openFolder(path: string | Buffer): Promise<FileHandle | null> {
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  return open(path, flags).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR" || error.code === "ELOOP") return null;
    throw error;
  });
}
