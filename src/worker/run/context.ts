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
  Deliverable,
  JobFacts,
  Loose,
  Predecessor,
  Previous,
  TaskContext as TaskContextShape,
  TaskLog,
} from "../../core/task/context.js";
import { checkedDeliverable, max_deliverables } from "../../core/task/deliverable.js";
import type { LogLevel } from "../../core/task/log_line.js";
import { resultToOutcome } from "../../core/task/outcomes.js";
import type { RasterSettings } from "../../core/task/raster_settings.js";
import { Redaction } from "../../core/values/redaction.js";
import { usableTraceparent } from "../../core/values/traceparent.js";
import { storeOfTenant } from "../../storage/tenant_store.js";
import { makeFolderOf, removeFolder } from "../isolation/owned_files.js";
import { openPrevious, type ResultSource, readPredecessor } from "../plan/previous.js";
import { LogBudget } from "./logs.js";
import { type Progress, progressOf, sameProgress } from "./progress.js";
import { SqlAttempt } from "./sql_attempt.js";
import type { AttemptZones } from "./task_services.js";

export class TaskContext extends SqlAttempt implements TaskContextShape {
  /** The secrets this attempt has asked for; undefined while there are none. */
  redaction: Redaction | undefined;
  /** A connection of the worker was lost while the process of an isolated handler asked something of it. */
  lost_connection = false;
  /** The user of an isolated handler's process, where it has one of its own. */
  owner: number | undefined;
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

  private readable(): ResultSource {
    const { commands } = this.services;
    return { commands, store: this.storage, connection: () => this.readConnection(), signal: () => this.signal };
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
  progress(...made: Parameters<TaskContextShape["progress"]>): void {
    const now = progressOf(made, this.redaction);
    if (!sameProgress(this.progress_made, now)) this.progress_at = performance.now();
    this.progress_made = now;
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
