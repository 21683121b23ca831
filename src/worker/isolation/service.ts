// Answers what an isolated handler asks of the worker: pages of results, its scratch directory, secrets, and its one transaction,
// which is held open here while its statements come over the channel. The child can ask only about its own task.

import type { SqlSession } from "../../core/context.js";
import { Permanent } from "../../core/errors.js";
import { DatabaseError } from "../../engine/database.js";
import { isOwnTrouble } from "../../engine/lost_connection.js";
import type { TaskContext } from "../context.js";
import { Recorded, type SentStatement } from "../recorded.js";
import { type Call, type PackedError, packError, type ReadRequest } from "./messages.js";
import { answerZoneCall, type ZoneCall } from "./zone_calls.js";

type Reply = (id: number, value: unknown, error?: PackedError) => void;

interface Burst {
  session: SqlSession;
  commit(): void;
  rollback(why: unknown): void;
  /** The call that asked for the end, answered when the database has. */
  asked_by: number | null;
}

/** The handler asked for it: not an error. */
const undone = Symbol("rolled back");

export class Service {
  private burst: Burst | null = null;
  private closed = false;

  constructor(
    private readonly ctx: TaskContext,
    private readonly reply: Reply,
  ) {}

  answer(id: number, call: Call): void {
    if (call.what === "begin") this.begin(id);
    else if (call.what === "commit" || call.what === "rollback") this.end(id, call.what);
    else {
      this.asked(call).then(
        (value) => this.reply(id, value),
        (error: unknown) => this.reply(id, undefined, this.packed(error)),
      );
    }
  }

  private asked(call: Exclude<Call, { what: "begin" | "commit" | "rollback" }>): Promise<unknown> {
    if (call.what === "sql") return this.statement(call.strings, call.values);
    if (call.what === "read_results") return this.read(call.request);
    if (call.what === "zone") return this.zone(call.call);
    if (call.what === "record") return this.record(call.statements);
    // Through the worker's own ctx: what is told is taken out of what the child writes, whatever becomes of it.
    if (call.what === "secret") return this.ctx.secret(call.name);
    if (call.what === "unseal") return this.ctx.unseal(call.sealed, call.purpose);
    return call.what === "predecessor" ? this.predecessor() : this.ctx.scratch();
  }

  /** The child cannot tell a connection of ours from one of its own. */
  private packed(error: unknown): PackedError {
    this.ctx.lost_connection ||= isOwnTrouble(error);
    return packError(error);
  }

  private async read(request: ReadRequest): Promise<unknown> {
    const { desk, claim } = this.ctx;
    if (!claim.stage.previous.some(({ stage_id }) => stage_id === request.stage_id)) {
      throw new Permanent(`stage "${claim.stage.stage}" does not come after the stage it wants to read`);
    }
    return desk.commands.read_results(await desk.connection(), request);
  }

  private async zone(call: ZoneCall): Promise<unknown> {
    return answerZoneCall(this.ctx.zones, () => this.ctx.scratch(), call);
  }

  private async record(statements: readonly SentStatement[]): Promise<void> {
    this.ctx.recorded ??= new Recorded();
    this.ctx.recorded.take(statements);
  }

  private async predecessor(): Promise<unknown> {
    const { desk, claim, ordinal } = this.ctx;
    return desk.commands.predecessor(await desk.connection(), { stage_id: claim.stage.stage_id, ordinal });
  }

  private begin(id: number): void {
    let begun: Burst | null = null;
    const work = (session: SqlSession) =>
      new Promise<void>((commit, rollback) => {
        // The connection may have been waited for longer than the child lived.
        if (this.closed) throw new Error("the handler's process is gone");
        begun = { session, commit, rollback, asked_by: null };
        this.burst = begun;
        this.reply(id, undefined);
      });
    this.ctx.db(work).then(
      () => this.ended(begun, id, undefined),
      (error: unknown) => this.ended(begun, id, error === undone ? undefined : this.packed(error)),
    );
  }

  private ended(burst: Burst | null, begun_by: number, error: PackedError | undefined): void {
    if (this.burst === burst) this.burst = null;
    if (burst === null) this.reply(begun_by, undefined, error);
    else if (burst.asked_by !== null) this.reply(burst.asked_by, undefined, error);
  }

  private end(id: number, how: "commit" | "rollback"): void {
    const { burst } = this;
    if (burst === null || burst.asked_by !== null) {
      this.reply(id, undefined, packError(over()));
      return;
    }
    burst.asked_by = id;
    if (how === "commit") burst.commit();
    else burst.rollback(undone);
  }

  private async statement(strings: readonly string[], values: readonly (string | number | boolean | null)[]) {
    const { burst } = this;
    if (burst === null || burst.asked_by !== null) throw over();
    const template = Object.assign([...strings], { raw: strings }) as unknown as TemplateStringsArray;
    return burst.session.sql(template, ...values);
  }

  /** The task is over or its process gone: what it has not committed is undone. */
  close(): void {
    this.closed = true;
    this.burst?.rollback(new Error("the handler ended before its transaction did"));
  }
}

function over(): DatabaseError {
  return new DatabaseError("25P01", "the transaction is over: its statements must be awaited inside it");
}
