// What an isolated handler does with storage, done by the worker for it: the child cannot reach the folder, and on the database names
// files of its own tenant only. The storage of a worker over HTTP is what its operator gave it: a child there names whatever it holds.
// Content travels in pieces, each asked for or taken when the one before is through.
import { Permanent } from "../../core/errors/errors.js";
import type { Ref, Store } from "../../core/places/store.js";

export type StoreCall =
  | { verb: "put"; key: string }
  | { verb: "piece"; stream: number; bytes: Uint8Array }
  | { verb: "stored"; stream: number }
  | { verb: "get"; ref: Ref }
  | { verb: "next"; stream: number }
  | { verb: "drop"; stream: number }
  | { verb: "remove"; key: string };

const piece_bytes = 1024 * 1024;
/** Each is an open file of the worker's. */
const most_streams = 64;

/** ctx.storage of a child. */
export function remoteStore(ask: (call: StoreCall) => Promise<unknown>): Store {
  async function putStream(key: string, pieces: AsyncIterable<Uint8Array | string>): Promise<Ref> {
    const stream = (await ask({ verb: "put", key })) as number;
    try {
      for await (const piece of pieces) {
        const bytes = typeof piece === "string" ? Buffer.from(piece) : piece;
        for (let at = 0; at < bytes.byteLength; at += piece_bytes) {
          await ask({ verb: "piece", stream, bytes: bytes.subarray(at, at + piece_bytes) });
        }
      }
    } catch (error) {
      await ask({ verb: "drop", stream }).catch(() => {});
      throw error;
    }
    return (await ask({ verb: "stored", stream })) as Ref;
  }
  async function* getStream(ref: Ref): AsyncGenerator<Uint8Array> {
    const stream = (await ask({ verb: "get", ref })) as number;
    let is_read = false;
    try {
      for (;;) {
        const piece = (await ask({ verb: "next", stream })) as Uint8Array | null;
        is_read = piece === null;
        if (piece === null) return;
        yield piece;
      }
    } finally {
      if (!is_read) await ask({ verb: "drop", stream }).catch(() => {});
    }
  }
  return {
    put: (key, content) => putStream(key, whole(content)),
    putStream,
    get: async (ref) => {
      const pieces: Uint8Array[] = [];
      for await (const piece of getStream(ref)) pieces.push(piece);
      return Buffer.concat(pieces);
    },
    getStream,
    remove: async (key) => void (await ask({ verb: "remove", key })),
  };
}

async function* whole(content: Uint8Array | string): AsyncGenerator<Uint8Array | string> {
  yield content;
}

interface Open {
  piece(bytes: Uint8Array): Promise<void>;
  next(): Promise<Uint8Array | null>;
  stored(): Promise<Ref>;
  drop(): Promise<void>;
}

/** The worker's side, for one task; `store` gives its tenant's. */
export class StoreCalls {
  private readonly streams = new Map<number, Open>();
  private count = 0;

  constructor(private readonly store: () => Store) {}

  async answer(call: StoreCall): Promise<unknown> {
    switch (call.verb) {
      case "put":
        return this.open(writing(this.store(), call.key));
      case "get":
        return this.open(reading(this.store(), call.ref));
      case "piece":
        return this.of(call.stream).piece(call.bytes);
      case "next":
        return this.of(call.stream).next();
      case "stored":
        return this.over(call.stream).stored();
      case "drop":
        return this.over(call.stream).drop();
      case "remove":
        return this.store().remove(call.key);
      default:
        throw misused();
    }
  }

  /** What is half written is nobody's. */
  close(): void {
    for (const stream of this.streams.values()) stream.drop().catch(() => {});
    this.streams.clear();
  }

  private open(stream: Open): number {
    if (this.streams.size >= most_streams) {
      stream.drop().catch(() => {});
      throw new Permanent(`at most ${most_streams} stored files are read or written at a time`, { code: "bad_call" });
    }
    this.streams.set(++this.count, stream);
    return this.count;
  }

  private of(number: number): Open {
    const stream = this.streams.get(number);
    if (stream === undefined) throw misused();
    return stream;
  }

  private over(number: number): Open {
    const stream = this.of(number);
    this.streams.delete(number);
    return stream;
  }
}

function writing(store: Store, key: string): Open {
  const pieces = new Pieces();
  const written = store.putStream(key, pieces);
  written.catch((error: unknown) => pieces.fail(error));
  return {
    piece: (bytes) => pieces.push(bytes),
    next: async () => Promise.reject(misused()),
    stored: async () => {
      await pieces.end();
      return written;
    },
    drop: async () => {
      pieces.fail(new Error("the handler gave up the file"));
      await written.catch(() => {});
    },
  };
}

function reading(store: Store, ref: Ref): Open {
  const pieces = store.getStream(ref)[Symbol.asyncIterator]();
  return {
    piece: async () => Promise.reject(misused()),
    next: async () => {
      const { done, value } = await pieces.next();
      return done === true ? null : value;
    },
    stored: async () => Promise.reject(misused()),
    drop: async () => void (await pieces.return?.()),
  };
}

/** Given to the store one at a time: `push` resolves when the store has asked for the next. */
class Pieces implements AsyncIterable<Uint8Array> {
  private given: Uint8Array | null | undefined;
  private failure: { error: unknown } | null = null;
  private wake: () => void = () => {};

  async push(bytes: Uint8Array | null): Promise<void> {
    this.given = bytes;
    this.wake();
    while (this.given !== undefined && this.failure === null) await this.moved();
    if (this.failure !== null) throw this.failure.error;
  }

  async end(): Promise<void> {
    await this.push(null);
  }

  fail(error: unknown): void {
    this.failure ??= { error };
    this.wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      while (this.given === undefined && this.failure === null) await this.moved();
      if (this.failure !== null) throw this.failure.error;
      const { given } = this;
      this.given = undefined;
      this.wake();
      if (given === null) return;
      if (given !== undefined) yield given;
    }
  }

  private moved(): Promise<void> {
    return new Promise((resolve) => {
      const { wake } = this;
      this.wake = () => {
        wake();
        resolve();
      };
    });
  }
}

function misused(): Permanent {
  return new Permanent("storage was not asked in this way", { code: "bad_call" });
}
