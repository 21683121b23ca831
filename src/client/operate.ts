// What is done about jobs and tasks that exist, and what can be learnt of them. One endpoint each.
import { cells_api } from "../core/api/cells.js";
import type { BodyIn, Endpoint, ParamsOf, QueryIn, ReplyOf } from "../core/api/endpoint.js";
import { job_bulk_api } from "../core/api/job_bulk.js";
import { jobs_api } from "../core/api/jobs.js";
import { operations_api } from "../core/api/operations.js";
import { defineVerbs, type OperatorMethods } from "../core/api/operator_verbs.js";
import { queues_api } from "../core/api/queues.js";
import { tasks_api } from "../core/api/tasks.js";
import { workers_api } from "../core/api/workers.js";
import { NotAllowedNow } from "../core/errors/errors.js";
import { type Cells, decodeCells } from "../core/shown/cells.js";
import { listed, type Paged } from "./pages.js";
import { retryAfter } from "./retries.js";
import { Submitter } from "./submit.js";
import type { Transport } from "./transport.js";
import { type JobRecord, type WaitOptions, waitForJob } from "./wait.js";

export interface Asking {
  signal?: AbortSignal;
}

export interface VerbOptions extends Asking {
  /** Why, for the record. */
  reason?: string;
  /** The person behind the key, for the record. */
  actor?: string;
  /** Only says what it would touch. */
  dry_run?: boolean;
}

export type JobSummary = ReplyOf<typeof jobs_api.list>["jobs"][number];
export type JobFilter = Omit<QueryIn<typeof jobs_api.list>, "cursor" | "limit"> & Listing;
export type JobFilterQuery = QueryIn<typeof jobs_api.counts>;
export type TaskSummary = ReplyOf<typeof tasks_api.list>["tasks"][number];
export type TaskRecord = ReplyOf<typeof tasks_api.get>;
export type TaskFilter = Omit<QueryIn<typeof tasks_api.list>, "cursor" | "limit"> & Listing;
export type EventFilter = Omit<QueryIn<typeof operations_api.events>, "cursor" | "limit"> & Listing;
export type JobTaskFilter = Omit<QueryIn<typeof tasks_api.of_job>, "cursor" | "limit"> & { job_id: string } & Listing;
export type EventRecord = ReplyOf<typeof operations_api.events>["events"][number];
export type WhyRecord = ReplyOf<typeof operations_api.why>;

/** Ordinals of tasks of one stage, [from, to) each; all that the verb can do something about, or those of a status. */
export type TaskSelection<E> = Pick<BodyIn<E> & object, Extract<keyof BodyIn<E>, "ranges" | "status">>;

export interface Listing extends Asking {
  /** Rows of a page. */
  limit?: number;
}

/** A method for each verb of an operator; those whose arguments are others are written below. */
type Verbs = Omit<OperatorMethods<VerbOptions>, "retryGroup" | "rescheduleTask">;
const WithVerbs = Submitter as unknown as new (transport: Transport) => Submitter & Verbs;

export class Operator extends WithVerbs {
  static {
    defineVerbs(Operator.prototype, (self, verb, about, options) =>
      self.verb(verb as Endpoint, about as never, options as never),
    );
  }

  status(job_id: string, options: Asking = {}): Promise<JobRecord> {
    return this.ask(jobs_api.status, { job_id }, options);
  }

  /** Resolves with the job's status at its end, whatever that end is. */
  wait(job_id: string, options: WaitOptions = {}): Promise<JobRecord> {
    return waitForJob(this.transport, job_id, options);
  }

  /** The result of a job that has ended; null when its last stage was not one task. */
  async result(job_id: string, options: Asking = {}): Promise<unknown> {
    const { status, headers, body } = await this.transport.answer(jobs_api.result, { params: { job_id }, ...options });
    if (status !== 202) return body.result;
    const hint = `wait for it, or ask again in ${retryAfter(headers) ?? 1} s`;
    throw new NotAllowedNow(`job ${job_id.slice(0, 12)} is under way and has no result yet`, { hint });
  }

  /** Newest first. */
  jobs(filter: JobFilter = {}): Paged<JobSummary> {
    return listed(this.transport, jobs_api.list, "jobs", filter);
  }

  /** By status, of those that fit. */
  counts({ signal, ...query }: JobFilterQuery & Asking = {}): Promise<ReplyOf<typeof jobs_api.counts>> {
    return this.transport.call(jobs_api.counts, { query, signal });
  }

  /** One page of a verb for all jobs that fit: send its `next` as `cursor` until it is null. */
  /** One page of failed tasks that fit a filter run again; `next` and `before` of the reply go on. */
  redrive({
    signal,
    ...body
  }: BodyIn<typeof job_bulk_api.redrive> & Asking): Promise<ReplyOf<typeof job_bulk_api.redrive>> {
    return this.transport.call(job_bulk_api.redrive, { body, signal });
  }

  bulk({ signal, ...body }: BodyIn<typeof job_bulk_api.bulk> & Asking): Promise<ReplyOf<typeof job_bulk_api.bulk>> {
    return this.transport.call(job_bulk_api.bulk, { body, signal });
  }

  /** Those of a job, or those that stand alone. */
  tasks(filter: TaskFilter | JobTaskFilter = {}): Paged<TaskSummary> {
    if (!("job_id" in filter)) return listed(this.transport, tasks_api.list, "tasks", filter);
    const { job_id, ...rest } = filter;
    return listed(this.transport, tasks_api.of_job, "tasks", rest, { job_id });
  }

  /** The tasks of a job with what they were given and what they produced. */
  results({ job_id, ...filter }: JobTaskFilter): Paged<ReplyOf<typeof tasks_api.with_results>["tasks"][number]> {
    return listed(this.transport, tasks_api.with_results, "tasks", filter, { job_id });
  }

  task(task_id: string, options: Asking = {}): Promise<TaskRecord> {
    return this.ask(tasks_api.get, { task_id }, options);
  }

  /** What happened to a job, oldest first unless asked otherwise. */
  events(job_id: string, filter: EventFilter = {}): Paged<EventRecord> {
    return listed(this.transport, operations_api.events, "events", filter, { job_id });
  }

  /** The tasks that failed with this signature (see errors) run again, and what follows them. */
  retryGroup(job_id: string, signature: string, options: VerbOptions = {}) {
    return this.verb(operations_api.retry_group, { job_id }, { ...options, signature });
  }

  /** All tasks of a stage, four bytes for each; above 20,000 tasks, for each so many of them. */
  async cells(job_id: string, stage: string | number, options: Asking = {}): Promise<Cells> {
    const { signal = new AbortController().signal } = options;
    const params = { job_id, stage: String(stage) };
    const answer = await this.transport.open(cells_api.read, { params, signal });
    return decodeCells(new Uint8Array(await answer.arrayBuffer()));
  }

  /** A task counts as done without a result. */
  skip(task_id: string, options: VerbOptions & { reason: string }) {
    return this.verb(tasks_api.skip, { task_id }, options);
  }

  rescheduleTask(task_id: string, run_at: Date | string, options: VerbOptions & { priority?: number } = {}) {
    const at = run_at instanceof Date ? run_at.toISOString() : run_at;
    return this.verb(tasks_api.reschedule, { task_id }, { ...options, run_at: at });
  }

  /** Why a job or a task does not move, or ended as it did. */
  why(id: string, options: Asking = {}): Promise<WhyRecord> {
    return id.includes("-")
      ? this.ask(tasks_api.why, { task_id: id }, options)
      : this.ask(operations_api.why, { job_id: id }, options);
  }

  /** Proves the ledger of a job from its rows and files; with `checksum` files in zones are read, too. */
  verify(job_id: string, { checksum = false, signal }: Asking & { checksum?: boolean } = {}) {
    const query = { checksum: checksum ? "true" : "false" } as const;
    return this.transport.call(operations_api.verify, { params: { job_id }, query, signal });
  }

  /** The failures of a job in groups, largest first. */
  async errors(job_id: string, options: Asking = {}) {
    return (await this.ask(operations_api.errors, { job_id }, options)).groups;
  }

  async alerts({ limit, ...options }: Listing = {}) {
    return (await this.transport.call(operations_api.alerts, { query: { limit }, ...options })).alerts;
  }

  /** What waits of each task type, who serves it and what was done of it, problems first. */
  async queues({ minutes, ...options }: Asking & { minutes?: number } = {}) {
    return (await this.transport.call(queues_api.list, { query: { minutes }, ...options })).queues;
  }

  /** What a worker holds of this tenant. */
  workerTasks(worker_id: string, { limit, ...options }: Listing = {}) {
    return this.transport.call(workers_api.tasks, { params: { worker_id }, query: { limit }, ...options });
  }

  async workers(options: Asking = {}) {
    return (await this.transport.call(operations_api.workers, options)).workers;
  }

  protected ask<E extends Endpoint>(endpoint: E, params: ParamsOf<E>, options: Asking): Promise<ReplyOf<E>> {
    return this.transport.call(endpoint, { params, ...options });
  }

  protected verb<E extends Endpoint>(
    endpoint: E,
    params: ParamsOf<E>,
    options: NonNullable<BodyIn<E>> & Asking,
  ): Promise<ReplyOf<E>> {
    const { signal, ...body } = options;
    return this.transport.call(endpoint, { params, body: body as unknown as BodyIn<E>, signal });
  }
}
