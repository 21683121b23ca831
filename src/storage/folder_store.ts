// Large things in a folder. A file appears under its key whole or not at all, and is read back only if size and checksum
// are those of its reference. Touches the file system below its folder, nothing else.
import { createHash, randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import path from "node:path";
import { StorageError } from "../core/errors/errors.js";
import { quoted } from "../core/errors/problems.js";
import type { Ref, Store } from "../core/places/store.js";
import { openDiskBlobs } from "./disk_blobs.js";
import { keySegments } from "./keys.js";

/** Half-written files; no key can start with a dot, so none can name one. */
const partial = ".partial";
const piece_bytes = 1024 * 1024;

/** The folder is made when the first file is put. */
export function openFolderStore(dir: string): Store {
  const root = path.resolve(dir);
  const fileOf = (key: string) => path.join(root, ...keySegments(key));
  return {
    blobs: openDiskBlobs(root),
    put: (key, content) => putStream(root, key, whole(content)),
    putStream: (key, pieces) => putStream(root, key, pieces),
    get: (ref) => get(fileOf, ref),
    getStream: (ref) => getStream(fileOf, ref),
    remove: async (key) => {
      const file = fileOf(key);
      await rm(file, { force: true }).catch((error: unknown) => {
        throw unavailable("remove", key, error);
      });
    },
  };
}

async function* whole(content: Uint8Array | string): AsyncGenerator<Uint8Array | string> {
  yield content;
}

async function putStream(root: string, key: string, pieces: AsyncIterable<Uint8Array | string>): Promise<Ref> {
  const file = path.join(root, ...keySegments(key));
  const half = path.join(root, partial, randomUUID());
  const source = new Source(pieces);
  try {
    await mkdir(path.dirname(half), { recursive: true });
    await mkdir(path.dirname(file), { recursive: true });
    const written = await writeDurably(half, source);
    await rename(half, file);
    await syncFolder(path.dirname(file));
    return { store: "file", key, ...written };
  } catch (error) {
    await rm(half, { force: true }).catch(() => {});
    // What went wrong where the pieces come from is not the store's.
    throw source.failed ? error : unavailable("write", key, error);
  }
}

/** Remembers whether it was the pieces that failed, and not the writing. */
class Source {
  failed = false;

  constructor(private readonly pieces: AsyncIterable<Uint8Array | string>) {}

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    const encoder = new TextEncoder();
    const all = this.pieces[Symbol.asyncIterator]();
    let done = false;
    try {
      for (;;) {
        this.failed = true;
        const next = await all.next();
        this.failed = false;
        if (next.done === true) {
          done = true;
          return;
        }
        yield typeof next.value === "string" ? encoder.encode(next.value) : next.value;
      }
    } finally {
      if (!done && !this.failed) await all.return?.();
    }
  }
}

/** Without the sync, a power cut could leave an empty file under a name that a committed row refers to. */
async function writeDurably(file: string, pieces: AsyncIterable<Uint8Array>): Promise<Pick<Ref, "bytes" | "sha256">> {
  const handle = await open(file, "wx");
  const hash = createHash("sha256");
  let bytes = 0;
  try {
    for await (const piece of pieces) {
      // Hashed before it is written: while it is, its owner might use the memory for the next.
      hash.update(piece);
      bytes += piece.byteLength;
      await handle.writeFile(piece);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  return { bytes, sha256: hash.digest("hex") };
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

async function get(fileOf: (key: string) => string, ref: Ref): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of getStream(fileOf, ref)) pieces.push(piece);
  return pieces.length === 1 ? Buffer.from(pieces[0]!.buffer, pieces[0]!.byteOffset, ref.bytes) : Buffer.concat(pieces);
}

async function* getStream(fileOf: (key: string) => string, ref: Ref): AsyncGenerator<Uint8Array> {
  if (ref.store !== "file") {
    throw new StorageError(
      "bad_key",
      `The reference ${quoted(ref.key)} belongs to store ${quoted(ref.store)}, not to a folder.`,
      {
        hint: "Open the store it was written to.",
      },
    );
  }
  const file = fileOf(ref.key);
  const handle = await openFile(file, ref);
  try {
    const hash = createHash("sha256");
    let bytes = 0;
    for await (const piece of checkedPieces(handle, ref, file)) {
      bytes += piece.byteLength;
      hash.update(piece);
      yield piece;
    }
    if (bytes !== ref.bytes) throw altered(ref, file, `${bytes} bytes`);
    const digest = hash.digest("hex");
    if (digest !== ref.sha256) throw altered(ref, file, `sha256 ${digest}`);
  } finally {
    await handle.close();
  }
}

async function openFile(file: string, ref: Ref): Promise<FileHandle> {
  try {
    // Not blocking: a pipe in the file's place would wait for a writer for ever.
    return await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "ENOTDIR") throw missing(ref, file);
    throw unavailable("read", ref.key, error);
  }
}

/** The file, a megabyte at a time. */
async function* checkedPieces(handle: FileHandle, ref: Ref, file: string): AsyncGenerator<Uint8Array> {
  try {
    // Looked at before it is read: whatever took the file's place may be of any size.
    const found = await handle.stat();
    if (!found.isFile()) throw altered(ref, file, "something that is not a file");
    if (found.size !== ref.bytes) throw altered(ref, file, `${found.size} bytes`);
    for (let at = 0; at < ref.bytes; ) {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(Math.min(piece_bytes, ref.bytes - at)));
      if (bytesRead === 0) return;
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } catch (error) {
    throw error instanceof StorageError ? error : unavailable("read", ref.key, error);
  }
}

function missing(ref: Ref, file: string): StorageError {
  return new StorageError("missing", `The stored file ${named(ref.key)} (${expected(ref)}) is not there.`, {
    seen: { file },
    hint: "Restore the file from a backup, mount the folder it lies in, or run the task again that wrote it.",
  });
}

function altered(ref: Ref, file: string, found: string): StorageError {
  const message = `The stored file ${named(ref.key)} is not what was written: expected ${expected(ref)}.`;
  return new StorageError("altered", message, {
    seen: { file, found },
    hint: "Restore the file from a backup, or run the task again that wrote it.",
  });
}

function unavailable(verb: string, key: string, error: unknown): StorageError {
  // What the system says names folders of this machine: the cause keeps it for the log.
  const why = (error as NodeJS.ErrnoException)?.code ?? "unexpected";
  return new StorageError("unavailable", `Cannot ${verb} the stored file ${named(key)} (${why}).`, {
    seen: { why: error instanceof Error ? error.message : String(error) },
    hint: "Check that the folder exists, may be written, and has room.",
    cause: error,
  });
}

function expected({ bytes, sha256: digest }: Ref): string {
  return `${bytes} bytes, sha256 ${digest}`;
}

/** In full, unlike what is quoted of input: the store has taken the key, and it is how the file is found. */
function named(key: string): string {
  return `"${key}"`;
}
