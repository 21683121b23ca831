// Large things in a folder. A file appears under its key whole or not at all, and is read back only if size and checksum
// are those of its reference. Touches the file system below its folder, nothing else.
import { createHash, randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import path from "node:path";
import { StorageError } from "../core/errors.js";
import { quoted } from "../core/problems.js";
import type { Ref, Store } from "../core/store.js";
import { keySegments } from "./keys.js";

/** Half-written files; no key can start with a dot, so none can name one. */
const partial = ".partial";

/** The folder is made when the first file is put. */
export function openFolderStore(dir: string): Store {
  const root = path.resolve(dir);
  const fileOf = (key: string) => path.join(root, ...keySegments(key));
  return {
    reopen: { kind: "folder", dir: root },
    put: (key, content) => put(root, key, content),
    get: (ref) => get(fileOf, ref),
    remove: async (key) => {
      const file = fileOf(key);
      await rm(file, { force: true }).catch((error: unknown) => {
        throw unavailable("remove", key, error);
      });
    },
  };
}

async function put(root: string, key: string, content: Uint8Array | string): Promise<Ref> {
  const file = path.join(root, ...keySegments(key));
  const bytes = typeof content === "string" ? Buffer.from(content, "utf8") : content;
  const half = path.join(root, partial, randomUUID());
  try {
    await mkdir(path.dirname(half), { recursive: true });
    await mkdir(path.dirname(file), { recursive: true });
    await writeDurably(half, bytes);
    await rename(half, file);
    await syncFolder(path.dirname(file));
  } catch (error) {
    await rm(half, { force: true }).catch(() => {});
    throw unavailable("write", key, error);
  }
  return { store: "file", key, bytes: bytes.byteLength, sha256: sha256(bytes) };
}

/** Without the sync, a power cut could leave an empty file under a name that a committed row refers to. */
async function writeDurably(file: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(file, "wx");
  try {
    await handle.writeFile(bytes);
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

async function get(fileOf: (key: string) => string, ref: Ref): Promise<Buffer> {
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
  let handle: FileHandle;
  try {
    // Not blocking: a pipe in the file's place would wait for a writer for ever.
    handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "ENOTDIR") throw missing(ref, file);
    throw unavailable("read", ref.key, error);
  }
  try {
    // Looked at before it is read: whatever took the file's place may be of any size.
    const found = await handle.stat();
    if (!found.isFile()) throw altered(ref, file, "something that is not a file");
    if (found.size !== ref.bytes) throw altered(ref, file, `${found.size} bytes`);
    const bytes = await handle.readFile();
    if (bytes.byteLength !== ref.bytes) throw altered(ref, file, `${bytes.byteLength} bytes`);
    const digest = sha256(bytes);
    if (digest !== ref.sha256) throw altered(ref, file, `sha256 ${digest}`);
    return bytes;
  } catch (error) {
    throw error instanceof StorageError ? error : unavailable("read", ref.key, error);
  } finally {
    await handle.close();
  }
}

function missing(ref: Ref, file: string): StorageError {
  return new StorageError("missing", `The stored file ${quoted(ref.key)} (${expected(ref)}) is not there: ${file}`, {
    hint: "Restore the file from a backup, mount the folder it lies in, or run the task again that wrote it.",
  });
}

function altered(ref: Ref, file: string, found: string): StorageError {
  const message = `The stored file ${quoted(ref.key)} is not what was written: expected ${expected(ref)}, found ${found}: ${file}`;
  return new StorageError("altered", message, {
    hint: "Restore the file from a backup, or run the task again that wrote it.",
  });
}

function unavailable(verb: string, key: string, error: unknown): StorageError {
  const why = error instanceof Error ? error.message : String(error);
  return new StorageError("unavailable", `Cannot ${verb} the stored file ${quoted(key)}: ${why}`, {
    hint: "Check that the folder exists, may be written, and has room.",
    cause: error,
  });
}

function expected({ bytes, sha256: digest }: Ref): string {
  return `${bytes} bytes, sha256 ${digest}`;
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
