// The driver for Postgres servers: a small pool of lanes. Verbs share lanes and are pipelined when all are busy, unless
// they are of many tenants; a transaction, a copy or any other statement holds one alone. Knows SQL only as text.
import {
  type CopyRows,
  closedError,
  copyTarget,
  type Database,
  DatabaseError,
  type Listening,
  type OpenTransaction,
  parameterText,
  type Scalar,
  statementText,
} from "./database.js";
import { NoAnswer, serverError } from "./server_errors.js";
import { Lane, type LaneOptions, StaleStatement } from "./server_lane.js";
import { WaitingLine, type WaitingSince } from "./server_line.js";
import { ServerListener } from "./server_listener.js";
import { isVerb } from "./server_tags.js";
import { Watch } from "./server_watch.js";
import { ServerWay, type WayFacts, type WayOptions } from "./server_way.js";
import { startupSettings } from "./session_bounds.js";
import { Transaction } from "./transaction.js";

export interface ServerOptions extends LaneOptions, WayOptions {
  /** Connections at most (default 1). */
  max?: number;
  /** Shared with other pools to the same server; one of its own when left out. */
  way?: ServerWay;
  /** A caller that has waited so long for a connection that is free is refused (53000); without it, none is. */
  wait_s?: number | undefined;
  /** Verbs wait for a connection that is free, and are never sent behind others. */
  apart?: boolean | undefined;
  /** How often connections are looked at (default 500 ms); tests have less time. */
  tick_ms?: number;
}

/** A server that is full, or still starting, is asked again for this long: nothing has been sent to it yet. */
const patience_ms = 5_000;
const refused_password = new Set(["28P01", "28000"]);
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
  private readonly line = new WaitingLine();
  private readonly watch: Watch;
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
    const application_name = `${options.application_name ?? "fanfold"} probe`;
    this.watch = new Watch({
      lanes: this.lanes,
      wait_s: options.wait_s,
      timeout_s: options.statement_timeout_s,
      tick_ms: options.tick_ms,
      open: () => new Lane(this.route, { application_name }, () => {}),
      refuseWaiting: (since, error) => this.line.refuse(since, error),
    });
  }

  sql<Row>(strings: TemplateStringsArray, ...values: Scalar[]): Promise<Row[]> {
    return this.statement(strings, values, "first");
  }

  async script(text: string): Promise<void> {
    await this.alone((lane) => lane.script(text), "first");
  }

  transaction<T>(work: (tx: OpenTransaction) => Promise<T>): Promise<T> {
    return this.inTransaction(work, "first");
  }

  /** From the other end: the first lanes have their plans made, and who waits for a claim shall not wait for new ones. */
  aside(): Database {
    return {
      kind: this.kind,
      sql: (strings, ...values) => this.statement(strings, values, "last"),
      script: async (text) => void (await this.alone((lane) => lane.script(text), "last")),
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
    const text = statementText(strings);
    const send = isVerb(text)
      ? () => this.sharing((lane) => lane.verb(text, parameters), end)
      : () => this.alone((lane) => lane.statement(text, parameters), end);
    const answer = send().catch((error) => (error instanceof StaleStatement ? send() : Promise.reject(error)));
    return answer as Promise<Row[]>;
  }

  /** Settings that a pooler did not take with the connection go with each transaction. */
  private begin(): string {
    if (this.route.takes_settings) return "begin";
    const settings = Object.entries(startupSettings(this.options));
    return ["begin", ...settings.map(([name, value]) => `set local ${name} = '${value}'`)].join("; ");
  }

  private inTransaction<T>(work: (tx: OpenTransaction) => Promise<T>, end: End): Promise<T> {
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
    const { wait_s = Number.POSITIVE_INFINITY } = this.options;
    const stuck = this.watch.is_stuck || this.line.waited_s > wait_s + 4;
    return { most: this.max, open: lanes.length, busy, waiting: this.line.length, stuck };
  }

  close(): Promise<void> {
    this.closing ??= (async () => {
      await Promise.all([this.listener?.close(), ...[...this.lanes].map((lane) => lane.end(close_timeout_s))]);
      this.lanes.clear();
      this.watch.close();
      this.line.wakeAll();
    })();
    return this.closing;
  }

  private sharing<T>(send: (lane: Lane) => Promise<T>, end: End): Promise<T> {
    return this.patiently(async () => {
      const lane = await this.turn(() => {
        const chosen = this.freeLane(end) ?? (this.options.apart ? undefined : this.leastBusyLane());
        if (chosen) chosen.sharers++;
        return chosen;
      });
      // A caller that waits behind may well share it too.
      this.line.wakeNext();
      try {
        return await send(lane);
      } finally {
        if (--lane.sharers === 0) this.line.wakeNext();
      }
    });
  }

  private alone<T>(send: (lane: Lane) => Promise<T>, end: End): Promise<T> {
    return this.patiently(async () => {
      const lane = await this.held(end);
      try {
        return await send(lane);
      } finally {
        this.letGo(lane);
      }
    });
  }

  private async holding<T>(first: (() => string) | null, end: End, work: (lane: Lane) => Promise<T>): Promise<T> {
    const held = await this.patiently(async () => {
      const lane = await this.held(end);
      try {
        if (first !== null) await lane.script(first());
        return lane;
      } catch (error) {
        this.letGo(lane);
        throw error;
      }
    });
    try {
      return await work(held);
    } finally {
      this.letGo(held);
    }
  }

  private held(end: End): Promise<Lane> {
    return this.turn(() => {
      const chosen = this.freeLane(end);
      if (chosen) chosen.held = true;
      return chosen;
    });
  }

  private letGo(lane: Lane): void {
    lane.held = false;
    this.line.wakeNext();
  }

  /**
   * First come, first served, so that a transaction is not kept out for ever by statements that share. `take` chooses a
   * lane and marks it in one step: a caller that comes next must already see that it is taken.
   */
  private async turn(take: () => Lane | undefined): Promise<Lane> {
    let place: WaitingSince | undefined;
    for (let woken = false; ; woken = true) {
      if (this.closing) throw closedError();
      if (this.watch.away) throw this.watch.away;
      const lane = woken || this.line.length === 0 ? take() : undefined;
      if (lane) return lane;
      place ??= { since: this.watch.ticks, at: performance.now() };
      await this.line.wait(place, woken);
    }
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
    const onLost = (lane: Lane) => {
      this.lanes.delete(lane);
      if (lane.lost instanceof NoAnswer) this.watch.unanswered(lane.lost);
      this.line.wakeNext();
    };
    const lane = new Lane(this.route, this.options, onLost, undefined, this.watch);
    this.lanes.add(lane);
    this.watch.start();
    return lane;
  }

  private leastBusyLane(): Lane | undefined {
    let least: Lane | undefined;
    for (const lane of this.lanes) {
      if (lane.held || this.watch.isQuiet(lane)) continue;
      if (least === undefined || lane.sharers < least.sharers) least = lane;
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

  /** A refused password is asked for again where it may have changed. */
  private mayHelp(code: string): boolean {
    return asked_again.has(code) || (refused_password.has(code) && this.route.forgetPassword());
  }

  private async patiently<T>(attempt: () => Promise<T>): Promise<T> {
    const until = performance.now() + patience_ms;
    for (let wait_ms = 50; ; wait_ms = Math.min(wait_ms * 2, 1000)) {
      try {
        return await attempt();
      } catch (error) {
        if (this.refusesSettings(error)) continue;
        const again = error instanceof DatabaseError && this.mayHelp(error.code) && performance.now() < until;
        if (!again || this.closing) throw error;
        await new Promise((resolve) => setTimeout(resolve, wait_ms * (0.5 + Math.random() / 2)));
      }
    }
  }
}
