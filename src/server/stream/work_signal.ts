// Wakes calls that wait for work: one LISTEN for the whole server, whoever waits; where nothing arrives (behind a pooler), one look
// several times a second for all of them. A hint may be lost, so nobody waits for it alone.
import { performance } from "node:perf_hooks";
import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import { notifyPayload, pollDelayMs } from "../../core/task/notify_payload.js";
import type { Database, Listening } from "../../engine/database/database.js";
import { worker_commands as commands } from "../../engine/work/commands.js";

const CHANNEL = "fanfold_ready";
/** After a LISTEN that failed; until then a caller who waits looks by itself. */
const AGAIN_MS = 5_000;

interface Waiter {
  types: ReadonlySet<string>;
  /** By hint, the type that it is of. */
  hints: ReadonlyMap<string, string>;
  wake(type: string | null): void;
}

export class WorkSignal {
  readonly #waiters = new Set<Waiter>();
  /** When each hint was last heard, counted. Types are few; a tenant that makes them up does not fill the memory. */
  readonly #heard = new LRUCache<string, number>({ max: 10_000 });
  #count = 0;
  #listening: Promise<Listening | null> | null = null;
  #listener: Listening | null = null;
  #not_before = 0;
  #look_timer: NodeJS.Timeout | null = null;
  /** Where the next look begins. */
  #seen = 0;

  constructor(
    private readonly db: Database,
    private readonly log: Logger,
  ) {}

  /** Resolves when hints come: what becomes runnable afterwards is heard of. Or when none can be had: then callers poll. */
  async listen(): Promise<void> {
    if (this.#listening === null && performance.now() < this.#not_before) return;
    this.#listening ??= this.#listen();
    await this.#listening;
  }

  /** Whether hints arrive. */
  get hears(): boolean {
    return this.#listener?.hears ?? false;
  }

  /** A moment, for `wait`: taken before one looks for work, so that nothing falls between looking and waiting. */
  now(): number {
    return this.#count;
  }

  /**
   * Resolves when work of such a type has come since, when the time is over, or when the signal says so. To the type, where it was one and no
   * other: a look at that alone is quicker.
   */
  async wait(types: ReadonlySet<string>, since: number, ms: number, signal: AbortSignal): Promise<string | null> {
    const hints = new Map([...types].map((type) => [notifyPayload(type), type]));
    const heard = [...hints].filter(([hint]) => (this.#heard.get(hint) ?? 0) > since);
    if (heard.length > 0) return heard.length === 1 ? heard[0]![1] : null;
    if (signal.aborted || ms <= 0) return null;
    return new Promise((resolve) => {
      const done = (type: string | null) => {
        clearTimeout(timer);
        signal.removeEventListener("abort", over);
        this.#waiters.delete(waiter);
        resolve(type);
      };
      const over = () => done(null);
      const timer = setTimeout(over, ms);
      const waiter: Waiter = { types, hints, wake: done };
      this.#waiters.add(waiter);
      this.#lookLater();
      signal.addEventListener("abort", over);
    });
  }

  async stop(): Promise<void> {
    if (this.#look_timer !== null) clearTimeout(this.#look_timer);
    const listener = await this.#listening;
    await listener?.stop();
  }

  readonly #wake = (hint: string): void => {
    this.#heard.set(hint, ++this.#count);
    for (const { hints, wake } of [...this.#waiters]) {
      const type = hints.get(hint);
      if (type !== undefined) wake(type);
    }
  };

  /** While somebody waits and nothing is heard. */
  #lookLater(): void {
    if (this.#look_timer !== null || this.#waiters.size === 0 || this.hears) return;
    this.#look_timer = setTimeout(async () => {
      const types = [...new Set([...this.#waiters].flatMap((waiter) => [...waiter.types]))];
      // A caller who waits looks every second all the same.
      const found = await commands.new_work(this.db, { types, after: this.#seen }).catch(() => null);
      this.#look_timer = null;
      if (found !== null) this.#seen = found.last;
      for (const type of found?.types ?? []) this.#wake(notifyPayload(type));
      this.#lookLater();
    }, pollDelayMs(Math.random()));
  }

  #listen(): Promise<Listening | null> {
    return this.db
      .listen(CHANNEL, this.#wake)
      .then((listener) => {
        this.#listener = listener;
        return listener;
      })
      .catch((error: unknown) => {
        this.log.warn({ err: error }, "LISTEN is not to be had; waiting workers find new tasks by polling");
        this.#not_before = performance.now() + AGAIN_MS;
        this.#listening = null;
        return null;
      });
  }
}
