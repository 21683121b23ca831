// The files of a folder in the order of their keys, a page at a time, without reading folders that cannot hold any of the page. Links
// to files below the folder are listed, links to folders are not followed: they may go in circles.
import type { Dirent } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import path from "node:path";
import type { BlobEntry, BlobPage } from "../core/places/zones.js";
import { unavailableBlob } from "./blob_errors.js";
import { type ListOptions, pageLimit } from "./blob_store.js";
import { blobStat, isBelow } from "./disk_paths.js";
import { readablePrefix, readableProblem } from "./keys.js";

export async function listFolder(root: string, prefix: string, options: ListOptions = {}): Promise<BlobPage> {
  const wanted = readablePrefix(prefix);
  const limit = pageLimit(options.limit);
  const real_root = await realpath(root).catch(() => null);
  const entries: BlobEntry[] = [];
  if (real_root === null) return { entries, next: null };
  for await (const entry of walk(real_root, "", wanted, options.after ?? "", real_root)) {
    if (entries.length === limit) return { entries, next: entries.at(-1)!.key };
    entries.push(entry);
  }
  return { entries, next: null };
}

/** `at`: "" or "a/b/". */
async function* walk(
  folder: string,
  at: string,
  prefix: string,
  after: string,
  root: string,
): AsyncGenerator<BlobEntry> {
  for (const { key, is_folder } of await children(folder, at)) {
    if (is_folder) {
      const below = `${key}/`;
      const may_hold = below.startsWith(prefix) || prefix.startsWith(below);
      const is_past = after === "" || after.startsWith(below) || byBytes(below, after) > 0;
      if (may_hold && is_past) yield* walk(path.join(folder, path.basename(key)), below, prefix, after, root);
    } else if (key.startsWith(prefix) && (after === "" || byBytes(key, after) > 0)) {
      const entry = await entryOf(path.join(folder, path.basename(key)), key, root);
      if (entry !== null) yield entry;
    }
  }
}

async function children(folder: string, at: string): Promise<{ key: string; is_folder: boolean }[]> {
  let found: Dirent[];
  try {
    found = await readdir(folder, { withFileTypes: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw unavailableBlob("list", at, error);
  }
  return found
    .map((one) => ({
      key: at + one.name,
      is_folder: one.isDirectory(),
      is_listed: one.isDirectory() || one.isFile() || one.isSymbolicLink(),
    }))
    .filter(({ key, is_listed }) => is_listed && readableProblem(key) === null)
    .sort((a, b) => byBytes(a.is_folder ? `${a.key}/` : a.key, b.is_folder ? `${b.key}/` : b.key));
}

/** null for what is gone by now, and for links that lead out or to no file. */
async function entryOf(file: string, key: string, root: string): Promise<BlobEntry | null> {
  try {
    const real = await realpath(file);
    if (!isBelow(root, real)) return null;
    const found = await stat(real, { bigint: true });
    return found.isFile() ? { key, ...blobStat(found) } : null;
  } catch {
    return null;
  }
}

/** The order that S3 lists in. */
function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
