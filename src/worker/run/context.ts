// What a handler gets as `ctx`: an attempt, and what its handler may ask for. Everything that is not asked for is not made. It
// can read results, log and use storage, never the queue.
import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { Permanent } from "../../core/errors/errors.js";
import type { OutboundPolicy } from "../../core/places/outbound.js";
import type { Store } from "../../core/places/store.js";
import type { TaskZones } from "../../core/places/zones.js";
import type {
  CopyRows,
  Deliverable,
  JobFacts,
  Loose,
  Predecessor,
  Previous,
  RecordingSession,
  SqlSession,
  TaskContext as TaskContextShape,
  TaskLog,
} from "../../core/task/context.js";
import { checkedDeliverable, max_deliverables } from "../../core/task/deliverable.js";
import type { LogLevel } from "../../core/task/log_line.js";
import { resultToOutcome } from "../../core/task/outcomes.js";
import type { RasterSettings } from "../../core/task/raster_settings.js";
import { Redaction } from "../../core/values/redaction.js";
import { usableTraceparent } from "../../core/values/traceparent.js";
import type { Database } from "../../engine/database/database.js";
import type { ClaimedTask } from "../../engine/work/commands.js";
import { storeOfTenant } from "../../storage/tenant_store.js";
import type { HeldClaim } from "../claim/held.js";
import { Recorded, type RecordedStatement } from "../finish/recorded.js";
import { makeFolderOf, removeFolder } from "../isolation/owned_files.js";
import { openPrevious, type ResultSource, readPredecessor } from "../plan/previous.js";
import { orAborted } from "../wait.js";
import { Attempt } from "./attempt.js";
import { LogBudget, type TaskLogs } from "./logs.js";

/** What contexts share: opened by the worker, lent to its tasks. */
export interface TaskServices extends ResultSource {
  /** For the SQL of handlers in processes of their own. */
  handler_connection(): Promise<Database>;
  /** It holds the files of all tenants. */
  store: Store;
  logs: Pick<TaskLogs, "add">;
  scratch_dir: string;
  outbound: OutboundPolicy;
  raster: RasterSettings;
  /** The zones as this attempt sees them; left out where there are none. */
  zones?: (ctx: TaskContext) => AttemptZones;
  secret(tenant_id: string, name: string): Promise<string>;
  unseal(tenant_id: string, sealed: string, purpose: string): Promise<string>;
}

/** The zones hear of the attempt's end. */
export interface AttemptZones extends TaskZones {
  /** Its finish was taken. */
  finished?(): Promise<void>;
  /** It will certainly not be finished: what it has put there can be removed. */
  failed?(): Promise<void>;
}

export interface Progress {
  done?: number;
  total?: number;
  share?: number;
  message?: string;
}

export class TaskContext extends Attempt implements TaskContextShape {
  /** The secrets this attempt has asked for; undefined while there are none. */
  redaction: Redaction | undefined;
  /** A connection of the worker was lost while the process of an isolated handler asked something of it. */
  lost_connection = false;
  /** The user of an isolated handler's process, where it has one of its own. */
  owner: number | undefined;
  /** What it keeps for its finish; undefined while there is nothing. */
  recorded: Recorded | undefined;
  handed_over: unknown = undefined;
  delivered: Deliverable[] | undefined;
  progress_made: Progress | null = null;
  /** When what is reported last changed: saying the same again is no progress. */
  progress_at = 0;
  private reader: Previous | undefined;
  private own_store: Store | undefined;
  protected own_zones: AttemptZones | undefined;
  private logger: TaskLog | undefined;
  private scratch_made: Promise<string> | undefined;
  private in_burst = false;

  constructor(
    readonly services: TaskServices,
    claim: HeldClaim,
    task: ClaimedTask,
    started_at: number,
  ) {
    super(claim, task, started_at);
  }

  get stage(): string {
    return this.claim.stage.stage;
  }

  get metadata(): Loose | null {
    return this.task[3] ?? null;
  }

  get traceparent(): string | null {
    return this.trace?.traceparent ?? this.given_traceparent ?? null;
  }

  /** The one its job was submitted with; a lone task has it in its metadata. */
  get given_traceparent(): string | undefined {
    const { stage } = this.claim;
    return usableTraceparent(stage.job_id === null ? this.metadata?.traceparent : stage.traceparent);
  }

  get job(): JobFacts | null {
    const { stage } = this.claim;
    if (stage.job_id === null) return null;
    return {
      job_id: stage.job_id,
      job_type: stage.job_type ?? "",
      tenant_id: stage.tenant_id,
      correlation_id: stage.correlation_id,
      parameters: stage.parameters ?? {},
    };
  }

  get previous(): Previous {
    this.reader ??= openPrevious(this.readable(), this.claim.stage, this.ordinal);
    return this.reader;
  }

  predecessor<Result = Loose>(): Promise<Predecessor<Result> | null> {
    return readPredecessor(this.readable(), this.claim.stage, this.ordinal);
  }

  /** The connection of a burst is the one reads use: a read inside a burst would wait for itself. */
  private readable(): ResultSource {
    const { services } = this;
    const connection = () => {
      if (this.in_burst) throw new Permanent("ctx.db is open: read results and compute first, then write in ctx.db");
      return services.connection();
    };
    return { commands: services.commands, store: this.storage, connection, signal: () => this.signal };
  }

  db<T>(work: (session: SqlSession) => Promise<T>): Promise<T>;
  db<T>(work: (session: RecordingSession) => Promise<T>, options: { with_finish: true }): Promise<T>;
  async db<T>(work: (session: SqlSession) => Promise<T>, options?: { with_finish?: boolean }): Promise<T> {
    this.signal.throwIfAborted();
    return options?.with_finish === true ? this.record(work) : this.now(work);
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
  private async now<T>(work: (session: SqlSession) => Promise<T>): Promise<T> {
    if (this.in_burst) throw new Permanent("ctx.db is already open: use the session it gave, or wait until it is done");
    this.in_burst = true;
    try {
      return await this.burst(work);
    } finally {
      this.in_burst = false;
    }
  }

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

  /** Holds the connection of bursts: a copy while one is open would wait for itself. */
  async copy(table: string, columns: readonly string[], rows: CopyRows): Promise<number> {
    this.signal.throwIfAborted();
    if (this.in_burst) throw new Permanent("ctx.db is open: copy before it or after it");
    this.in_burst = true;
    try {
      return await this.copied(table, columns, rows);
    } finally {
      this.in_burst = false;
    }
  }

  protected async copied(table: string, columns: readonly string[], rows: CopyRows): Promise<number> {
    const db = await this.services.connection();
    return orAborted(db.copy(table, columns, rows), this.signal);
  }

  async secret(name: string): Promise<string> {
    return this.told(await this.services.secret(this.tenant_id, name));
  }

  async unseal(sealed: string, purpose: string): Promise<string> {
    return this.told(await this.services.unseal(this.tenant_id, sealed, purpose));
  }

  /** Before the handler has it, so that no line can be written with it. */
  private told(value: string): string {
    this.redaction ??= new Redaction();
    this.redaction.add(value);
    return value;
  }

  /** A handler that asked for secrets may have put one into what it returns, hands over or delivers. */
  redacted(value: unknown): unknown {
    const { redaction } = this;
    if (redaction === undefined) return value;
    const clean = (given: unknown) =>
      given === undefined ? undefined : JSON.parse(redaction.json(JSON.stringify(given)));
    if (this.delivered !== undefined) this.delivered = redaction.value(this.delivered) as Deliverable[];
    if (resultToOutcome({ next_stage_params: this.handed_over }).success) this.handed_over = clean(this.handed_over);
    // What is no good result stays as it was, and is redacted as a failure.
    return resultToOutcome(value).success ? clean(value) : value;
  }

  get outbound(): OutboundPolicy {
    return this.services.outbound;
  }

  get raster(): RasterSettings {
    return this.services.raster;
  }

  /** A share between 0 and 1, or counts; sent with the next heartbeat. */
  progress(made: number | { done: number; total: number; message?: string }, note?: string): void {
    const message = typeof made === "number" ? note : (made.message ?? note);
    const told: Progress =
      typeof made === "number" ? { share: finite(made) } : { done: finite(made.done), total: finite(made.total) };
    if (message !== undefined) {
      const clean = this.redaction?.text(String(message)) ?? String(message);
      told.message = clean.slice(0, 500).replaceAll("\u0000", "");
    }
    if (!sameProgress(this.progress_made, told)) this.progress_at = performance.now();
    this.progress_made = told;
  }

  /** Handed to the tasks of the next stage beside the result. */
  next_stage_params(value: Record<string, unknown>): void {
    this.handed_over = value;
  }

  deliver(what: Deliverable): void {
    this.delivered ??= [];
    if (this.delivered.length === max_deliverables) {
      throw new Permanent(`a task may tell of ${max_deliverables} deliverables: tell of many with a count`);
    }
    this.delivered.push(checkedDeliverable(what));
  }

  get log(): TaskLog {
    if (this.logger === undefined) {
      const budget = new LogBudget();
      const line = (level: LogLevel) => (message: string, data?: Record<string, unknown>) =>
        this.services.logs.add(this.claim, this.ordinal, budget, level, message, data, this.redaction);
      this.logger = { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
    }
    return this.logger;
  }

  /** The files of the task's tenant, whatever the worker can reach. */
  get storage(): Store {
    this.own_store ??= storeOfTenant(this.services.store, this.tenant_id);
    return this.own_store;
  }

  get zones(): TaskZones {
    if (this.services.zones === undefined) throw new Permanent("this worker has no zones", { code: "no_zones" });
    this.own_zones ??= this.services.zones(this);
    return this.own_zones;
  }

  /** How the attempt ended, for what it may have left in zones; undefined when it never asked for them. */
  endZones(how: "finished" | "failed"): Promise<void> | undefined {
    return this.own_zones?.[how]?.();
  }

  scratch(): Promise<string> {
    if (this.scratch_made === undefined) {
      const dir = join(this.services.scratch_dir, `${this.task_id}-${this.attempt}-${this.claim.claim_id}`);
      this.scratch_made = this.makeScratch(dir);
    }
    return this.scratch_made;
  }

  private async makeScratch(dir: string): Promise<string> {
    if (this.owner === undefined) await mkdir(dir, { recursive: true, mode: 0o700 });
    else makeFolderOf(this.owner, dir);
    return dir;
  }

  get effect_key(): string {
    const { job_id, stage, stage_id } = this.claim.stage;
    const place = job_id === null ? `${stage_id}/${this.ordinal}` : `${job_id}/${stage}/${this.index}`;
    return createHash("sha256").update(place).digest("hex");
  }

  get has_scratch(): boolean {
    return this.scratch_made !== undefined;
  }

  async removeScratch(): Promise<void> {
    const dir = await this.scratch_made?.catch(() => undefined);
    if (dir !== undefined) await removeFolder(dir);
  }
}

function sameProgress(before: Progress | null, now: Progress): boolean {
  if (before === null) return false;
  const { done, total, share, message } = before;
  return done === now.done && total === now.total && share === now.share && message === now.message;
}

function finite(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}
