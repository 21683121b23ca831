// One connection to a server: a postgres.js client that connects once. When it is lost it is thrown away with everything
// pending on it. Left to reconnect by itself, that client may write a rollback into a closed socket (which ends the
// process), or send the rest of a transaction down a new connection.
import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import postgres from "postgres";
import { type Column, type CopyRows, copyPieces, DatabaseError } from "./database.js";
import { decoders } from "./decoders.js";
import { isFatal, isUnreadable, serverError } from "./server_errors.js";
import { openSocket, type Where } from "./server_socket.js";
import { ownReply, taggedText } from "./server_tags.js";
import { secured } from "./server_tls.js";
import type { ServerWay } from "./server_way.js";
import { type SessionBounds, startupSettings } from "./session_bounds.js";
import type { Session } from "./transaction.js";

export interface LaneOptions extends Partial<Bounds> {
  application_name?: string;
}

type Bounds = { [K in keyof SessionBounds]: number | undefined };

/** A statement that was refused before it ran, because of what was prepared earlier: it may be sent again. */
export class StaleStatement extends DatabaseError {}

/** From the socket's opening until the server is ready for the first statement. */
const connect_timeout_s = 5;
const keep_alive_s = 30;
/** So long, in ticks of the watch, may an answer take that comes in parts. */
const part_ticks = 14;
/** The server became a standby, is going down, or has closed this session: the connection is of no more use. */
const useless_connection = /^(25006|57P0.|08(?!007)...)$/;

const own_session = `
  select pid, extract(epoch from backend_start)::text as since from pg_stat_get_activity(pg_backend_pid())`;

const types = Object.fromEntries(
  Object.entries(decoders).map(([oid, parse]) => [
    oid,
    { to: Number(oid), from: [Number(oid)], parse, serialize: (text: string) => text },
  ]),
);

export class Lane implements Session {
  /** Statements that have it at the moment. */
  sharers = 0;
  /** Held by one transaction or copy. */
  held = false;
  lost: DatabaseError | null = null;
  /** The session behind it is not its own. */
  pooled = false;
  /**
   * By what the server's account of its sessions tells the one that works for it, once there is one: the process, and since when, for
   * another server has other processes. Through a pooler it may be any session, and it is the mark at the head of what it does.
   */
  session: string | null = null;
  /** When bytes came last, in ticks. */
  heard_at = Number.NEGATIVE_INFINITY;
  /** How often the server was asked about it since then. */
  asked_about = 0;
  private readonly mark = randomBytes(8).toString("hex");
  private readonly client: postgres.Sql;
  private socket: Socket | "unused" | "opening" = "unused";
  private host = { name: "localhost", number: 0, of: 1 };
  private password: string | undefined;
  private first: Promise<void> | null = null;
  private last: Promise<unknown> = Promise.resolve();
  private tags = 0;
  private bytes_heard = 0;
  private began_at: number | null = null;
  private answered_at = 0;
  private quiet_since = 0;
  /** Statements that were sent and not answered. */
  private unanswered = 0;
  /** Those who are told of a loss, and since when each waits for the server; undefined: for something else. */
  private readonly refusals = new Map<(error: DatabaseError) => void, number | undefined>();

  constructor(
    private readonly way: ServerWay,
    options: LaneOptions,
    private readonly on_lost: (lane: Lane) => void,
    on_notify?: (channel: string, payload: string) => void,
    /** Counts up, coarsely. */
    private readonly clock: { readonly ticks: number } = { ticks: 0 },
  ) {
    const settings = {
      max: 1,
      types,
      fetch_types: false,
      connect_timeout: connect_timeout_s,
      keep_alive: keep_alive_s,
      idle_timeout: 0,
      max_lifetime: null,
      connection: {
        application_name: options.application_name ?? "fanfold",
        DateStyle: "ISO",
        ...(way.takes_settings ? startupSettings(options) : {}),
      },
      onnotice: () => {},
      onnotify: on_notify,
      onclose: () => this.lose(new DatabaseError("08006", "the connection to the database was lost")),
      socket: (where: Where) => this.openOnce(where),
      onparameter: (name: string, value: string) => this.passOverStandby(name, value),
    };
    const { address, tls, password } = way.address;
    if (way.folder !== undefined) Object.assign(settings, { host: way.folder });
    if (tls !== null) Object.assign(settings, { ssl: false });
    if (password !== null) Object.assign(settings, { pass: () => this.password });
    this.client = postgres(address, settings as postgres.Options<Record<string, postgres.PostgresType>>);
  }

  async statement(text: string, parameters: (string | null)[]): Promise<Record<string, unknown>[]> {
    let stale: { message?: string } | undefined;
    const send = () => {
      const prepare = this.way.prepares;
      const query = this.client.unsafe(this.head + text, parameters, { prepare, simple: false } as object);
      // postgres.js would send it once more by itself, and while it does, answers may go to the wrong statements.
      Object.defineProperty(query, "retried", {
        get: () => undefined,
        set: (refusal) => {
          stale = refusal;
          this.lose(
            new DatabaseError("08006", "the connection was given up: a prepared statement on it was not good any more"),
          );
          throw refusal;
        },
      });
      return query;
    };
    try {
      return await this.inOrder(send);
    } catch (error) {
      const { code, message } = stale === undefined ? (error as DatabaseError) : serverError(stale, null);
      if (stale === undefined && code !== "42P05") throw error;
      // A plan that a migration overtook says nothing about the way.
      if (/^(26000|42P05)$/.test(code)) this.way.stopPreparing(message);
      throw new StaleStatement("08006", message);
    }
  }

  /** The only kind of statement that may be sent while another is under way. */
  async verb(text: string, parameters: (string | null)[]): Promise<Record<string, unknown>[]> {
    const tag = String(++this.tags);
    const rows = await this.statement(taggedText(text, parameters.length), [...parameters, tag]);
    const own = ownReply(rows, tag);
    if (own !== null) return own;
    this.lose(new DatabaseError("08006", "the connection to the database gave the answer of another statement"));
    throw this.lost;
  }

  /** Whether the server's account of its sessions tells what is done for it. A text that is prepared has to be the same for everybody. */
  get accounted(): boolean {
    return !this.pooled || !this.way.prepares;
  }

  /** What every text begins with. */
  private get head(): string {
    return this.pooled && this.accounted ? `/*${this.mark}*/ ` : "";
  }

  /** For how many ticks it has owed an answer and said nothing. Looked at every tick. */
  silence(): number {
    const { ticks } = this.clock;
    const bytes = typeof this.socket === "object" ? this.socket.bytesRead : 0;
    if (this.unanswered === 0 || this.session === null) this.answered_at = ticks;
    if (bytes !== this.bytes_heard) this.heard_at = ticks;
    this.bytes_heard = bytes;
    // Part of an answer is a sign of life for a while; bytes that never become one are not.
    const lived_at = Math.max(this.answered_at, Math.min(this.heard_at, this.answered_at + part_ticks));
    if (lived_at > this.quiet_since) {
      this.quiet_since = lived_at;
      this.asked_about = 0;
    }
    return ticks - this.quiet_since;
  }

  /** For how many ticks it has been opened without a session to show for it. */
  opening(): number {
    return this.session === null && this.began_at !== null ? this.clock.ticks - this.began_at : 0;
  }

  /** The server says that it works on what was sent here. */
  vouch(): void {
    this.quiet_since = this.clock.ticks;
  }

  async script(text: string): Promise<string | undefined> {
    const result = await this.inOrder(() => this.client.unsafe(this.head + text));
    return (result as { command?: string }).command;
  }

  async describe(text: string): Promise<Column[]> {
    const described = await this.inOrder(() => {
      const query = this.client.unsafe(this.head + text, [], { prepare: false, simple: false } as object);
      // Its own `describe()` would leave a prepared statement behind for every text.
      return Object.assign(query, { onlyDescribe: true });
    });
    return (described as unknown as { columns: Column[] }).columns;
  }

  async copy(text: string, columns: number, rows: CopyRows): Promise<number> {
    let total = 0;
    try {
      let query: postgres.PendingQuery<postgres.Row[]> | undefined;
      const stream = await this.inOrder(() => {
        query = this.client.unsafe(this.head + text);
        return query.writable();
      });
      const done = this.orLost(
        new Promise<void>((resolve, reject) => {
          stream.once("finish", resolve);
          stream.once("error", reject);
          // What the server refuses after the last byte, postgres.js tells only to the query, which has resolved already.
          Object.assign(query!, { reject });
        }),
      );
      done.catch(() => {});
      const count = (pieces: number) => {
        total += pieces;
      };
      for await (const piece of copyPieces(rows, columns, count)) {
        if (this.lost) throw this.lost;
        if (stream.write(piece)) continue;
        await this.answer(Promise.race([done, new Promise((resolve) => stream.once("drain", resolve))]));
      }
      stream.end();
      await this.answer(done);
      return total;
    } catch (error) {
      // Whatever state the copy is in, the connection that carried it is not used again.
      this.lose(new DatabaseError("08006", "the connection was closed after a copy that failed"));
      throw error;
    }
  }

  /** Settles as `work` does, or with the loss of the connection if that comes first. */
  orLost<T>(work: PromiseLike<T>, since?: number): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.lost) reject(this.lost);
      this.refusals.set(reject, since);
      work.then(
        (value) => {
          this.refusals.delete(reject);
          resolve(value);
        },
        (error) => {
          this.refusals.delete(reject);
          reject(error);
        },
      );
    });
  }

  lose(error: DatabaseError): void {
    if (this.lost) return;
    this.lost = error;
    for (const refuse of this.refusals.keys()) refuse(error);
    this.refusals.clear();
    if (typeof this.socket === "object") this.socket.destroy();
    void this.end(0);
    this.on_lost(this);
  }

  /** Those who were sent behind others and have waited since then are told that nobody knows; the foremost is being worked on. */
  refuseBehind(since: number): void {
    let is_first = true;
    for (const [refuse, at] of this.refusals) {
      if (at === undefined) continue;
      if (at > since) break;
      if (!is_first)
        refuse(new DatabaseError("08007", "the statement waited too long behind others on its connection"));
      is_first = false;
    }
  }

  /** Lets what was sent be answered, for as long as given. A farewell that is not heard is not waited for. */
  async end(timeout_s: number): Promise<void> {
    await this.client.end({ timeout: timeout_s });
    if (typeof this.socket === "object") this.socket.destroy();
  }

  /**
   * The first statement goes alone. Of those it is given while it connects, postgres.js sends some at once and keeps the
   * rest until the connection is idle, which under load is never. It asks whose session this is, before anything is left in it.
   */
  private async inOrder<T>(send: () => PromiseLike<T>): Promise<T> {
    this.began_at ??= this.clock.ticks;
    this.first ??= this.answer(this.meet()).catch((error) => {
      this.lose(error);
      throw error;
    });
    await this.first;
    return this.pooled ? this.alone(send) : this.answer(send());
  }

  /**
   * A pooler takes the answer to one statement for the end of its client's turn, though half of the next was sent already: what
   * comes of that half goes nowhere, or to somebody else.
   */
  private alone<T>(send: () => PromiseLike<T>): Promise<T> {
    let is_awaited = true;
    const sent = this.last.then(() => (is_awaited ? send() : Promise.reject(this.lost)));
    this.last = Promise.allSettled([sent]);
    return this.answer(sent).finally(() => {
      is_awaited = false;
    });
  }

  /** A server tells its own process's number when it is connected to, a pooler some number. */
  private async meet(): Promise<void> {
    const told = await this.client.unsafe(own_session);
    this.pooled = told[0]?.pid !== told.state.pid;
    this.session = this.pooled ? this.mark : `${told[0]?.pid} ${told[0]?.since}`;
    if (this.pooled) this.way.foundPooler();
  }

  private async answer<T>(sent: PromiseLike<T>): Promise<T> {
    this.unanswered++;
    try {
      return await this.orLost(sent, this.clock.ticks);
    } catch (error) {
      const given = serverError(error, this.lost, this.head);
      if (isFatal(error) || useless_connection.test(given.code) || isUnreadable(error)) this.lose(given);
      throw given;
    } finally {
      this.unanswered--;
      this.answered_at = this.clock.ticks;
    }
  }

  /** The server says what it is before it takes the first statement. */
  private passOverStandby(name: string, value: string): void {
    if (name !== "in_hot_standby" || value !== "on" || !this.way.address.needs_primary) return;
    this.way.passOver(this.host.number, this.host.of);
    const hint = "one of the hosts of DATABASE_URL must be a primary";
    this.lose(new DatabaseError("57P03", `the database at ${this.host.name} is a standby`, { hint }));
  }

  private async openOnce(where: Where): Promise<Socket> {
    try {
      if (this.socket !== "unused" || this.lost) {
        throw new DatabaseError("08006", "the server closed the connection while it was being opened");
      }
      this.socket = "opening";
      // Before anything is sent: a server does not wait long for a password.
      this.password = await this.way.currentPassword();
      const { socket, ...host } = await openSocket(where, this.way.first_host);
      this.host = { ...host, of: where.host.length };
      const { tls } = this.way.address;
      this.socket = tls === null || where.path ? socket : await secured(socket, host.name, tls);
      return this.socket;
    } catch (error) {
      this.lose(serverError(error, this.lost));
      throw error;
    }
  }
}
