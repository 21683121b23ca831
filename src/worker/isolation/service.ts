// Answers what an isolated handler asks of the worker: pages of results, stored files, its scratch directory, secrets, and its one transaction.
// The child can ask only about its own task, and for the database only if its declaration does. A child may say anything.
import { Permanent } from "../../core/errors/errors.js";
import { isOwnTrouble } from "../../engine/database/lost_connection.js";
import { Recorded, type SentStatement, templateOf } from "../finish/recorded.js";
import { Burst } from "./burst.js";
import { CopyCalls } from "./copy_calls.js";
import type { IsolatedTask } from "./isolated_task.js";
import { type Call, type PackedError, packError, type ReadRequest } from "./messages.js";
import { StoreCalls } from "./store_calls.js";
import { answerZoneCall, type ZoneCall } from "./zone_calls.js";

/** What waits for an answer waits in the worker's memory. */
const MOST_PENDING = 1000;

type Reply = (id: number, value: unknown, error?: PackedError) => void;

export class Service {
  private burst: Burst | null = null;
  private closed = false;
  private pending = 0;
  private readonly stored: StoreCalls;
  private readonly copies: CopyCalls;

  constructor(
    private readonly ctx: IsolatedTask,
    /** Whether its declaration asks for the database. */
    private readonly has_database: boolean,
    private readonly reply: Reply,
  ) {
    this.stored = new StoreCalls(() => ctx.storage);
    this.copies = new CopyCalls(() => ctx.services.handler_connection(), ctx.claim.stage);
  }

  answer(id: number, call: Call): void {
    if (this.pending >= MOST_PENDING) {
      this.reply(id, undefined, packError(new Permanent("too many calls at once", { code: "bad_call" })));
      return;
    }
    this.pending++;
    const answered = (value: unknown, error?: PackedError) => {
      this.pending--;
      this.reply(id, value, error);
    };
    this.asked(call).then(answered, (error: unknown) => answered(undefined, this.packed(error)));
  }

  private async asked(call: Call): Promise<unknown> {
    switch (call.what) {
      case "begin":
        return this.begin();
      case "sql":
        return this.open().statement(templateOf(call.strings), ...call.values);
      case "commit":
      case "rollback":
        return this.open().end(call.what);
      case "record":
        return this.record(call.statements);
      case "read_results":
        return this.read(call.request);
      case "predecessor":
        return this.predecessor();
      case "store":
        return this.stored.answer(call.call);
      case "copy":
        this.assertDatabase();
        return this.copies.answer(call.call);
      case "zone":
        return this.zone(call.call);
      // Through the worker's own ctx: what is told is taken out of what the child writes, whatever becomes of it.
      case "secret":
        return this.ctx.secret(call.name);
      case "unseal":
        return this.ctx.unseal(call.sealed, call.purpose);
      case "scratch":
        return this.ctx.scratch();
      default:
        throw new Permanent("the worker has no such answer", { code: "bad_call" });
    }
  }

  /** The child cannot tell a connection of ours from one of its own. */
  private packed(error: unknown): PackedError {
    this.ctx.lost_connection ||= isOwnTrouble(error);
    return packError(error);
  }

  private async read(request: ReadRequest): Promise<unknown> {
    const { services, claim } = this.ctx;
    if (!claim.stage.previous.some(({ stage_id }) => stage_id === request.stage_id)) {
      throw new Permanent(`stage "${claim.stage.stage}" does not come after the stage it wants to read`);
    }
    return services.commands.read_results(await services.connection(), request);
  }

  private async zone(call: ZoneCall): Promise<unknown> {
    return answerZoneCall(this.ctx.zones, () => this.ctx.scratch(), call, this.ctx.owner);
  }

  private record(statements: readonly SentStatement[]): void {
    this.assertDatabase();
    this.ctx.recorded ??= new Recorded();
    this.ctx.recorded.take(statements);
  }

  private async predecessor(): Promise<unknown> {
    const { services, claim, ordinal } = this.ctx;
    return services.commands.predecessor(await services.connection(), { stage_id: claim.stage.stage_id, ordinal });
  }

  private async begin(): Promise<void> {
    this.assertDatabase();
    if (this.closed) throw new Permanent("the task is over");
    if (this.burst?.is_over === false) throw new Permanent("ctx.db is already open");
    this.burst = new Burst(this.ctx.services.handler_connection, this.ctx.claim.stage);
    await this.burst.begun;
  }

  private open(): Burst {
    this.assertDatabase();
    if (this.burst === null) throw new Permanent("ctx.db is not open");
    return this.burst;
  }

  private assertDatabase(): void {
    if (!this.has_database) throw this.ctx.remote?.noDatabase() ?? noDatabase();
  }

  /** The task is over or asked to stop, or its process gone: it must not commit behind its successor. */
  close(): void {
    this.closed = true;
    this.burst?.close();
    this.stored.close();
    this.copies.close();
  }
}

export function noDatabase(): Permanent {
  const fix = 'say database: true beside isolation: "process" in its declaration';
  return new Permanent(`this handler runs in a process of its own, and has no database: ${fix}`, {
    code: "no_database",
  });
}
