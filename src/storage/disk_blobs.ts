// Files in a folder, with Node alone. A file is written beside, synced and renamed: it is there whole or not at all, also after a
// power cut. Half-written ones lie in .partial, which no key can name.
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { copyFile, type FileHandle, mkdir, open, readdir, rename, rm, rmdir, stat } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openArrivingFiles } from "./arriving_files.js";
import { unavailableBlob } from "./blob_errors.js";
import {
  type BlobStore,
  Measured,
  piece_bytes,
  type ReadOptions,
  type WriteOptions,
  type Written,
} from "./blob_store.js";
import { listFolder } from "./disk_listing.js";
import { assertThere, blobStat, DiskPaths } from "./disk_paths.js";

const partial = ".partial";

export interface DiskOptions {
  /** What stands before a key in a catalogue: fanfold://silver/ */
  href_base?: string;
}

/** The folder is made when the first file is written. */
export function openDiskBlobs(dir: string, { href_base = "fanfold://" }: DiskOptions = {}): BlobStore {
  const paths = new DiskPaths(dir);
  return {
    kind: "disk",
    place: paths.root,
    stat: async (key) => {
      const found = await paths.open(key);
      await found?.handle.close();
      return found === null ? null : blobStat(found.stat);
    },
    read: async (key, options) => {
      const { handle, stat } = assertThere(await paths.open(key), key);
      const close = once(() => handle.close());
      return { stat: blobStat(stat), pieces: piecesOf(handle, Number(stat.size), key, options, close), close };
    },
    write: (key, pieces, options) => write(paths, key, pieces, options),
    list: (prefix, options) => listFolder(paths.root, prefix, options),
    copy: (from, to) => copy(paths, from, to),
    remove: (key) => remove(paths, key),
    signedUrl: async (key) => {
      paths.of(key);
      return null;
    },
    signedPut: async (key) => {
      paths.of(key);
      return null;
    },
    href: (key) => href_base + key.split("/").map(encodeURIComponent).join("/"),
    arriving: openArrivingFiles(path.join(paths.root, partial), (key, half) => putInPlace(paths, key, half)),
  };
}

async function* piecesOf(
  handle: FileHandle,
  size: number,
  key: string,
  { offset = 0, length = size, signal }: ReadOptions = {},
  close: () => Promise<void>,
): AsyncGenerator<Uint8Array> {
  try {
    const end = Math.min(size, offset + length);
    for (let at = offset; at < end; ) {
      signal?.throwIfAborted();
      const wanted = Math.min(piece_bytes, end - at);
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(wanted), 0, wanted, at).catch((error) => {
        throw unavailableBlob("read", key, error);
      });
      if (bytesRead === 0) return;
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await close();
  }
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= work();
    return done;
  };
}

async function write(
  paths: DiskPaths,
  key: string,
  pieces: AsyncIterable<Uint8Array>,
  { signal }: WriteOptions = {},
): Promise<Written> {
  paths.of(key);
  const source = new Measured(pieces, signal);
  const half = path.join(paths.root, partial, randomUUID());
  try {
    await mkdir(path.dirname(half), { recursive: true });
    await writeDurably(half, source);
    const etag = await putInPlace(paths, key, half);
    return { bytes: source.bytes, sha256: source.sha256, etag };
  } catch (error) {
    await rm(half, { force: true }).catch(() => {});
    // What went wrong where the pieces come from is not the store's.
    throw source.failed ? error : unavailableBlob("write", key, error);
  }
}

async function writeDurably(file: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  const handle = await open(file, "wx");
  try {
    for await (const piece of pieces) await handle.writeFile(piece);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Gives the etag. */
async function putInPlace(paths: DiskPaths, key: string, half: string): Promise<string> {
  for (let tries = 1; ; tries++) {
    const file = await paths.makeRoom(key);
    try {
      await rename(half, file);
      await syncFolder(path.dirname(file));
      return blobStat(await stat(file, { bigint: true })).etag;
    } catch (error) {
      // Removing the last file of the folder has removed the folder with it.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" || tries === 5) throw error;
      await sleep(tries);
    }
  }
}

async function copy(paths: DiskPaths, from: string, to: string): Promise<void> {
  paths.of(to);
  const { handle } = assertThere(await paths.open(from), from);
  const half = path.join(paths.root, partial, randomUUID());
  try {
    await mkdir(path.dirname(half), { recursive: true });
    // By what was opened and looked at, where the system lets us: the name may mean something else by now.
    const opened = process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : paths.of(from);
    await copyFile(opened, half, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    await syncFile(half);
    await putInPlace(paths, to, half);
  } catch (error) {
    await rm(half, { force: true }).catch(() => {});
    throw unavailableBlob("copy", from, error);
  } finally {
    await handle.close();
  }
}

async function remove(paths: DiskPaths, key: string): Promise<void> {
  const file = await paths.removable(key);
  if (file === null) return;
  try {
    await rm(file, { force: true });
  } catch (error) {
    throw unavailableBlob("remove", key, error);
  }
  // Folders exist only as far as keys need them.
  for (let folder = path.dirname(paths.of(key)); folder !== paths.root; folder = path.dirname(folder)) {
    const emptied = await rmdir(folder).then(
      () => true,
      () => false,
    );
    if (!emptied) return;
  }
}

/** What writers that died have left behind; gives how many files there were. */
export async function removeOldPartials(dir: string, older_than: Date): Promise<number> {
  const folder = path.join(path.resolve(dir), partial);
  let removed = 0;
  for (const name of await readdir(folder).catch(() => [])) {
    const file = path.join(folder, name);
    const found = await stat(file).catch(() => null);
    if (found === null || !found.isFile() || found.mtime >= older_than) continue;
    await rm(file, { force: true }).catch(() => {});
    removed++;
  }
  return removed;
}

async function syncFile(file: string): Promise<void> {
  const handle = await open(file, "r+");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The rename itself is durable only once its folder is. Windows cannot open folders, and needs it not. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
