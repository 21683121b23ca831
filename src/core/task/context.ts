// What a handler and a planner see of the engine. Types only: the worker implements them. Nothing here lets a handler
// touch the queue.
import type { OutboundPolicy } from "../places/outbound.js";
import type { Store } from "../places/store.js";
import type { TaskZones } from "../places/zones.js";
import type { RasterSettings } from "./raster_settings.js";

/** A stored result, as loose as JSON.parse gives it: the reader knows what the stage before returned. */
// biome-ignore lint/suspicious/noExplicitAny: `const { tiles } = await previous.one()` must stay writable
export type Loose = any;

export interface PreviousItem<Result = Loose> {
  ordinal: number;
  index: string;
  result: Result;
  next_stage_params: Loose | null;
}

/** The completed results this task may see, read page by page, in ordinal order. */
export interface Previous extends AsyncIterable<PreviousItem> {
  /** The results of the named stage; needed when the stage has several `after`. */
  (stage: string): Previous;
  /** The one result there is; throws when there is none or more than one. */
  one<Result = Loose>(): Promise<Result>;
  /** Every result in memory: for small stages only. */
  all<Result = Loose>(): Promise<Result[]>;
  /** Page by page, for handlers that fold faster in bulk. */
  results(): AsyncIterable<PreviousItem[]>;
  /** Tasks planned there, whatever became of them: at most so many results. */
  readonly count: number;
}

export interface Predecessor<Result = Loose> {
  ordinal: number;
  index: string;
  status: string;
  result: Result | null;
  next_stage_params: Loose | null;
  error: Loose | null;
}

/** Something of use that a task made: the job's status adds them up by stage and name. */
export interface Deliverable {
  name: string;
  /** Default: 1. */
  count?: number;
  /** Where it is: a prefix, a collection, a table. */
  location?: string;
  /** Default: true. */
  usable?: boolean;
}

export interface TaskLog {
  debug(message: string, data?: Record<string, unknown>): void;
  info(message: string, data?: Record<string, unknown>): void;
  warn(message: string, data?: Record<string, unknown>): void;
  error(message: string, data?: Record<string, unknown>): void;
}

/** One short burst on a connection; the engine's Queryable fits it. */
export interface SqlSession {
  sql<Row = Record<string, unknown>>(
    strings: TemplateStringsArray,
    ...values: (string | number | boolean | null)[]
  ): Promise<Row[]>;
}

/**
 * Keeps statements for the finish of the task. Nothing runs yet, so nothing can be read: each answers an empty list at once.
 * Fits wherever a SqlSession is only written to.
 */
export interface RecordingSession {
  sql(strings: TemplateStringsArray, ...values: (string | number | boolean | null)[]): Promise<never[]>;
}

/** Lines in COPY's text format, whole ones, and how many rows they are: for who has them in that form already. */
export interface CopyLines {
  bytes: Uint8Array;
  rows: number;
}

export type CopyRow = readonly (string | number | boolean | null)[] | CopyLines;
export type CopyRows = Iterable<CopyRow> | AsyncIterable<CopyRow>;

export interface JobFacts<Parameters = Record<string, Loose>> {
  job_id: string;
  job_type: string;
  tenant_id: string;
  correlation_id: string | null;
  parameters: Parameters;
}

export interface PlanContext<Parameters = Record<string, Loose>> {
  parameters: Parameters;
  previous: Previous;
  job: JobFacts<Parameters>;
}

export interface TaskContext {
  readonly task_id: string;
  readonly tenant_id: string;
  readonly job_id: string | null;
  readonly task_type: string;
  readonly stage: string;
  readonly ordinal: number;
  readonly index: string;
  readonly attempt: number;
  readonly metadata: Loose | null;
  /** null for a task that stands alone. */
  readonly job: JobFacts | null;
  readonly previous: Previous;
  /** The task with the same index (or the named parent) in the stage before; null when there is none. */
  predecessor<Result = Loose>(): Promise<Predecessor<Result> | null>;
  /** A share between 0 and 1, or counts; shown with the next heartbeat. */
  progress(made: number | { done: number; total: number; message?: string }, note?: string): void;
  /** Handed to the tasks of the next stage beside the result. */
  next_stage_params(value: Record<string, unknown>): void;
  /** Tells what this task delivers; it counts when the task completes. */
  deliver(what: Deliverable): void;
  /** Aborted on time-out, cancel, lost lease and shutdown. */
  readonly signal: AbortSignal;
  readonly log: TaskLog;
  readonly storage: Store;
  /** Where data rests: bronze, silver, gold. What is published there is seen when this task has finished. */
  readonly zones: TaskZones;
  /** A directory of this attempt, made when first asked for and removed afterwards. */
  scratch(): Promise<string>;
  /** One short transaction, now, on a connection of the worker's: compute first, then write. */
  db<T>(work: (session: SqlSession) => Promise<T>): Promise<T>;
  /**
   * Writes that commit with the finish of this task, or not at all. `work` is called at once and only says which statements; they
   * run in order when the handler has returned, in the transaction that ends the task, as the same role and tenant as above.
   * Nothing of it happens if the task fails, is lost or is cancelled; if a statement fails, so does the task. At most 4 MB of
   * text and values in a task. Not for the engine's own tables, whose locks come after these.
   */
  db<T>(work: (session: RecordingSession) => Promise<T>, options: { with_finish: true }): Promise<T>;
  /**
   * COPY into a table, now, in a transaction of its own: all rows or none, at once and with flat memory. Gives how many there were. What
   * is copied stays if the task fails later, so copy into a table of this attempt and take it from there in ctx.db. In a process of its
   * own a handler copies only into tables for raw rows of its tenant (geo.make_stage).
   */
  copy(table: string, columns: readonly string[], rows: CopyRows): Promise<number>;
  /** W3C trace context to send along with outgoing calls; null when nobody has begun a trace. */
  readonly traceparent: string | null;
  /**
   * A secret of the task's tenant, by name or as "secret://name". What was asked for is taken out of this attempt's log,
   * errors and result.
   */
  secret(name: string): Promise<string>;
  /** Opens what the service sealed for this tenant and this purpose. */
  unseal(sealed: string, purpose: string): Promise<string>;
  /** What the operator lets handlers call. */
  readonly outbound: OutboundPolicy;
  /** What the operator says about raster work on this machine. */
  readonly raster: RasterSettings;
  /** The same on every attempt of this task: give it to services that take idempotency keys. */
  readonly effect_key: string;
}
