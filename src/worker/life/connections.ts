// A worker's connections: few, and the same number whatever its slots. One for claims and finishes, one kept for the
// heartbeat, one for LISTEN, and for handlers a small pool and one for those in processes of their own, opened when they ask. Plans have
// theirs while they are made.
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Database, Listening } from "../../engine/database/database.js";
import type { Engine } from "../../engine/engine.js";
import type { WorkerSettings } from "../options.js";
import { settlesWithin } from "../wait.js";

const CHANNEL = "fanfold_ready";
const LISTEN_AGAIN_MS = 5_000;
const PATIENCE_MS = 5000;

/** A stage of ten million tasks takes a minute to plan, and all claims and finishes would wait behind it. */
export const PLANS_AT_ONCE = 2;
const PLANS_KEPT_MS = 10_000;
/** How long a tenant rests, by what its plan has taken. */
const RESTS = 5;
const LONGEST_REST_MS = 5_000;

/**
 * Where plans that are data are made: on connections of their own, one plan of a tenant at a time, so that there is room for another's.
 * Opened when there is one to make, and closed when there has been none for a while. While tenants share the worker, a tenant whose plan
 * was made rests: a plan is the database's work alone, and without rests one tenant's plans would have a processor of it for themselves.
 */
export class Plans {
  private db: Database | undefined;
  private timer: NodeJS.Timeout | undefined;
  private under_way = 0;
  private readonly last = new Map<string, Promise<void>>();
  private readonly rests = new Map<string, NodeJS.Timeout>();

  constructor(private readonly open: () => Database) {}

  /** Tenants whose next plan is not to be claimed yet. */
  get resting(): Iterable<string> {
    return this.rests.keys();
  }

  /** `took_ms`: what its last plan has taken. `wake` is called when the tenant has rested. */
  rest(tenant: string, took_ms: number, wake: () => void): void {
    clearTimeout(this.rests.get(tenant));
    const over = () => {
      this.rests.delete(tenant);
      wake();
    };
    this.rests.set(tenant, setTimeout(over, Math.min(took_ms * RESTS, LONGEST_REST_MS)).unref());
  }

  async take<T>(tenant: string, work: (db: Database) => Promise<T>): Promise<T> {
    clearTimeout(this.timer);
    this.under_way++;
    const turn = (this.last.get(tenant) ?? Promise.resolve()).then(() => {
      this.db ??= this.open();
      return work(this.db);
    });
    const ended = turn.then(
      () => {},
      () => {},
    );
    this.last.set(tenant, ended);
    try {
      return await turn;
    } finally {
      if (this.last.get(tenant) === ended) this.last.delete(tenant);
      if (--this.under_way === 0) this.timer = setTimeout(() => void this.close(), PLANS_KEPT_MS).unref();
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.timer);
    for (const timer of this.rests.values()) clearTimeout(timer);
    const { db } = this;
    this.db = undefined;
    // The embedded database has one session, and that is the engine's to close.
    if (db?.kind === "server") await db.close();
  }
}

export class Connections {
  readonly work: Database;
  readonly heartbeat: Database;
  readonly plans: Plans;
  private opening: Promise<Database> | undefined;
  private opening_handler: Promise<Database> | undefined;
  private listener: Promise<Listening | null> = Promise.resolve(null);
  private listening: Listening | null = null;
  private readonly closing = new AbortController();

  constructor(
    private readonly engine: Engine,
    size: { connections: number },
  ) {
    this.heartbeat = engine.openConnection("heartbeat", 1);
    this.work = engine.openConnection("work", size.connections);
    this.plans = new Plans(() => engine.openConnection("plan", PLANS_AT_ONCE));
  }

  /** Whether hints arrive; otherwise the worker has to look. */
  get hears(): boolean {
    return this.listening?.hears ?? false;
  }

  /** Those that count at the server: a pooler's are its own. */
  counted({ types, connections, burst_connections }: WorkerSettings): number {
    if (this.heartbeat.kind !== "server" || this.heartbeat.way?.().pooled) return 0;
    const { handlers } = this.engine.registry;
    const uses_database = types.some((type) => handlers.get(type)?.options.database === true);
    return connections + burst_connections + (uses_database ? 3 : 2);
  }

  burst(max: number): Promise<Database> {
    this.opening ??= Promise.resolve(this.engine.openConnection("burst", max));
    return this.opening;
  }

  /** One of their own for handlers in processes of their own: nobody else waits for what they do with it. */
  handler(): Promise<Database> {
    this.opening_handler ??= Promise.resolve(this.engine.openConnection("handler", 1));
    return this.opening_handler;
  }

  /** A hint is nice to have: without it the worker polls, and asks for it again. */
  async listen(log: Logger, on_hint: (hint: string) => void, on_listening: () => void): Promise<void> {
    this.listener = this.untilListening(log, on_hint, on_listening);
    await settlesWithin(this.listener, PATIENCE_MS);
  }

  private async untilListening(
    log: Logger,
    on_hint: (hint: string) => void,
    on_listening: () => void,
  ): Promise<Listening | null> {
    const { signal } = this.closing;
    while (!signal.aborted) {
      try {
        this.listening = await this.heartbeat.listen(CHANNEL, on_hint, on_listening);
        return this.listening;
      } catch (error) {
        if (signal.aborted) break;
        log.warn({ err: error }, "LISTEN is not to be had now; new tasks are found by polling");
        await sleep(LISTEN_AGAIN_MS, undefined, { signal, ref: false }).catch(() => {});
      }
    }
    return null;
  }

  /** `limit`: when to wait no longer for a database that does not answer. */
  async close(limit?: AbortSignal): Promise<void> {
    this.closing.abort();
    const opened = [this.work, this.heartbeat];
    for (const opening of [this.opening, this.opening_handler]) if (opening !== undefined) opened.push(await opening);
    const stopping = this.listener.then((listener) => listener?.stop());
    // The embedded database has one session, and that is the engine's to close.
    const closing = opened.filter((db) => db !== this.engine.db).map((db) => db.close());
    await settlesWithin(Promise.allSettled([stopping, this.plans.close(), ...closing]), PATIENCE_MS, limit);
  }
}
