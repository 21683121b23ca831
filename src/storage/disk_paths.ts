// From a key to a file below a folder, and never elsewhere: a link may point to another place below the same folder, but none leads
// out of it. Devices, pipes and sockets are no files. Touches the file system only to look.
import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readlink, realpath } from "node:fs/promises";
import path from "node:path";
import type { BlobStat } from "../core/places/zones.js";
import { missingBlob, refusedBlob, unavailableBlob } from "./blob_errors.js";
import { readableSegments } from "./keys.js";

const outside = "a link on the way leads out of the zone";
const no_file = "it is not a plain file";

export class DiskPaths {
  readonly root: string;

  constructor(dir: string) {
    this.root = path.resolve(dir);
  }

  /** Where a key's file lies, if no link is on the way. */
  of(key: string): string {
    return path.join(this.root, ...readableSegments(key));
  }

  /** null where there is nothing. Throws StorageError for what must not be opened. */
  async open(key: string): Promise<{ handle: FileHandle; stat: BigIntStats } | null> {
    const real = await this.#real(key);
    if (real === null) return null;
    let handle: FileHandle;
    try {
      // Not blocking, because a pipe would wait for a writer; not following, because the last part may have become a link since.
      handle = await open(real, constants.O_RDONLY | constants.O_NONBLOCK | (constants.O_NOFOLLOW ?? 0));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" || code === "ENOTDIR") return null;
      if (code === "ELOOP") throw refusedBlob(key, outside);
      // A socket.
      if (code === "ENXIO" || code === "ENODEV") throw refusedBlob(key, no_file);
      throw unavailableBlob("read", key, error);
    }
    try {
      const stat = await handle.stat({ bigint: true });
      if (stat.isDirectory()) {
        await handle.close();
        return null;
      }
      if (!stat.isFile()) throw refusedBlob(key, no_file);
      await this.#assertInside(handle, key);
      return { handle, stat };
    } catch (error) {
      await handle.close().catch(() => {});
      throw unavailableBlob("read", key, error);
    }
  }

  /** Makes the folders above a key's file and gives its path, proven to be below the root. */
  async makeRoom(key: string): Promise<string> {
    const file = this.of(key);
    const folder = path.dirname(file);
    try {
      // Looked at before anything is made: mkdir would follow a link.
      await this.#assertFoldersInside(key);
      await mkdir(folder, { recursive: true });
      const real = await realpath(folder);
      if (!isBelow(await realpath(this.root), real)) throw refusedBlob(key, outside);
      const there = await lstat(path.join(real, path.basename(file))).catch(() => null);
      if (there !== null && !there.isFile()) throw refusedBlob(key, there.isDirectory() ? "it is a folder" : no_file);
      return path.join(real, path.basename(file));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOTDIR" || code === "EEXIST") throw refusedBlob(key, "a part of it is a file already");
      throw error;
    }
  }

  /** The file itself, to remove it: a link is removed, not what it leads to. null where there is nothing. */
  async removable(key: string): Promise<string | null> {
    const file = this.of(key);
    try {
      const folder = await realpath(path.dirname(file));
      if (!isBelow(await realpath(this.root), folder)) throw refusedBlob(key, outside);
      const found = path.join(folder, path.basename(file));
      return (await lstat(found)).isDirectory() ? null : found;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" || code === "ENOTDIR") return null;
      throw unavailableBlob("remove", key, error);
    }
  }

  async #real(key: string): Promise<string | null> {
    const file = this.of(key);
    try {
      const [root, real] = [await realpath(this.root), await realpath(file)];
      if (!isBelow(root, real)) throw refusedBlob(key, outside);
      return real;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" || code === "ENOTDIR") return null;
      if (code === "ELOOP") throw refusedBlob(key, "its links go in a circle");
      throw unavailableBlob("read", key, error);
    }
  }

  /** The nearest folder that is there already. */
  async #assertFoldersInside(key: string): Promise<void> {
    const root = await realpath(this.root).catch(() => null);
    if (root === null) return;
    for (let folder = path.dirname(this.of(key)); folder !== this.root; folder = path.dirname(folder)) {
      const real = await realpath(folder).catch(() => null);
      if (real === null) continue;
      if (!isBelow(root, real)) throw refusedBlob(key, outside);
      return;
    }
  }

  /** What was opened, not what the path meant a moment ago: where the system can tell. */
  async #assertInside(handle: FileHandle, key: string): Promise<void> {
    const opened = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => null);
    if (opened === null || !path.isAbsolute(opened)) return;
    // Replaced or removed since it was opened: that is the race that any reader may have, not a way out.
    const name = opened.endsWith(" (deleted)") ? opened.slice(0, -" (deleted)".length) : opened;
    if (!isBelow(await realpath(this.root), name)) throw refusedBlob(key, outside);
  }
}

export function isBelow(root: string, file: string): boolean {
  return file === root || file.startsWith(root.endsWith(path.sep) ? root : root + path.sep);
}

export function assertThere<T>(found: T | null, key: string): T {
  if (found === null) throw missingBlob(key);
  return found;
}

export function blobStat(found: BigIntStats): BlobStat {
  const { size, mtimeNs, ino, mtime } = found;
  return {
    bytes: Number(size),
    etag: `${size.toString(36)}-${mtimeNs.toString(36)}-${ino.toString(36)}`,
    modified_at: mtime.toISOString(),
  };
}
