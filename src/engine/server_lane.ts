// One connection to a server: a postgres.js client that connects once. When it is lost it is thrown away with everything
// pending on it. Left to reconnect by itself, that client may write a rollback into a closed socket (which ends the
// process), or send the rest of a transaction down a new connection.
import { connect, type Socket } from "node:net";
import postgres from "postgres";
import { type CopyRows, copyPieces, DatabaseError } from "./database.js";
import { decoders } from "./decoders.js";
import { isFatal, serverError } from "./server_errors.js";
import type { ServerWay } from "./server_way.js";
import { type SessionBounds, startupSettings } from "./session_bounds.js";
import type { Session } from "./transaction.js";

export interface LaneOptions extends Partial<Bounds> {
  application_name?: string;
}

type Bounds = { [K in keyof SessionBounds]: number | undefined };

/** A statement that was refused before it ran, because of what was prepared earlier: it may be sent again. */
export class StaleStatement extends DatabaseError {}

const connect_timeout_s = 10;
const keep_alive_s = 30;
/** The server became a standby, is going down, or has closed this session: the connection is of no more use. */
const useless_connection = /^(25006|57P0.|08...)$/;

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
  private readonly client: postgres.Sql;
  private socket: Socket | "unused" | "opening" = "unused";
  private first: Promise<void> | null = null;
  private readonly refusals = new Set<(error: DatabaseError) => void>();

  constructor(
    private readonly way: ServerWay,
    options: LaneOptions,
    private readonly on_lost: (lane: Lane) => void,
    on_notify?: (channel: string, payload: string) => void,
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
        ...{ application_name: options.application_name ?? "fanfold", DateStyle: "ISO" },
        ...(way.takes_settings ? startupSettings(options) : {}),
      },
      onnotice: () => {},
      onnotify: on_notify,
      onclose: () => this.lose(new DatabaseError("08006", "the connection to the database was lost")),
      socket: (where: Where) => this.openOnce(where),
    };
    const { address, host } = socketFolder(way.url);
    if (host !== undefined) Object.assign(settings, { host });
    this.client = postgres(address, settings as postgres.Options<Record<string, postgres.PostgresType>>);
  }

  async statement(text: string, parameters: (string | null)[]): Promise<Record<string, unknown>[]> {
    let stale: { message?: string } | undefined;
    const send = () => {
      const query = this.client.unsafe(text, parameters, { prepare: this.way.prepares, simple: false } as object);
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

  async script(text: string): Promise<string | undefined> {
    const result = await this.inOrder(() => this.client.unsafe(text));
    return (result as { command?: string }).command;
  }

  async copy(text: string, columns: number, rows: CopyRows): Promise<number> {
    let total = 0;
    try {
      const query = this.client.unsafe(text);
      const stream = await this.inOrder(() => query.writable());
      const done = this.answer(
        new Promise<void>((resolve, reject) => {
          stream.once("finish", resolve);
          stream.once("error", reject);
          // What the server refuses after the last byte, postgres.js tells only to the query, which has resolved already.
          Object.assign(query, { reject });
        }),
      );
      done.catch(() => {});
      const count = (pieces: number) => {
        total += pieces;
      };
      for await (const piece of copyPieces(rows, columns, count)) {
        if (this.lost) throw this.lost;
        if (!stream.write(piece)) await Promise.race([done, new Promise((resolve) => stream.once("drain", resolve))]);
      }
      stream.end();
      await done;
      return total;
    } catch (error) {
      // Whatever state the copy is in, the connection that carried it is not used again.
      this.lose(new DatabaseError("08006", "the connection was closed after a copy that failed"));
      throw error;
    }
  }

  /** Settles as `work` does, or with the loss of the connection if that comes first. */
  orLost<T>(work: PromiseLike<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.lost) reject(this.lost);
      this.refusals.add(reject);
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
    for (const refuse of this.refusals) refuse(error);
    this.refusals.clear();
    if (typeof this.socket === "object") this.socket.destroy();
    void this.end(0);
    this.on_lost(this);
  }

  /** Lets what was sent be answered, for as long as given. */
  end(timeout_s: number): Promise<void> {
    return this.client.end({ timeout: timeout_s });
  }

  /**
   * The first statement goes alone. Of those it is given while it connects, postgres.js sends some at once and keeps the
   * rest until the connection is idle, which under load is never. It asks whose session this is, before anything is left in it.
   */
  private async inOrder<T>(send: () => PromiseLike<T>): Promise<T> {
    this.first ??= this.answer(this.meet()).catch((error) => {
      this.lose(error);
      throw error;
    });
    await this.first;
    return this.answer(send());
  }

  /** A server tells its own process's number when it is connected to, a pooler some number. */
  private async meet(): Promise<void> {
    const told = await this.client.unsafe("select pg_backend_pid() as pid");
    this.pooled = told[0]?.pid !== told.state.pid;
    if (this.pooled) this.way.foundPooler();
  }

  private async answer<T>(sent: PromiseLike<T>): Promise<T> {
    try {
      return await this.orLost(sent);
    } catch (error) {
      const given = serverError(error, this.lost);
      if (isFatal(error) || useless_connection.test(given.code)) this.lose(given);
      throw given;
    }
  }

  private async openOnce(where: Where): Promise<Socket> {
    try {
      if (this.socket !== "unused" || this.lost) {
        throw new DatabaseError("08006", "the server closed the connection while it was being opened");
      }
      this.socket = "opening";
      this.socket = await openSocket(where);
      return this.socket;
    } catch (error) {
      this.lose(serverError(error, this.lost));
      throw error;
    }
  }
}

/** `postgres:///maps?host=/run/postgresql`: libpq's way to name a Unix socket, which postgres.js takes for a setting. */
export function socketFolder(url: string): { address: string; host?: string } {
  const match = /[?&]host=([^&]+)/.exec(url);
  if (match?.[1] === undefined) return { address: url };
  const address = url
    .replace(match[0], match[0].startsWith("?") ? "?" : "")
    .replace(/\?(&|$)/, (_, next) => (next ? "?" : ""));
  return { address, host: decodeURIComponent(match[1]) };
}

interface Where {
  host: string[];
  port: number[];
  path: string | false;
}

/** The first host that answers. */
async function openSocket({ host, port, path }: Where): Promise<Socket> {
  if (path) return connected(connect({ path }), path);
  let failure: unknown;
  for (const [number, name] of host.entries()) {
    try {
      // Statements are small and waited for: Nagle's algorithm would hold the second of two back.
      const socket = connect({ host: name, port: port[number] ?? 5432, noDelay: true });
      // TLS takes the name to verify from here.
      return Object.assign(await connected(socket, `${name}:${port[number]}`), { host: name });
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

function connected(socket: Socket, where: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string) => {
      socket.destroy();
      const hint = "Is the server running there, and is DATABASE_URL right?";
      reject(new DatabaseError("08001", `cannot reach the database at ${where}: ${reason}`, { hint }));
    };
    const timer = setTimeout(fail, connect_timeout_s * 1000, `no answer within ${connect_timeout_s} s`);
    const onError = (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      fail(error.code ?? error.message);
    };
    socket.once("error", onError);
    socket.once("connect", () => {
      clearTimeout(timer);
      socket.removeListener("error", onError);
      resolve(socket);
    });
  });
}
