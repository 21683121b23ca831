// Large things in a bucket, a container or any other place of files: the same promises as a folder's. An object appears under its key whole or
// not at all, and is read back only if size and checksum are those of its reference.
import { createHash } from "node:crypto";
import { StorageError } from "../core/errors/errors.js";
import { quoted } from "../core/errors/problems.js";
import type { Ref, Store } from "../core/places/store.js";
import type { BlobStore } from "./blob_store.js";
import { keySegments } from "./keys.js";

/** The references say "file", as a folder's do: an operator who moves the files need not rewrite a row. */
export function openBlobFolder(blobs: BlobStore): Store {
  const put = async (key: string, pieces: AsyncIterable<Uint8Array | string>): Promise<Ref> => {
    keySegments(key);
    const { bytes, sha256 } = await blobs.write(key, asBytes(pieces));
    return { store: "file", key, bytes, sha256 };
  };
  return {
    blobs,
    put: (key, content) => put(key, whole(content)),
    putStream: put,
    get: async (ref) => {
      const pieces: Uint8Array[] = [];
      for await (const piece of getStream(blobs, ref)) pieces.push(piece);
      return Buffer.concat(pieces);
    },
    getStream: (ref) => getStream(blobs, ref),
    remove: async (key) => {
      keySegments(key);
      await blobs.remove(key);
    },
  };
}

async function* whole(content: Uint8Array | string): AsyncGenerator<Uint8Array | string> {
  yield content;
}

async function* asBytes(pieces: AsyncIterable<Uint8Array | string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const piece of pieces) yield typeof piece === "string" ? encoder.encode(piece) : piece;
}

async function* getStream(blobs: BlobStore, ref: Ref): AsyncGenerator<Uint8Array> {
  if (ref.store !== "file") {
    const problem = `The reference ${quoted(ref.key)} belongs to store ${quoted(ref.store)}, which is not open.`;
    throw new StorageError("bad_key", problem, { hint: "Open the store it was written to." });
  }
  keySegments(ref.key);
  const { stat, pieces, close } = await blobs.read(ref.key);
  try {
    if (stat.bytes !== ref.bytes) throw altered(ref, `${stat.bytes} bytes`);
    const hash = createHash("sha256");
    let bytes = 0;
    for await (const piece of pieces) {
      bytes += piece.byteLength;
      hash.update(piece);
      yield piece;
    }
    if (bytes !== ref.bytes) throw altered(ref, `${bytes} bytes`);
    const digest = hash.digest("hex");
    if (digest !== ref.sha256) throw altered(ref, `sha256 ${digest}`);
  } finally {
    await close();
  }
}

function altered(ref: Ref, found: string): StorageError {
  const expected = `${ref.bytes} bytes, sha256 ${ref.sha256}`;
  return new StorageError("altered", `The stored file "${ref.key}" is not what was written: expected ${expected}.`, {
    seen: { found },
    hint: "Restore the file from a backup, or run the task again that wrote it.",
  });
}
