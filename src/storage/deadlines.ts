// A store on the network answers or is given up: the vendors' libraries wait for as long as a connection stays open, and a connection
// whose other end is gone may stay open for a quarter of an hour.
import { unavailableBlob } from "./blob_errors.js";
import type { BlobStore, Reading } from "./blob_store.js";

/** For an answer, with all that a library tries again by itself; and for the next piece of an object that is read. */
const USUAL_MS = 60_000;
/** How many times as long a store may take for a part that it was given, */
const PART = 5;
/** and for a copy that it makes within itself. */
const COPY = 10;

/** `ms`: tests have less time. */
export function withDeadlines(store: BlobStore, ms = USUAL_MS): BlobStore {
  return {
    ...store,
    stat: (key) => within(ms, "look at", key, store.stat(key)),
    list: (prefix, options) => within(ms, "list", prefix, store.list(prefix, options)),
    remove: (key) => within(ms, "remove", key, store.remove(key)),
    signedUrl: (key, options) => within(ms, "sign", key, store.signedUrl(key, options)),
    signedPut: (key, options) => within(ms, "sign", key, store.signedPut(key, options)),
    copy: (from, to) => within(COPY * ms, "copy", from, store.copy(from, to)),
    read: async (key, options = {}) => {
      const given_up = new AbortController();
      const signal = either(options.signal, given_up.signal);
      const giveUp = () => given_up.abort();
      const reading = await within(ms, "read", key, store.read(key, { ...options, signal }), giveUp);
      return { ...reading, pieces: inTime(reading, ms, key) };
    },
    write: async (key, pieces, options = {}) => {
      const given_up = new AbortController();
      const signal = either(options.signal, given_up.signal);
      const clock = new Clock(PART * ms, "write", key, () => given_up.abort());
      clock.start();
      try {
        return await Promise.race([store.write(key, clock.whileTaken(pieces), { ...options, signal }), clock.late]);
      } finally {
        clock.stop();
      }
    },
  };
}

function either(given: AbortSignal | undefined, own: AbortSignal): AbortSignal {
  return given === undefined ? own : AbortSignal.any([given, own]);
}

/** Counts while the store has something to do; not while it waits for the pieces. */
class Clock {
  readonly late: Promise<never>;
  #timer: NodeJS.Timeout | undefined;
  #tooLate: () => void = () => {};

  constructor(
    private readonly ms: number,
    what: string,
    key: string,
    giveUp: () => void,
  ) {
    this.late = new Promise((_, reject) => {
      this.#tooLate = () => {
        giveUp();
        reject(noAnswer(what, key, ms));
      };
    });
    this.late.catch(() => {});
  }

  start(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#tooLate, this.ms);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  async *whileTaken(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      this.stop();
      for await (const piece of pieces) {
        this.start();
        yield piece;
        this.stop();
      }
    } finally {
      this.start();
    }
  }
}

/** What comes after the deadline is nobody's. */
async function within<T>(ms: number, what: string, key: string, work: Promise<T>, giveUp = () => {}): Promise<T> {
  const clock = new Clock(ms, what, key, giveUp);
  clock.start();
  try {
    return await Promise.race([work, clock.late]);
  } finally {
    clock.stop();
    work.catch(() => {});
  }
}

async function* inTime({ pieces, close }: Reading, ms: number, key: string): AsyncGenerator<Uint8Array> {
  const all = pieces[Symbol.asyncIterator]();
  const giveUp = () => void close().catch(() => {});
  try {
    for (;;) {
      const next = await within(ms, "read", key, all.next(), giveUp);
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    giveUp();
  }
}

function noAnswer(what: string, key: string, ms: number): Error {
  return unavailableBlob(what, key, new Error(`the store gave no answer within ${ms / 1000} s`));
}
