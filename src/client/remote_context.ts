// What a handler gets as `ctx` in a worker without a database: the same words, over HTTP where the service is needed.
import { createHash } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Effect, effect, max_effects } from "../core/api/work/effects.js";
import { type StoredResult, type WorkStage, type WorkTask, work_api } from "../core/api/work.js";
import { ContractViolation, Permanent } from "../core/errors/errors.js";
import { storableText } from "../core/errors/failures.js";
import { zodProblems } from "../core/errors/foreign_errors.js";
import { default_policy, type OutboundPolicy } from "../core/places/outbound.js";
import type { Store } from "../core/places/store.js";
import type { TaskZones, ZoneRef } from "../core/places/zones.js";
import type {
  Deliverable,
  JobFacts,
  Loose,
  Predecessor,
  Previous,
  PreviousItem,
  TaskLog,
} from "../core/task/context.js";
import { checkedDeliverable, max_deliverables } from "../core/task/deliverable.js";
import type { InvokedContext } from "../core/task/invoke.js";
import { type LogLevel, logRecord, max_log_bytes, max_log_lines, truncated_log } from "../core/task/log_line.js";
import { openPrevious, type ResultRange } from "../core/task/previous.js";
import { default_raster_settings, type RasterSettings } from "../core/task/raster_settings.js";
import { Redaction } from "../core/values/redaction.js";
import { checkedSecretName } from "../core/values/secrets.js";
import { usableTraceparent } from "../core/values/traceparent.js";
import type { Caller } from "./call.js";
import { openRemoteZones } from "./remote_zones.js";
import { refusedBytes, type Transport } from "./transport.js";

export interface RemoteDesk {
  worker_id: string;
  call: Caller;
  bytes: Transport["bytes"];
  scratch_dir: string;
  folders: Folders;
  storage: Store | null;
  secrets: ((name: string) => Promise<string | null> | string | null) | null;
  outbound: Partial<OutboundPolicy>;
  /** A line, on its way with others. */
  log(line: { task: WorkTask; at: number; level: LogLevel; message: string; data?: unknown }): void;
}

/** `owner`: the user of the process that a handler runs in, where it has one of its own. */
export interface Folders {
  make(dir: string, owner: number | undefined): Promise<unknown>;
  remove(dir: string): Promise<void>;
}

export const own_folders: Folders = {
  make: (dir) => mkdir(dir, { recursive: true, mode: 0o700 }),
  remove: (dir) => rm(dir, { recursive: true, force: true }),
};

export interface RemoteProgress {
  share?: number;
  done?: number;
  total?: number;
  message?: string;
}

export interface PageRequest {
  stage_id: number;
  from: number;
  to: number | null;
}

/** Why a task was asked to stop. */
export type Aborted = "timeout" | "lost" | "cancelled" | "stopping";

export class RemoteContext implements InvokedContext {
  aborted: Aborted | null = null;
  handed_over: Record<string, unknown> | undefined;
  readonly delivered: Deliverable[] = [];
  readonly effects: Effect[] = [];
  /** Files of this attempt: of no use if it fails. */
  readonly uploaded: ZoneRef[] = [];
  #zones: TaskZones | undefined;
  progress_made: RemoteProgress | null = null;
  progress_at = 0;
  /** When its time began; infinite while a task with a process of its own waits for memory, and for its module. */
  timed_from = performance.now();
  readonly #controller = new AbortController();
  #previous: Previous | undefined;
  #scratch: Promise<string> | undefined;
  /** The secrets this attempt has asked for; undefined while there are none. */
  redaction: Redaction | undefined;
  owner: number | undefined;
  /** Its process, where it has one of its own, has let go of it. */
  left: Promise<unknown> = Promise.resolve();
  #lines = 0;
  #bytes = 0;

  constructor(
    private readonly desk: RemoteDesk,
    readonly given: WorkTask,
    readonly facts: WorkStage,
  ) {}

  get task_id(): string {
    return this.given.task_id;
  }
  get tenant_id(): string {
    return this.facts.tenant_id;
  }
  get job_id(): string | null {
    return this.facts.job_id;
  }
  get task_type(): string {
    return this.facts.task_type;
  }
  get stage(): string {
    return this.facts.stage;
  }
  get ordinal(): number {
    return this.given.ordinal;
  }
  get index(): string {
    return this.given.index;
  }
  get attempt(): number {
    return this.given.attempt;
  }
  get metadata(): Loose | null {
    return this.given.metadata ?? null;
  }
  get parameters(): unknown {
    return this.given.parameters ?? this.facts.parameters ?? {};
  }

  get job(): JobFacts | null {
    const { job_id, job_type, correlation_id, parameters } = this.facts;
    if (job_id === null) return null;
    return {
      job_id,
      job_type: job_type ?? "",
      tenant_id: this.tenant_id,
      correlation_id,
      parameters: parameters ?? {},
    };
  }

  get elapsed_ms(): number {
    return Math.max(0, performance.now() - this.timed_from);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(why: Aborted, reason: Error): void {
    this.aborted ??= why;
    if (why === "lost") this.aborted = why;
    this.#controller.abort(reason);
  }

  get previous(): Previous {
    const pages = (range: ResultRange) => this.#pages(range);
    this.#previous ??= openPrevious({ pages, items: (range) => flat(pages(range)) }, this.facts, this.ordinal);
    return this.#previous;
  }

  async *#pages({ stage, from, to }: ResultRange): AsyncGenerator<PreviousItem[], void, void> {
    for (let start: number | null = from; start !== null; ) {
      const page = await this.#page({ stage_id: stage.stage_id, from: start, to });
      for (const few of bounded(page.items))
        yield await Promise.all(few.map((item) => this.#readable(item, stage.name)));
      start = page.next;
    }
  }

  #page({ stage_id, from, to }: PageRequest): Promise<{ items: StoredResult[]; next: number | null }> {
    const { call, worker_id } = this.desk;
    const query = { stage_id, from, limit: 1000, ...(to === null ? {} : { to }) };
    return call(work_api.results, { params: { worker_id }, query, signal: this.signal });
  }

  /** For a handler in a process of its own: results as they are, and where the next begin; at most one of them is large. */
  async page(request: PageRequest): Promise<{ items: PreviousItem[]; next: number | null }> {
    const { items, next } = await this.#page(request);
    const [few = []] = bounded(items);
    const stage = this.facts.previous.find(({ stage_id }) => stage_id === request.stage_id)?.name ?? "";
    const read = await Promise.all(few.map((item) => this.#readable(item, stage)));
    return { items: read, next: items[few.length]?.ordinal ?? next };
  }

  /** A large result is read by its own address. */
  async #readable({ ordinal, index, result, next_stage_params, left_out }: StoredResult, stage: string) {
    const facts = { ordinal, index, next_stage_params: next_stage_params as Loose | null };
    if (left_out === null) return { ...facts, result: result as Loose };
    const { url, bytes, reason } = left_out;
    if (url === null) {
      const what = `the result of ${index} in stage ${stage} (${bytes} bytes) is not sent over HTTP`;
      throw new Permanent(`${what}: ${reason}`, { code: "result_left_out" });
    }
    const response = await this.desk.bytes(url, { method: "GET", signal: this.signal });
    const text = await response.text();
    if (!response.ok) throw refusedBytes(url, response, text);
    return { ...facts, result: JSON.parse(text) as Loose };
  }

  async predecessor<Result = Loose>(): Promise<Predecessor<Result> | null> {
    const { call, worker_id } = this.desk;
    const query = { task_id: this.task_id };
    const { predecessor: found } = await call(work_api.predecessor, {
      params: { worker_id },
      query,
      signal: this.signal,
    });
    if (found === null) return null;
    return { ...(await this.#readable(found, "before")), status: found.status, error: found.error ?? null };
  }

  progress(made: number | { done: number; total: number; message?: string }, note?: string): void {
    const message = typeof made === "number" ? note : (made.message ?? note);
    const told: RemoteProgress =
      typeof made === "number"
        ? { share: Math.min(Math.max(finite(made), 0), 1) }
        : { done: finite(made.done), total: finite(made.total) };
    if (message !== undefined)
      told.message = storableText(this.redaction?.text(String(message)) ?? String(message), 500);
    // Saying the same again is no progress.
    if (JSON.stringify(this.progress_made) !== JSON.stringify(told)) this.progress_at = performance.now();
    this.progress_made = told;
  }

  next_stage_params(value: Record<string, unknown>): void {
    this.handed_over = value;
  }

  deliver(what: Deliverable): void {
    if (this.delivered.length === max_deliverables) {
      throw new Permanent(`a task may tell of ${max_deliverables} deliverables: tell of many with a count`);
    }
    this.delivered.push(checkedDeliverable(what));
  }

  get log(): TaskLog {
    const line = (level: LogLevel) => (message: string, data?: Record<string, unknown>) =>
      this.#log(level, message, data);
    return { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
  }

  #log(level: LogLevel, message: string, data?: Record<string, unknown>): void {
    if (this.#lines > max_log_lines) return;
    const record = logRecord(level, message, data, this.redaction);
    this.#lines++;
    this.#bytes += JSON.stringify(record).length;
    const is_too_much = this.#lines > max_log_lines || this.#bytes > max_log_bytes;
    if (is_too_much) this.#lines = max_log_lines + 1;
    const told = is_too_much ? { level: "warn" as const, message: truncated_log } : record;
    this.desk.log({ task: this.given, at: performance.now(), ...told });
  }

  get storage(): Store {
    if (this.desk.storage !== null) return this.desk.storage;
    throw new Permanent("this worker was given no storage", { code: "no_storage" });
  }

  /** Bytes go and come by way of the service; what is published is told with the finish. */
  get zones(): TaskZones {
    this.#zones ??= openRemoteZones({
      ...this.transfers,
      effect: (declared) => this.effect(declared),
      uploaded: (ref) => this.uploaded.push(ref),
    });
    return this.#zones;
  }

  /** What moving bytes for this attempt takes. */
  get transfers() {
    const { worker_id, call, bytes } = this.desk;
    return { worker_id, call, bytes, task: this.given, signal: () => this.signal };
  }

  /** Declares what is to be written in the transaction of this task's finish; see declareEffect. */
  effect(declared: Effect): void {
    if (this.effects.length === max_effects) throw new Permanent(`a task may declare ${max_effects} effects`);
    const read = effect.safeParse(declared);
    if (!read.success) {
      throw new ContractViolation("a declared effect is not right", { problems: zodProblems(read.error.issues) });
    }
    this.effects.push(read.data);
  }

  scratch(): Promise<string> {
    // The directory may be everybody's: the worker's id is a name that nobody could be there before with.
    const name = `fanfold-scratch-${this.desk.worker_id}-${this.task_id}-${this.attempt}-${this.given.claim_id}`;
    const dir = join(this.desk.scratch_dir, name);
    this.#scratch ??= this.desk.folders.make(dir, this.owner).then(() => dir);
    return this.#scratch;
  }

  async removeScratch(): Promise<void> {
    await this.left;
    const dir = await this.#scratch?.catch(() => undefined);
    if (dir !== undefined) await this.desk.folders.remove(dir);
  }

  async db(): Promise<never> {
    throw noDatabase("ctx.db is");
  }

  async copy(): Promise<never> {
    throw noDatabase("ctx.copy is");
  }

  get traceparent(): string | null {
    return usableTraceparent(this.facts.traceparent ?? undefined) ?? null;
  }

  get raster(): RasterSettings {
    return default_raster_settings;
  }

  get outbound(): OutboundPolicy {
    return { ...default_policy, ...this.desk.outbound };
  }

  async secret(asked: string): Promise<string> {
    const name = checkedSecretName(asked);
    const value = (await this.desk.secrets?.(name)) ?? null;
    if (value === null) {
      const where = this.desk.secrets === null ? "this worker was given no `secrets`" : "`secrets` has none";
      throw new Permanent(`there is no secret "${name}": ${where} of that name`, { code: "no_secret" });
    }
    this.redaction ??= new Redaction();
    this.redaction.add(value);
    return value;
  }

  async unseal(): Promise<never> {
    const why = "what the service sealed is opened only by workers on the database";
    throw new Permanent(why, { code: "no_database" });
  }

  get effect_key(): string {
    const { job_id, stage, stage_id } = this.facts;
    const place = job_id === null ? `${stage_id}/${this.ordinal}` : `${job_id}/${stage}/${this.index}`;
    return createHash("sha256").update(place).digest("hex");
  }
}

export function noDatabase(what: string): Permanent {
  const why = `${what} not to be had here: this worker has no database`;
  return new Permanent(`${why}; run the handler in a worker started with startWorker`, { code: "no_database" });
}

async function* flat(pages: AsyncGenerator<PreviousItem[], void, void>): AsyncGenerator<PreviousItem, void, void> {
  for await (const page of pages) yield* page;
}

/** Pages with large results in files are cut: each of them is in memory while its page is read. */
function* bounded(items: StoredResult[]): Generator<StoredResult[], void, void> {
  let few: StoredResult[] = [];
  for (const item of items) {
    few.push(item);
    if (item.left_out === null) continue;
    yield few;
    few = [];
  }
  if (few.length > 0) yield few;
}

function finite(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}
