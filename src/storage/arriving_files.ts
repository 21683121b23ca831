// Files that come in parts over several calls, one part after the other: gathered beside the files of a folder, under a name that no key can have, and
// put in their place whole once all has arrived. What a caller that went away has sent stays, so that it can go on from there; what nobody goes
// on with is removed like any half-written file.
import { createHash } from "node:crypto";
import { type FileHandle, mkdir, open, rm } from "node:fs/promises";
import path from "node:path";
import { BadRequest, NotAllowedNow } from "../core/errors/errors.js";
import { unavailableBlob } from "./blob_errors.js";
import { Measured, piece_bytes } from "./blob_store.js";

export interface ArrivingPart {
  /** Where in the file it begins: at the end of what has arrived. */
  offset: number;
  /** The bytes of this part. */
  bytes: number;
  /** The bytes of the whole file. */
  total: number;
  /** The hash of the whole file, where it is known: another file is not taken. */
  sha256?: string | undefined;
  pieces: AsyncIterable<Uint8Array>;
}

export interface Arrived {
  received: number;
  /** The file is in its place. */
  complete: boolean;
  /** Where this part made it complete. */
  sha256: string | null;
}

export interface ArrivingFiles {
  /** How much of it has arrived. */
  received(key: string): Promise<number>;
  add(key: string, part: ArrivingPart): Promise<Arrived>;
}

/** One part of a file at a time in this process; between processes, a part that does not fit is refused by its offset. */
const under_way = new Set<string>();

export function openArrivingFiles(
  folder: string,
  putInPlace: (key: string, half: string) => Promise<unknown>,
): ArrivingFiles {
  const fileOf = (key: string) =>
    path.join(folder, `arriving-${createHash("sha256").update(key).digest("hex").slice(0, 40)}`);

  async function add(key: string, part: ArrivingPart): Promise<Arrived> {
    const half = fileOf(key);
    if (under_way.has(half)) {
      throw new NotAllowedNow("another part of this file is on its way", { hint: "send one part after the other" });
    }
    under_way.add(half);
    try {
      await mkdir(folder, { recursive: true });
      const source = new Measured(part.pieces);
      const handle = await opened(half);
      try {
        const begun = (await handle.stat()).size;
        if (begun !== part.offset) throw elsewhere(part.offset, begun);
        await write(handle, source, part);
        if (part.offset + part.bytes < part.total) {
          return { received: part.offset + part.bytes, complete: false, sha256: null };
        }
        await handle.sync();
        const sha256 = part.offset === 0 ? source.sha256 : await checksumOf(handle, part.total);
        if (part.sha256 !== undefined && sha256 !== part.sha256) {
          await rm(half, { force: true });
          throw altered(sha256, part.sha256);
        }
        await putInPlace(key, half);
        return { received: part.total, complete: true, sha256 };
      } catch (error) {
        if (source.failed) throw broken(error);
        throw isSystem(error) ? unavailableBlob("write", key, error) : error;
      } finally {
        await handle.close();
      }
    } finally {
      under_way.delete(half);
    }
  }

  return {
    add,
    async received(key) {
      const handle = await open(fileOf(key), "r").catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return null;
        throw unavailableBlob("look at", key, error);
      });
      if (handle === null) return 0;
      try {
        return (await handle.stat()).size;
      } finally {
        await handle.close();
      }
    },
  };
}

/** To be read and written, made if it is not there, never emptied. */
async function opened(file: string): Promise<FileHandle> {
  try {
    return await open(file, "r+");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return open(file, "w+");
  }
}

async function write(handle: FileHandle, source: Measured, { offset, bytes }: ArrivingPart): Promise<void> {
  let at = offset;
  for await (const piece of source) {
    if (at + piece.byteLength > offset + bytes) {
      // Nothing is kept of a part that is too long: which bytes are wrong cannot be known.
      await handle.truncate(offset);
      throw new BadRequest(`the part has more than the ${bytes} bytes that were announced`);
    }
    await handle.write(piece, 0, piece.byteLength, at);
    at += piece.byteLength;
  }
  if (at !== offset + bytes) {
    throw new BadRequest(`the part ended after ${at - offset} of ${bytes} bytes`, {
      hint: "ask how much has arrived, and go on from there",
    });
  }
}

async function checksumOf(handle: FileHandle, total: number): Promise<string> {
  const hash = createHash("sha256");
  const buffer = Buffer.allocUnsafe(piece_bytes);
  for (let at = 0; at < total; ) {
    const { bytesRead } = await handle.read(buffer, 0, Math.min(piece_bytes, total - at), at);
    if (bytesRead === 0) break;
    hash.update(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
  return hash.digest("hex");
}

function isSystem(error: unknown): boolean {
  const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException;
  return code !== undefined && syscall !== undefined;
}

function elsewhere(offset: number, begun: number): NotAllowedNow {
  return new NotAllowedNow(`the part begins at byte ${offset}, and ${begun} bytes have arrived`, {
    hint: "ask how much has arrived, and go on from there",
  });
}

function altered(found: string, wanted: string): BadRequest {
  return new BadRequest(`the file that has arrived has the SHA-256 ${found}, and ${wanted} was announced`, {
    hint: "it was not taken: send it again from its beginning",
  });
}

function broken(cause: unknown): BadRequest {
  return new BadRequest("the part broke off on its way", {
    hint: "ask how much has arrived, and go on from there",
    cause,
  });
}
