// What an isolated handler copies, copied by the worker for it: lines travel in pieces, each taken when the one before is through. Only
// into tables for raw rows of its own tenant: the worker's login may do more than the handler's role, and COPY knows no other fence.
import { Permanent } from "../../core/errors/errors.js";
import { quoted } from "../../core/errors/problems.js";
import type { CopyLines, CopyRows } from "../../core/task/context.js";
import { copyPieces, type Database } from "../../engine/database/database.js";
import { Burst } from "./burst.js";

export type CopyCall =
  | { verb: "open"; table: string; columns: readonly string[] }
  | { verb: "piece"; bytes: Uint8Array; rows: number }
  | { verb: "end" }
  | { verb: "drop" };

const piece_bytes = 1024 * 1024;

/** ctx.copy of a child. */
export async function sendCopy(
  ask: (call: CopyCall) => Promise<unknown>,
  table: string,
  columns: readonly string[],
  rows: CopyRows,
): Promise<number> {
  await ask({ verb: "open", table, columns });
  try {
    let counted = 0;
    const count = (more: number) => {
      counted += more;
    };
    for await (const piece of copyPieces(rows, columns.length, count, piece_bytes)) {
      const bytes = typeof piece === "string" ? Buffer.from(piece) : piece;
      await ask({ verb: "piece", bytes, rows: counted });
      counted = 0;
    }
    return (await ask({ verb: "end" })) as number;
  } catch (error) {
    await ask({ verb: "drop" }).catch(() => {});
    throw error;
  }
}

export class CopyCalls {
  private running: RunningCopy | null = null;
  private closed = false;

  constructor(
    private readonly connection: () => Promise<Database>,
    private readonly task: { tenant_id: string; stage_id: number },
  ) {}

  async answer(call: CopyCall): Promise<unknown> {
    if (call.verb === "open") return this.begin(call.table, call.columns);
    const { running } = this;
    if (running === null) throw new Permanent("no copy is open", { code: "bad_call" });
    if (call.verb === "piece") return running.give({ bytes: call.bytes, rows: call.rows });
    this.running = null;
    return call.verb === "end" ? running.end() : running.drop();
  }

  private async begin(table: string, columns: readonly string[]): Promise<void> {
    if (this.closed) throw new Permanent("the task is over");
    if (this.running !== null) throw new Permanent("a copy is already open", { code: "bad_call" });
    const name = /^geo\.([a-z0-9_]+)$/.exec(String(table))?.[1];
    if (name === undefined || !(await this.isOwn(name))) throw refused(table);
    this.running = new RunningCopy(await this.connection(), table, columns);
  }

  /** Asked as the handler: the answer is its tenant's. */
  private async isOwn(name: string): Promise<boolean> {
    const burst = new Burst(this.connection, this.task);
    await burst.begun;
    const [row] = await burst.statement<{ own: boolean }>`select geo.own_stage(${name}::text) as own`;
    await burst.end("commit");
    return row?.own === true;
  }

  close(): void {
    this.closed = true;
    this.running?.drop().catch(() => {});
    this.running = null;
  }
}

/** A copy whose rows come one piece at a time: a piece is taken when the database has asked for it. */
class RunningCopy {
  private readonly copied: Promise<number>;
  private waiting: ((line: IteratorResult<CopyLines>) => void) | null = null;
  private given: { line: CopyLines; taken: () => void } | null = null;
  private ended: "end" | "drop" | null = null;

  constructor(db: Database, table: string, columns: readonly string[]) {
    this.copied = db.copy(table, columns, this.lines());
    this.copied.catch(() => {});
  }

  async give(line: CopyLines): Promise<void> {
    const taken = new Promise<void>((resolve) => {
      this.given = { line, taken: resolve };
    });
    this.wake();
    // A copy that was refused takes nothing more, and says so here.
    await Promise.race([taken, this.copied]);
  }

  end(): Promise<number> {
    this.ended = "end";
    this.wake();
    return this.copied;
  }

  async drop(): Promise<void> {
    this.ended = "drop";
    this.wake();
    await this.copied.catch(() => {});
  }

  private wake(): void {
    this.waiting?.({ done: true, value: undefined });
    this.waiting = null;
  }

  private async *lines(): AsyncGenerator<CopyLines> {
    for (;;) {
      const { given } = this;
      this.given = null;
      if (given !== null) {
        yield given.line;
        given.taken();
      } else if (this.ended === "drop") throw new Permanent("the handler ended before its copy did");
      else if (this.ended === "end") return;
      else
        await new Promise<unknown>((resolve) => {
          this.waiting = resolve;
        });
    }
  }
}

function refused(table: unknown): Permanent {
  return new Permanent(
    `${quoted(table)} is no table that a handler in a process of its own may copy into: take one from geo.make_stage, or insert with ctx.db`,
    { code: "bad_table" },
  );
}
