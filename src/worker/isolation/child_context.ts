// ctx in a child process: the same class as in the worker, except that what needs the database, the scratch folder or the
// heartbeat goes over the channel, and so do stored files.
import type { CopyRows, SqlSession } from "../../core/task/context.js";
import { logRecord, max_log_bytes, max_log_lines } from "../../core/task/log_line.js";
import type { Database, Scalar } from "../../engine/database/database.js";
import { parameterText } from "../../engine/database/database.js";
import { newPace } from "../claim/batch.js";
import { HeldClaim } from "../claim/held.js";
import type { RecordedStatement } from "../finish/recorded.js";
import { TaskContext } from "../run/context.js";
import { deepFreeze } from "../run/freeze.js";
import type { TaskServices } from "../run/task_services.js";
import { orAborted } from "../wait.js";
import { sendCopy } from "./copy_calls.js";
import type { Call, FromChild, TaskOrder } from "./messages.js";
import { remoteStore } from "./store_calls.js";
import { remoteZones } from "./zone_calls.js";

const PROGRESS_MS = 100;

/** The way to the worker. */
export interface Channel {
  send(message: FromChild): void;
  call(run: number, call: Call): Promise<unknown>;
}

export class ChildContext extends TaskContext {
  private told_at = Number.NEGATIVE_INFINITY;
  private progress_timer: NodeJS.Timeout | undefined;
  private scratch_folder: Promise<string> | undefined;

  constructor(
    private readonly order: TaskOrder,
    private readonly channel: Channel,
  ) {
    const { claim_id, attempt, stage, task } = order;
    deepFreeze(stage.parameters);
    const batch = { claim_id, stage_id: stage.stage_id, attempt, crashes: 0, tasks: [task] };
    super(servicesOf(order, channel), new HeldClaim(batch, stage, newPace(), 0), task, performance.now());
  }

  protected override async burst<T>(work: (session: SqlSession) => Promise<T>): Promise<T> {
    const { signal } = this;
    await this.ask({ what: "begin" });
    let value: T;
    try {
      signal.throwIfAborted();
      value = await orAborted(work({ sql: this.sql }), signal);
    } catch (error) {
      // If it cannot be asked for, it has happened already.
      await this.ask({ what: "rollback" }).catch(() => {});
      throw error;
    }
    await this.ask({ what: "commit" });
    return value;
  }

  protected override copied(table: string, columns: readonly string[], rows: CopyRows): Promise<number> {
    return sendCopy((call) => this.ask({ what: "copy", call }), table, columns, rows);
  }

  /** Sent at once, so that the worker has them in the order in which they were said, among those of its own. */
  protected override async keep(statements: readonly RecordedStatement[]): Promise<void> {
    const sent = statements.map(({ strings, values }) => ({ strings: [...strings], values }));
    await this.ask({ what: "record", statements: sent });
  }

  /** The context of the attempt's span, which is the worker's. */
  override get traceparent(): string | null {
    return this.order.traceparent;
  }

  private readonly sql: SqlSession["sql"] = async <Row>(strings: TemplateStringsArray, ...values: Scalar[]) => {
    // Refused here, with the same words: a function could not even be sent.
    for (const value of values) parameterText(value);
    return (await this.ask({ what: "sql", strings: [...strings], values })) as Row[];
  };

  override scratch(): Promise<string> {
    this.scratch_folder ??= this.ask({ what: "scratch" }) as Promise<string>;
    return this.scratch_folder;
  }

  /** Sent at most ten times a second: a loop may tell of every pixel. */
  override progress(...made: Parameters<TaskContext["progress"]>): void {
    super.progress(...made);
    const wait = this.told_at + PROGRESS_MS - performance.now();
    if (wait <= 0) this.tellProgress();
    else this.progress_timer ??= setTimeout(this.tellProgress, wait).unref();
  }

  private readonly tellProgress = (): void => {
    clearTimeout(this.progress_timer);
    this.progress_timer = undefined;
    this.told_at = performance.now();
    if (this.phase === "running") this.channel.send({ t: "progress", run: this.order.run, made: this.progress_made! });
  };

  private ask(call: Call): Promise<unknown> {
    return this.channel.call(this.order.run, call);
  }
}

function servicesOf({ run, outbound, raster }: TaskOrder, channel: Channel): TaskServices {
  const commands = {
    read_results: (_: unknown, request: (Call & { what: "read_results" })["request"]) =>
      channel.call(run, { what: "read_results", request }),
    predecessor: () => channel.call(run, { what: "predecessor" }),
  };
  const logs: TaskServices["logs"] = {
    add: (_claim, _ordinal, budget, level, message, data, redaction) => {
      // The worker counts too, and says so when it is too much; beyond that nothing need travel.
      if (budget.lines > max_log_lines || budget.bytes > max_log_bytes) return;
      const line = JSON.stringify(logRecord(level, message, data, redaction));
      budget.lines++;
      budget.bytes += line.length;
      channel.send({ t: "log", run, line });
    },
  };
  // Results are read and written over the channel, so nobody looks at this.
  const connection = async () => ({}) as Database;
  // The worker asks for its own task's tenant, whatever is said here.
  const secret = (_tenant: string, name: string) => channel.call(run, { what: "secret", name }) as Promise<string>;
  const unseal = (_tenant: string, sealed: string, purpose: string) =>
    channel.call(run, { what: "unseal", sealed, purpose }) as Promise<string>;
  const store = remoteStore((call) => channel.call(run, { what: "store", call }));
  const zones = remoteZones((call) => channel.call(run, { what: "zone", call }));
  return {
    zones: () => zones,
    commands: commands as TaskServices["commands"],
    connection,
    handler_connection: connection,
    store,
    logs,
    scratch_dir: "",
    outbound,
    raster,
    secret,
    unseal,
  };
}
