// Wakes calls that wait for work: one LISTEN for the whole server, whoever waits. A hint may be lost, so nobody waits for it
// alone.
import { performance } from "node:perf_hooks";
import type { Logger } from "pino";
import { hintOf } from "../core/hint.js";
import type { Database, Stoppable } from "../engine/database.js";

const CHANNEL = "fanfold_ready";
/** After a LISTEN that failed; until then whoever waits looks by itself. */
const AGAIN_MS = 5_000;

interface Waiter {
  hints: ReadonlySet<string>;
  wake(): void;
}

export class WorkBell {
  readonly #waiters = new Set<Waiter>();
  /** When each hint was last heard, counted. */
  readonly #heard = new Map<string, number>();
  #count = 0;
  #listening: Promise<Stoppable | null> | null = null;
  #not_before = 0;

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

  /** A moment, for `rings`: taken before one looks for work, so that nothing falls between looking and waiting. */
  now(): number {
    return this.#count;
  }

  /** Resolves when work of such a type has come since, when the time is over, or when the signal says so. */
  async rings(types: ReadonlySet<string>, since: number, ms: number, signal: AbortSignal): Promise<void> {
    const hints = new Set([...types].map(hintOf));
    for (const hint of hints) if ((this.#heard.get(hint) ?? 0) > since) return;
    if (signal.aborted || ms <= 0) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        this.#waiters.delete(waiter);
        resolve();
      };
      const timer = setTimeout(done, ms);
      const waiter = { hints, wake: done };
      this.#waiters.add(waiter);
      signal.addEventListener("abort", done);
    });
  }

  async stop(): Promise<void> {
    const listener = await this.#listening;
    await listener?.stop();
  }

  #listen(): Promise<Stoppable | null> {
    return this.db
      .listen(CHANNEL, (hint) => {
        this.#heard.set(hint, ++this.#count);
        // Types are few; whoever makes them up does not fill the memory.
        if (this.#heard.size > 10_000) this.#heard.clear();
        for (const { hints, wake } of [...this.#waiters]) if (hints.has(hint)) wake();
      })
      .catch((error: unknown) => {
        this.log.warn({ err: error }, "LISTEN is not to be had; waiting workers find new tasks by polling");
        this.#not_before = performance.now() + AGAIN_MS;
        this.#listening = null;
        return null;
      });
  }
}
