// The one transaction that an isolated handler may have open, held in the worker while its statements come over the channel. It
// ends when the handler says so, with the handler, or when it was open or idle for too long: others wait for the connection.

import { Transient } from "../../core/errors/errors.js";
import type { SqlSession } from "../../core/task/context.js";
import { type Database, DatabaseError, type Scalar } from "../../engine/database/database.js";
import { HandlerSql, releaseLocks } from "./handler_sql.js";

export interface BurstLimits {
  open_ms: number;
  idle_ms: number;
}

export const burst_limits: BurstLimits = { open_ms: 60_000, idle_ms: 10_000 };

/** The handler asked for it: not an error. */
const undone = Symbol("rolled back");

export class Burst {
  /** Settles when the database has said what became of it. */
  readonly ended: Promise<void>;
  /** Resolves when statements may come; rejects when it could not be begun. */
  readonly begun: Promise<void>;
  is_over = false;
  private sql: HandlerSql | null = null;
  private commit!: () => void;
  private rollback!: (why: unknown) => void;
  private running = 0;
  private why_over: unknown;
  private is_ending = false;
  private idle: NodeJS.Timeout | undefined;

  constructor(
    connection: () => Promise<Database>,
    { tenant_id, stage_id }: { tenant_id: string; stage_id: number },
    private readonly limits: BurstLimits = burst_limits,
  ) {
    const decided = new Promise<void>((resolve, reject) => {
      this.commit = resolve;
      this.rollback = reject;
    });
    decided.catch(() => {});
    let begin!: () => void;
    const started = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const work = async (): Promise<void> => {
      const db = await connection();
      const written = db.transaction(async (tx) => {
        await tx.sql`select set_config('fanfold.stage', ${String(stage_id)}, true)`;
        const sql = new HandlerSql(tx, tenant_id);
        this.sql = sql;
        const over = setTimeout(() => this.giveUp("open", limits.open_ms), limits.open_ms);
        this.rest();
        begin();
        try {
          await decided;
          await sql.end();
        } finally {
          clearTimeout(over);
          clearTimeout(this.idle);
          this.sql = null;
        }
      });
      await written.catch(async (error: unknown) => {
        await releaseLocks(db);
        throw error;
      });
    };
    this.ended = work()
      .catch((error: unknown) => {
        if (error !== undone) throw error;
      })
      .finally(() => {
        this.is_over = true;
      });
    this.ended.catch(() => {});
    this.begun = Promise.race([started, this.ended]);
    this.begun.catch(() => {});
  }

  readonly statement: SqlSession["sql"] = async <Row>(strings: TemplateStringsArray, ...values: Scalar[]) => {
    if (this.sql === null || this.is_ending) throw this.why_over ?? over();
    clearTimeout(this.idle);
    this.running++;
    try {
      return (await this.sql.statement(strings, values)) as Row[];
    } finally {
      this.running--;
      this.rest();
    }
  };

  /** How it ended, as soon as that is known. */
  async end(how: "commit" | "rollback"): Promise<void> {
    if (this.is_ending) throw this.why_over ?? over();
    this.is_ending = true;
    if (how === "commit") this.commit();
    else this.rollback(undone);
    await this.ended;
  }

  /** The task is over or its process gone: what it has not committed is undone. */
  close(): void {
    this.is_ending = true;
    this.rollback(new Error("the handler ended before its transaction did"));
  }

  private rest(): void {
    clearTimeout(this.idle);
    if (this.running > 0 || this.is_ending) return;
    const { idle_ms } = this.limits;
    this.idle = setTimeout(() => this.giveUp("idle", idle_ms), idle_ms);
  }

  private giveUp(what: "open" | "idle", ms: number): void {
    const fix = "compute first, then write in ctx.db";
    this.why_over = new Transient(`ctx.db was ${what} for more than ${ms / 1000} s, and was rolled back: ${fix}`, {
      code: "transaction_too_long",
    });
    this.is_ending = true;
    this.rollback(this.why_over);
  }
}

function over(): DatabaseError {
  return new DatabaseError("25P01", "the transaction is over: its statements must be awaited inside it");
}
