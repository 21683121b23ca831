// Opens a zip archive into a folder of the task's: only the kinds of files that are asked for, under names of ours, within limits on how
// many they are, how large, and how much larger than the archive. What an archive says of itself is not believed, it is counted.
import { createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Entry, openPromise } from "yauzl";
import { Permanent } from "../../../core/errors/errors.js";

export interface ArchiveLimits {
  files: number;
  bytes: number;
  /** Unpacked to packed, of an entry that is larger than `ratio_from`. */
  ratio: number;
  ratio_from: number;
}

export const archive_limits: ArchiveLimits = {
  files: 10_000,
  bytes: 20 * 2 ** 30,
  ratio: 200,
  ratio_from: 50 * 2 ** 20,
};

export interface ArchiveEntry {
  /** As the archive has it, checked: relative, without `..`. */
  name: string;
  bytes: number;
}

/** The files in it by name, without folders and what macOS puts beside. */
export async function listArchive(file: string, limits = archive_limits): Promise<ArchiveEntry[]> {
  const found: ArchiveEntry[] = [];
  let bytes = 0;
  await eachEntry(file, async (entry) => {
    if (!isFile(entry)) return;
    if (found.length === limits.files) throw bomb(`has more than ${limits.files} files`);
    bytes += entry.uncompressedSize;
    if (bytes > limits.bytes) throw bomb(`unpacks to more than ${Math.round(limits.bytes / 2 ** 20)} MB`);
    if (entry.uncompressedSize > limits.ratio_from && entry.uncompressedSize > entry.compressedSize * limits.ratio) {
      throw bomb(
        `has a file that unpacks to ${Math.round(entry.uncompressedSize / Math.max(1, entry.compressedSize))} times its size`,
      );
    }
    found.push({ name: entry.fileName, bytes: entry.uncompressedSize });
  });
  return found;
}

/** Unpacks what `place` gives a name for, below `folder`. */
export async function unpackArchive(
  file: string,
  folder: string,
  place: (name: string) => string | null,
  limits = archive_limits,
): Promise<void> {
  let left = limits.bytes;
  await eachEntry(file, async (entry, read) => {
    const target = isFile(entry) ? place(entry.fileName) : null;
    if (target === null) return;
    const path = join(folder, target);
    if (!path.startsWith(`${folder}/`)) throw unsafe(entry.fileName);
    await mkdir(dirname(path), { recursive: true });
    const counted = new Transform({
      transform(piece: Buffer, _, done) {
        left -= piece.length;
        done(left < 0 ? bomb(`unpacks to more than ${Math.round(limits.bytes / 2 ** 20)} MB`) : null, piece);
      },
    });
    await pipeline(await read(), counted, createWriteStream(path, { flags: "wx" }));
  });
}

type Reader = () => Promise<NodeJS.ReadableStream>;

async function eachEntry(file: string, visit: (entry: Entry, read: Reader) => Promise<void>): Promise<void> {
  // Names with `..`, a drive or a leading slash are refused by the library itself.
  const zip = await openPromise(file, { lazyEntries: true, autoClose: false }).catch((error: unknown) => {
    throw broken(error);
  });
  try {
    for await (const entry of zip.eachEntry()) {
      if (entry.isEncrypted()) {
        throw new Permanent("the archive is encrypted: give it without a password", { code: "archive_encrypted" });
      }
      await visit(entry, async () => zip.openReadStreamPromise(entry));
    }
  } catch (error) {
    throw error instanceof Permanent ? error : broken(error);
  } finally {
    zip.close();
  }
}

function isFile(entry: Entry): boolean {
  const name = entry.fileName;
  // The upper half holds the mode of Unix: a link would lead elsewhere.
  const kind = (entry.externalFileAttributes >>> 16) & 0o170000;
  if (kind === 0o120000) throw unsafe(name);
  return !name.endsWith("/") && !/(^|\/)(__MACOSX\/|\._|\.DS_Store$)/.test(name);
}

export function extensionOf(name: string): string {
  return extname(basename(name)).toLowerCase();
}

function bomb(what: string): Permanent {
  return new Permanent(`the archive ${what}: give smaller archives`, { code: "archive_too_large" });
}

function unsafe(name: string): Permanent {
  return new Permanent(`the archive has a file that would lead out of it: ${JSON.stringify(name.slice(0, 100))}`, {
    code: "archive_unsafe",
  });
}

function broken(error: unknown): Permanent {
  const message = error instanceof Error ? error.message : String(error);
  const code = /relative path|absolute path|invalid characters/.test(message) ? "archive_unsafe" : "archive_broken";
  return new Permanent(`the archive cannot be read: ${message.slice(0, 200)}`, { code, cause: error });
}
