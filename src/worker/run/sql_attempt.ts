// The database as a handler has it: ctx.db for statements, now or with its finish, and ctx.copy for rows. What else an attempt has stands
// in attempt.ts and context.ts.
import { Permanent } from "../../core/errors/errors.js";
import type { CopyRows, RecordingSession, SqlSession } from "../../core/task/context.js";
import type { Database } from "../../engine/database/database.js";
import type { ClaimedTask } from "../../engine/work/commands.js";
import type { HeldClaim } from "../claim/held.js";
import { Recorded, type RecordedStatement } from "../finish/recorded.js";
import { orAborted } from "../wait.js";
import { Attempt } from "./attempt.js";
import type { TaskServices } from "./task_services.js";

export class SqlAttempt extends Attempt {
  /** What it keeps for its finish; undefined while there is nothing. */
  recorded: Recorded | undefined;
  private in_burst = false;

  constructor(
    readonly services: TaskServices,
    claim: HeldClaim,
    task: ClaimedTask,
    started_at: number,
  ) {
    super(claim, task, started_at);
  }

  db<T>(work: (session: SqlSession) => Promise<T>): Promise<T>;
  db<T>(work: (session: RecordingSession) => Promise<T>, options: { with_finish: true }): Promise<T>;
  async db<T>(work: (session: SqlSession) => Promise<T>, options?: { with_finish?: boolean }): Promise<T> {
    this.signal.throwIfAborted();
    if (options?.with_finish === true) return this.record(work);
    return this.alone("ctx.db is already open: use the session it gave, or wait until it is done", () =>
      this.burst(work),
    );
  }

  async copy(table: string, columns: readonly string[], rows: CopyRows): Promise<number> {
    this.signal.throwIfAborted();
    return this.alone("ctx.db is open: copy before it or after it", () => this.copied(table, columns, rows));
  }

  /** The connection of a burst is the one reads and copies use: one of them inside a burst would wait for itself. */
  protected readConnection(): Promise<Database> {
    if (this.in_burst) throw new Permanent("ctx.db is open: read results and compute first, then write in ctx.db");
    return this.services.connection();
  }

  private async alone<T>(refusal: string, work: () => Promise<T>): Promise<T> {
    if (this.in_burst) throw new Permanent(refusal);
    this.in_burst = true;
    try {
      return await work();
    } finally {
      this.in_burst = false;
    }
  }

  /** Needs no connection: any number at a time, also inside a burst. */
  private record<T>(work: (session: RecordingSession) => Promise<T>): Promise<T> {
    this.assertRunning();
    this.recorded ??= new Recorded();
    return this.recorded.record(work, (statements) => this.keep(statements));
  }

  protected keep(statements: readonly RecordedStatement[]): void | Promise<void> {
    this.assertRunning();
    this.recorded!.keep(statements);
  }

  private assertRunning(): void {
    if (this.phase !== "running") throw new Permanent("the task is over: await ctx.db before you return");
  }

  /** Ends with the task: a handler that was given up must neither keep the connection nor commit behind its successor. */
  protected async burst<T>(work: (session: SqlSession) => Promise<T>): Promise<T> {
    const { signal } = this;
    const db = await this.services.connection();
    return await db.transaction(async (session) => {
      // Whatever the worker's own role may see, a handler sees its task's tenant.
      await session.sql`select set_config('fanfold.tenant', ${this.tenant_id}, true),
        set_config('fanfold.stage', ${String(this.claim.stage.stage_id)}, true)`;
      // The connection may have been waited for.
      signal.throwIfAborted();
      return orAborted(work(session), signal);
    });
  }

  protected async copied(table: string, columns: readonly string[], rows: CopyRows): Promise<number> {
    const db = await this.services.connection();
    return orAborted(db.copy(table, columns, rows), this.signal);
  }
}
