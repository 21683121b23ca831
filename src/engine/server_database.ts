// The driver for Postgres servers: a small pool of lanes. Statements share lanes and are pipelined when all are busy; a
// transaction or a copy holds one alone. Knows SQL only as text.
import {
  type CopyRows,
  closedError,
  copyTarget,
  type Database,
  DatabaseError,
  type Listening,
  parameterText,
  type Queryable,
  type Scalar,
  statementText,
} from "./database.js";
import { serverError } from "./server_errors.js";
import { Lane, type LaneOptions, StaleStatement } from "./server_lane.js";
import { ServerListener } from "./server_listener.js";
import { ServerWay, type WayFacts, type WayOptions } from "./server_way.js";
import { startupSettings } from "./session_bounds.js";
import { Transaction } from "./transaction.js";

export interface ServerOptions extends LaneOptions, WayOptions {
  /** Connections at most (default 1). */
  max?: number;
  /** Shared with other pools to the same server; one of its own when left out. */
  way?: ServerWay;
}

/** A server that is full, or still starting, is asked again for this long: nothing has been sent to it yet. */
const patience_ms = 5_000;
const asked_again = new Set(["53300", "57P03"]);
const close_timeout_s = 5;

/** Which lanes come into question before others. */
type End = "first" | "last";

export function openServer(url: string, options: ServerOptions = {}): Database {
  return new ServerDatabase(url, options);
}

class ServerDatabase implements Database {
  readonly kind = "server";
  private readonly lanes = new Set<Lane>();
  /** Those who wait for a lane, in order. */
  private readonly waiting: (() => void)[] = [];
  private readonly max: number;
  private readonly route: ServerWay;
  private listener: ServerListener | null = null;
  private closing: Promise<void> | null = null;

  constructor(
    url: string,
    private readonly options: ServerOptions,
  ) {
    this.max = Math.max(1, options.max ?? 1);
    this.route = options.way ?? new ServerWay(url, options);
  }

  sql<Row>(strings: TemplateStringsArray, ...values: Scalar[]): Promise<Row[]> {
    return this.statement(strings, values, "first");
  }

  async script(text: string): Promise<void> {
    await this.sharing((lane) => lane.script(text), "first");
  }

  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T> {
    return this.inTransaction(work, "first");
  }

  /** From the other end: the first lanes have their plans made, and who waits for a claim shall not wait for new ones. */
  aside(): Database {
    return {
      kind: this.kind,
      sql: (strings, ...values) => this.statement(strings, values, "last"),
      script: async (text) => void (await this.sharing((lane) => lane.script(text), "last")),
      transaction: (work) => this.inTransaction(work, "last"),
      copy: (table, columns, rows) => this.copy(table, columns, rows),
      listen: (channel, on_message, on_listening) => this.listen(channel, on_message, on_listening),
      load: () => this.load(),
      way: () => this.way(),
      close: () => this.close(),
    };
  }

  private async statement<Row>(strings: TemplateStringsArray, values: readonly Scalar[], end: End): Promise<Row[]> {
    const parameters = values.map(parameterText);
    const send = () => this.sharing((lane) => lane.statement(statementText(strings), parameters), end);
    const answer = send().catch((error) => (error instanceof StaleStatement ? send() : Promise.reject(error)));
    return answer as Promise<Row[]>;
  }

  /** Settings that a pooler did not take with the connection go with each transaction. */
  private begin(): string {
    if (this.route.takes_settings) return "begin";
    const settings = Object.entries(startupSettings(this.options));
    return ["begin", ...settings.map(([name, value]) => `set local ${name} = '${value}'`)].join("; ");
  }

  private inTransaction<T>(work: (tx: Queryable) => Promise<T>, end: End): Promise<T> {
    return this.holding(
      () => this.begin(),
      end,
      async (lane) => {
        const tx = new Transaction(lane);
        try {
          // Work that waits for something else must still learn at once that its connection is gone.
          const result = await lane.orLost(work(tx));
          await tx.end("commit");
          return result;
        } catch (error) {
          // A lost connection has rolled back by itself, and there is nobody left to tell.
          if (!lane.lost && !tx.over)
            await tx.end("rollback").catch((failure) => lane.lose(serverError(failure, null)));
          throw error;
        }
      },
    );
  }

  copy(table: string, columns: readonly string[], rows: CopyRows): Promise<number> {
    const text = `copy ${copyTarget(table, columns)} from stdin`;
    return this.holding(null, "first", (lane) => lane.copy(text, columns.length, rows));
  }

  async listen(channel: string, on_message: (payload: string) => void, on_listening?: () => void): Promise<Listening> {
    if (this.closing) throw closedError();
    const application_name = `${this.options.application_name ?? "fanfold"} listen`;
    const way = this.route.forListening();
    this.listener ??= new ServerListener({
      open: (on_lost, on_notify) => new Lane(way, { application_name }, on_lost, on_notify),
      notify: async (name) => void (await this.sql`select pg_notify(${name}, '')`),
      heard: (hears) => this.route.heard(hears),
    });
    return this.listener.listen(channel, on_message, on_listening);
  }

  way(): WayFacts {
    return this.route;
  }

  load() {
    const lanes = [...this.lanes];
    const busy = lanes.filter(({ held, sharers }) => held || sharers > 0).length;
    return { most: this.max, open: lanes.length, busy, waiting: this.waiting.length };
  }

  close(): Promise<void> {
    this.closing ??= (async () => {
      await Promise.all([this.listener?.close(), ...[...this.lanes].map((lane) => lane.end(close_timeout_s))]);
      this.lanes.clear();
      for (const wake of this.waiting.splice(0)) wake();
    })();
    return this.closing;
  }

  private sharing<T>(send: (lane: Lane) => Promise<T>, end: End): Promise<T> {
    return this.patiently(async () => {
      const lane = await this.turn(() => {
        const chosen = this.freeLane(end) ?? this.leastBusyLane();
        if (chosen) chosen.sharers++;
        return chosen;
      });
      // Whoever waits behind may well share it too.
      this.wakeNext();
      try {
        return await send(lane);
      } finally {
        if (--lane.sharers === 0) this.wakeNext();
      }
    });
  }

  private async holding<T>(first: (() => string) | null, end: End, work: (lane: Lane) => Promise<T>): Promise<T> {
    const letGo = (lane: Lane) => {
      lane.held = false;
      this.wakeNext();
    };
    const held = await this.patiently(async () => {
      const lane = await this.turn(() => {
        const chosen = this.freeLane(end);
        if (chosen) chosen.held = true;
        return chosen;
      });
      try {
        if (first !== null) await lane.script(first());
        return lane;
      } catch (error) {
        letGo(lane);
        throw error;
      }
    });
    try {
      return await work(held);
    } finally {
      letGo(held);
    }
  }

  /**
   * First come, first served, so that a transaction is not kept out for ever by statements that share. `take` chooses a
   * lane and marks it in one step: whoever comes next must already see that it is taken.
   */
  private async turn(take: () => Lane | undefined): Promise<Lane> {
    for (let woken = false; ; woken = true) {
      if (this.closing) throw closedError();
      const lane = woken || this.waiting.length === 0 ? take() : undefined;
      if (lane) return lane;
      // One who was woken in vain keeps its place at the front.
      await new Promise<void>((resolve) => (woken ? this.waiting.unshift(resolve) : this.waiting.push(resolve)));
    }
  }

  private wakeNext(): void {
    this.waiting.shift()?.();
  }

  private freeLane(end: End): Lane | undefined {
    let last: Lane | undefined;
    for (const lane of this.lanes) {
      if (lane.held || lane.sharers > 0) continue;
      if (end === "first") return lane;
      last = lane;
    }
    return this.newLane() ?? last;
  }

  private newLane(): Lane | undefined {
    if (this.lanes.size >= this.max) return undefined;
    const lane = new Lane(this.route, this.options, (lost) => {
      this.lanes.delete(lost);
      this.wakeNext();
    });
    this.lanes.add(lane);
    return lane;
  }

  private leastBusyLane(): Lane | undefined {
    let least: Lane | undefined;
    for (const lane of this.lanes) {
      if (!lane.held && (least === undefined || lane.sharers < least.sharers)) least = lane;
    }
    return least;
  }

  /** PgBouncer takes no setting that it does not know: then transactions bring theirs, and the role's (app.role_bounds) count. */
  private refusesSettings(error: unknown): boolean {
    if (!this.route.takes_settings || !(error instanceof Error)) return false;
    if (!/unsupported startup parameter/.test(error.message)) return false;
    this.route.refuseSettings(error.message);
    return true;
  }

  private async patiently<T>(attempt: () => Promise<T>): Promise<T> {
    const until = performance.now() + patience_ms;
    for (let wait_ms = 50; ; wait_ms = Math.min(wait_ms * 2, 1000)) {
      try {
        return await attempt();
      } catch (error) {
        if (this.refusesSettings(error)) continue;
        const again = error instanceof DatabaseError && asked_again.has(error.code) && performance.now() < until;
        if (!again || this.closing) throw error;
        await new Promise((resolve) => setTimeout(resolve, wait_ms * (0.5 + Math.random() / 2)));
      }
    }
  }
}
