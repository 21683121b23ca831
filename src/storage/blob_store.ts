// What a place for files offers, whatever it is: a folder, a bucket, a container. One store is one prefix there, and a key is
// always below it. An object appears under its key whole or not at all.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import type { BlobPage, BlobStat } from "../core/places/zones.js";
import type { ArrivingFiles } from "./arriving_files.js";

export type BlobKind = "disk" | "s3" | "azure";

export interface ReadOptions {
  /** Where to begin; 0 when left out. */
  offset?: number;
  /** How much at most; to the end when left out. */
  length?: number;
  signal?: AbortSignal | undefined;
}

export interface Reading {
  /** What is known of the whole object. */
  stat: BlobStat;
  pieces: AsyncIterable<Uint8Array>;
  /** It holds a file or a connection until it is read to the end or closed; closing twice is no error. */
  close(): Promise<void>;
}

export interface WriteOptions {
  media_type?: string;
  /** How large it will be, where that is known: services take a limited number of parts. */
  bytes?: number | undefined;
  signal?: AbortSignal | undefined;
}

export interface Written {
  bytes: number;
  sha256: string;
  etag: string;
}

export interface ListOptions {
  /** `next` of the page before. */
  after?: string | undefined;
  /** 1 to 1000. */
  limit?: number | undefined;
}

export interface SignOptions {
  expires_s: number;
  media_type?: string;
}

/** How anybody may write one object for a while: with these headers and no others of ours. */
export interface SignedPut {
  url: string;
  headers: Record<string, string>;
}

export interface BlobStore {
  readonly kind: BlobKind;
  /** Where it is, for people; never with a credential. */
  readonly place: string;
  /** null when there is no such object. */
  stat(key: string): Promise<BlobStat | null>;
  /** Throws StorageError (missing). Beyond the end there is nothing to read, which is no error. */
  read(key: string, options?: ReadOptions): Promise<Reading>;
  /** As it comes, of any size; in the place of what is there. If `pieces` throws, nothing is stored and the error is passed on. */
  write(key: string, pieces: AsyncIterable<Uint8Array>, options?: WriteOptions): Promise<Written>;
  /** In the order of the keys' UTF-8, those that begin with `prefix`. */
  list(prefix: string, options?: ListOptions): Promise<BlobPage>;
  /** Within the store, without the bytes coming here where the store can do that. */
  copy(from: string, to: string): Promise<void>;
  /** Removing what is not there is no error. */
  remove(key: string): Promise<void>;
  /** A URL with which anybody may read the object for a while; null where the store cannot make one. */
  signedUrl(key: string, options: SignOptions): Promise<string | null>;
  /** With which anybody may write the object, whole, for a while; null where the store cannot make one. */
  signedPut(key: string, options: SignOptions): Promise<SignedPut | null>;
  /** How a catalogue names the object. */
  href(key: string): string;
  /** Files that come in parts, over several calls, where the store can gather them. */
  readonly arriving?: ArrivingFiles;
}

export const max_page = 1000;
/** The bytes of one piece that is read or written. */
export const piece_bytes = 1024 * 1024;

/** The hash of what is there now, by reading it. */
export async function checksum(store: BlobStore, key: string, options: ReadOptions = {}) {
  const hash = createHash("sha256");
  let bytes = 0;
  const { stat, pieces, close } = await store.read(key, options);
  try {
    for await (const piece of pieces) {
      bytes += piece.byteLength;
      hash.update(piece);
    }
  } finally {
    await close();
  }
  return { bytes, sha256: hash.digest("hex"), etag: stat.etag };
}

/** Counts and hashes what passes through, and remembers whether it was the source that failed. */
export class Measured {
  bytes = 0;
  failed = false;
  readonly #hash = createHash("sha256");

  constructor(
    private readonly pieces: AsyncIterable<Uint8Array>,
    private readonly signal?: AbortSignal | undefined,
  ) {}

  get sha256(): string {
    return this.#hash.digest("hex");
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    const all = this.pieces[Symbol.asyncIterator]();
    let done = false;
    try {
      for (;;) {
        this.failed = true;
        this.signal?.throwIfAborted();
        const next = await all.next();
        this.failed = false;
        if (next.done === true) {
          done = true;
          return;
        }
        // Hashed before it is handed on: its owner may use the memory for the next.
        this.#hash.update(next.value);
        this.bytes += next.value.byteLength;
        yield next.value;
      }
    } finally {
      // Whatever ended it: the source may hold a file or a connection.
      if (!done) await Promise.resolve(all.return?.()).catch(() => {});
    }
  }
}

/** A local file, opened when the first piece is asked for: a reader that never gets there leaves nothing open. */
export async function* piecesOfFile(file: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(file, { highWaterMark: piece_bytes });
}

/** Reads a part of a stream that begins with the object's first byte. */
export async function* partOf(
  pieces: AsyncIterable<Uint8Array>,
  offset: number,
  length = Number.POSITIVE_INFINITY,
): AsyncGenerator<Uint8Array> {
  let at = 0;
  for await (const piece of pieces) {
    const part = piece.subarray(Math.max(0, offset - at), Math.max(0, offset + length - at));
    at += piece.byteLength;
    if (part.byteLength > 0) yield part;
    if (at >= offset + length) return;
  }
}

/** So large that the object fits into the parts there may be, with room to spare for a guess that was too small. */
export function partSize(bytes: number | undefined, smallest: number, most_parts: number): number {
  return Math.max(smallest, Math.ceil((bytes ?? 0) / (most_parts * 0.9)));
}

export function pageLimit(limit: number | undefined): number {
  if (limit === undefined) return max_page;
  return Math.min(max_page, Math.max(1, Math.trunc(limit) || 1));
}
