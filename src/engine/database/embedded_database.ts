// The driver for the embedded default: PGlite, a Postgres of one session inside this process. Everything queues for that
// session, and since it is a superuser, every transaction of a role starts with `set local role`. Owns its data folder.
import { AsyncLocalStorage } from "node:async_hooks";
import type { PGlite, PGliteOptions, Results } from "@electric-sql/pglite";
import {
  type Column,
  type CopyRows,
  closedError,
  copyPieces,
  copyTarget,
  type Database,
  DatabaseError,
  type Listening,
  type OpenTransaction,
  parameterText,
  quoteName,
  quoteTable,
  type Scalar,
  type Stoppable,
  statementText,
} from "./database.js";
import { decoders } from "./decoders.js";
import { openFolder } from "./embedded_folder.js";
import { type Session, Transaction } from "./transaction.js";

export interface Embedded {
  /** The one session as seen by a role; null is the superuser. Closing such a view leaves the session open. */
  as(role: string | null): Database;
  close(): Promise<void>;
}

export interface EmbeddedOptions {
  /** Loads PostGIS: ten seconds at the first start, and about 1 GB of memory. Unless told, where it was loaded before. */
  postgis?: boolean | undefined;
  /** A database that is new starts from this dump of another one's folder. */
  load?: Blob | (() => Promise<Blob | undefined>);
}

/** `data_dir` is a folder of its own, made if it is not there, or "memory://". */
export async function openEmbedded(data_dir: string, options: EmbeddedOptions = {}): Promise<EmbeddedDatabase> {
  const { PGlite } = await import("@electric-sql/pglite");
  const settings: PGliteOptions = {};
  const loadPostgis = async () => {
    settings.extensions = { postgis: (await import("@electric-sql/pglite-postgis")).postgis };
  };
  const loadDump = async () => {
    const dump = typeof options.load === "function" ? await options.load() : options.load;
    if (dump !== undefined) settings.loadDataDir = dump;
  };
  if (data_dir === "memory://") {
    if (options.postgis) await loadPostgis();
    await loadDump();
    return new EmbeddedDatabase(await PGlite.create("memory://", settings), () => {});
  }
  const folder = await openFolder(data_dir);
  try {
    if (folder.is_new) await loadDump();
    const postgis = options.postgis ?? folder.uses_postgis;
    if (postgis) await loadPostgis();
    const pg = await PGlite.create(folder.database_dir, settings);
    folder.initialised();
    if (postgis) folder.usesPostgis();
    return new EmbeddedDatabase(pg, folder.release);
  } catch (error) {
    folder.release();
    throw folder.explain(error);
  }
}

const parsers = decoders;
const serializers = Object.fromEntries(Object.keys(decoders).map((oid) => [oid, (text: string) => text]));

/** Whether the work that runs now holds the session. */
const inside = new AsyncLocalStorage<{ session: EmbeddedDatabase; over: boolean }>();

export class EmbeddedDatabase implements Embedded, Session {
  private last: Promise<unknown> = Promise.resolve();
  private readonly listeners = new Map<string, Set<(payload: string) => void>>();
  private closing: Promise<void> | null = null;

  constructor(
    private readonly pg: PGlite,
    private readonly release: () => void,
  ) {
    pg.onNotification((channel, payload) => {
      for (const on_message of this.listeners.get(channel) ?? []) on_message(payload);
    });
  }

  as(role: string | null): Database {
    return new EmbeddedView(this, role);
  }

  close(): Promise<void> {
    this.closing ??= this.last.then(async () => {
      try {
        await this.pg.close();
      } finally {
        this.release();
      }
    });
    return this.closing;
  }

  /** The whole database as one file, to open others from. */
  dump(): Promise<Blob> {
    return this.alone(() => this.pg.dumpDataDir("none"));
  }

  /** First come, first served; one at a time, because there is one session. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    if (this.closing) return Promise.reject(closedError());
    const holder = inside.getStore();
    if (holder?.session === this && !holder.over) return Promise.reject(nestedError());
    const mine = this.last.then(work);
    this.last = mine.catch(() => {});
    return mine;
  }

  async transaction<T>(role: string | null, work: (tx: OpenTransaction) => Promise<T>): Promise<T> {
    return this.alone(async () => {
      await this.begin(role);
      const tx = new Transaction(this);
      const holder = { session: this, over: false };
      try {
        const result = await inside.run(holder, work, tx);
        await tx.end("commit");
        return result;
      } catch (error) {
        if (!tx.over) await tx.end("rollback");
        throw error;
      } finally {
        holder.over = true;
      }
    });
  }

  async statement(text: string, values: (string | null)[], blob?: Blob): Promise<Record<string, unknown>[]> {
    try {
      const options = blob ? { parsers, serializers, blob } : { parsers, serializers };
      return (await this.pg.query<Record<string, unknown>>(text, values, options)).rows;
    } catch (error) {
      throw embeddedError(error);
    }
  }

  async script(text: string): Promise<string | undefined> {
    try {
      const results: Results[] = await this.pg.exec(text);
      return results.at(-1)?.command;
    } catch (error) {
      throw embeddedError(error);
    }
  }

  async describe(text: string): Promise<Column[]> {
    try {
      const { resultFields } = await this.pg.describeQuery(text);
      return resultFields.map(({ name, dataTypeID }) => ({ name, type: dataTypeID }));
    } catch (error) {
      throw embeddedError(error);
    }
  }

  /** Begins a transaction as the role; a role that cannot be taken leaves none open. */
  private async begin(role: string | null): Promise<void> {
    try {
      await this.script(role === null ? "begin" : `begin; set local role ${quoteName(role)}`);
    } catch (error) {
      await this.script("rollback");
      throw error;
    }
  }

  /** One statement or script as the role. */
  single<T>(role: string | null, step: () => Promise<T>): Promise<T> {
    if (role === null) return this.alone(step);
    return this.alone(async () => {
      await this.begin(role);
      try {
        const result = await step();
        await this.script("commit");
        return result;
      } catch (error) {
        await this.script("rollback");
        throw error;
      }
    });
  }

  async listen(channel: string, on_message: (payload: string) => void, on_listening?: () => void): Promise<Listening> {
    await this.alone(() => this.script(`listen ${quoteName(channel)}`));
    const listeners = this.listeners.get(channel) ?? new Set();
    this.listeners.set(channel, listeners);
    // A function of its own, so that one callback given twice is two listeners.
    const listener = (payload: string) => on_message(payload);
    listeners.add(listener);
    if (on_listening) queueMicrotask(on_listening);
    return {
      hears: true,
      stop: async () => {
        if (!listeners.delete(listener) || listeners.size > 0 || this.closing) return;
        await this.alone(async () => {
          if (listeners.size === 0) await this.script(`unlisten ${quoteName(channel)}`);
        });
      },
    };
  }
}

class EmbeddedView implements Database {
  readonly kind = "embedded";
  private readonly listening = new Set<Stoppable>();
  private closed = false;

  constructor(
    private readonly session: EmbeddedDatabase,
    private readonly role: string | null,
  ) {}

  async sql<Row>(strings: TemplateStringsArray, ...values: Scalar[]): Promise<Row[]> {
    const parameters = values.map(parameterText);
    this.assertOpen();
    const rows = this.session.single(this.role, () => this.session.statement(statementText(strings), parameters));
    return rows as Promise<Row[]>;
  }

  async script(text: string): Promise<void> {
    this.assertOpen();
    await this.session.single(this.role, () => this.session.script(text));
  }

  async transaction<T>(work: (tx: OpenTransaction) => Promise<T>): Promise<T> {
    this.assertOpen();
    return this.session.transaction(this.role, work);
  }

  async copy(table: string, columns: readonly string[], rows: CopyRows): Promise<number> {
    this.assertOpen();
    const pieces: (string | Uint8Array)[] = [];
    let total = 0;
    const count = (piece_rows: number) => {
      total += piece_rows;
    };
    for await (const piece of copyPieces(rows, columns.length, count)) pieces.push(piece);
    const blob = new Blob(pieces as string[]);
    const target = copyTarget(table, columns);
    if (this.role === null) {
      await this.session.alone(() => this.session.statement(`copy ${target} from '/dev/blob'`, [], blob));
      return total;
    }
    // PGlite copies from a file only, which is a superuser's right; the rows must still be written as the role.
    const names = columns.map(quoteName).join(", ");
    await this.session.transaction(null, async (tx) => {
      await tx.script(
        `create temp table fanfold_copy on commit drop as select ${names} from ${quoteTable(table)} with no data;
         grant select on fanfold_copy to ${quoteName(this.role ?? "")}`,
      );
      await this.session.statement("copy fanfold_copy from '/dev/blob'", [], blob);
      await tx.script(`set local role ${quoteName(this.role ?? "")}; insert into ${target} select * from fanfold_copy`);
    });
    return total;
  }

  async listen(channel: string, on_message: (payload: string) => void, on_listening?: () => void): Promise<Listening> {
    this.assertOpen();
    const listener = await this.session.listen(channel, on_message, on_listening);
    this.listening.add(listener);
    return {
      hears: true,
      stop: () => {
        this.listening.delete(listener);
        return listener.stop();
      },
    };
  }

  async close(): Promise<void> {
    this.closed = true;
    await Promise.all([...this.listening].map((listener) => listener.stop()));
    this.listening.clear();
  }

  private assertOpen(): void {
    if (this.closed) throw closedError();
  }
}

function nestedError(): DatabaseError {
  return new DatabaseError(
    "25001",
    "the embedded database has one session, and this code is inside a transaction of it",
    {
      hint: "Use the transaction that was handed in, or do this after it.",
    },
  );
}

function embeddedError(error: unknown): DatabaseError {
  if (error instanceof DatabaseError) return error;
  const given = error as Record<string, string | undefined>;
  const message = given.message ?? String(error);
  if (given.severity === undefined) {
    return new DatabaseError("XX000", `the embedded database failed: ${message}`, {
      hint: "If this comes again, start the process anew; the data folder keeps what was committed.",
    });
  }
  return new DatabaseError(given.code ?? "XX000", message, {
    detail: given.detail,
    hint: given.hint,
    where: given.where,
    schema: given.schema,
    table: given.table,
    column: given.column,
    constraint: given.constraint,
    position: given.position === undefined ? undefined : Number(given.position),
  });
}
