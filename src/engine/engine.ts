// The engine's door: what submitters, operators and workers ask of it. It validates, canonicalises and calls one SQL verb
// each; every decision is the database's.
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { type Logger, pino } from "pino";
import type { ReplyOf, SqlEndpoint } from "../core/api/endpoint.js";
import type { Input, Job } from "../core/declare/declare.js";
import { validateParameters } from "../core/declare/parameters.js";
import type { Registry } from "../core/declare/registry.js";
import { max_check_steps } from "../core/declare/schema_work.js";
import { validateTaskInput } from "../core/declare/task_input.js";
import { OverLimit, TooLarge } from "../core/errors/errors.js";
import { type OutboundPolicy, refuseAddresses } from "../core/places/outbound.js";
import type { Store } from "../core/places/store.js";
import { asCommand, type Words } from "../core/shown/action.js";
import { isTerminal } from "../core/shown/statuses.js";
import { storeOfTenant } from "../storage/tenant_store.js";
import { Zones, zonesBelow } from "../storage/zones.js";
import type { Database, Queryable } from "./database/database.js";
import type { EngineParts } from "./engine_parts.js";
import { Sealer } from "./sealing.js";
import { inProducerSpan } from "./tracing.js";
import { Assets } from "./verbs/assets.js";
import { BadItems } from "./verbs/bad_items.js";
import { Blueprints } from "./verbs/blueprints.js";
import { blueprintText, enqueuePage, jobText, type PlainJob, pages, receivers } from "./verbs/bulk.js";
import { Connectors } from "./verbs/connectors.js";
import { foresee, type WouldSubmit } from "./verbs/dry_run.js";
import { Groups } from "./verbs/groups.js";
import { handlerFor } from "./verbs/handler_for.js";
import { KeptBlueprints } from "./verbs/kept_blueprints.js";
import { Keys } from "./verbs/keys.js";
import { Limits } from "./verbs/limits.js";
import { Operator, type VerbOptions } from "./verbs/operator.js";
import { Queries } from "./verbs/queries.js";
import { Recipes } from "./verbs/recipes.js";
import type {
  EnqueueItem,
  EnqueueOptions,
  EnqueueReply,
  EventRecord,
  JobListing,
  JobRecord,
  ListedJobs,
  SubmitItem,
  SubmitOptions,
  SubmitReply,
  TaskFilter,
  TaskPage,
  TaskRecord,
} from "./verbs/records.js";
import { asked } from "./verbs/reply.js";
import { Requests } from "./verbs/requests.js";
import { RetentionRules } from "./verbs/retention.js";
import { Schedules } from "./verbs/schedules.js";
import { TaskDetails } from "./verbs/task_details.js";
import { Tenants } from "./verbs/tenants.js";
import { default_upload_limits, Uploads } from "./verbs/uploads.js";
import { callVerb, type VerbFields } from "./verbs/verb.js";
import { Webhooks } from "./verbs/webhooks.js";
import { worded, wordedHint } from "./verbs/worded.js";
import { worker_commands } from "./work/commands.js";
import { RemoteWork } from "./work/remote_work.js";

/** How many jobs or tasks one SQL call carries: large enough to be quick, small enough to stay a short transaction. */
const JOBS_PER_CALL = 1_000;
/** The most steps of checks by a schema that was sent, for all jobs of one call. */
const STEPS_PER_CALL = 8 * max_check_steps;
const TASKS_PER_CALL = 5_000;

export class Engine {
  readonly db: Database;
  readonly tenant: string;
  readonly registry: Registry;
  /** The tenant's files. */
  readonly store: Store;
  /** The store shared by all tenants; a worker narrows it to each task's tenant. */
  readonly shared_store: Store;
  /** The zones shared by all tenants. */
  readonly zones: Zones;
  readonly leftovers_after_h: number;
  /** Files that tasks have made, as far as others may see them. */
  readonly assets: Assets;
  /** Files that clients bring. */
  readonly uploads: Uploads;
  readonly log: Logger;
  readonly worker_commands = worker_commands;
  /** Resume, retry, skip, pause, approve, verify, why. */
  readonly operate: Operator;
  readonly keys: Keys;
  /** The verbs of workers that came over HTTP. */
  readonly work: RemoteWork;
  readonly limits: Limits;
  readonly retention: RetentionRules;
  /** Not of this tenant but of all: for operators of the service. */
  readonly tenants: Tenants;
  readonly connectors: Connectors;
  readonly sealer: Sealer;
  readonly webhooks: Webhooks;
  /** Registered and saved job types. */
  readonly blueprints: Blueprints;
  /** Bounded pages of what there is. */
  readonly queries: Queries;
  /** One task looked at closely, and a job over time. */
  readonly task_details: TaskDetails;
  readonly groups: Groups;
  readonly schedules: Schedules;
  /** One dataset in, several jobs, one answer out. */
  readonly requests: Requests;
  /** How requests become jobs: registered and saved. */
  readonly recipes: Recipes;
  /** What handlers may call, where this process knows it. */
  readonly outbound: OutboundPolicy | undefined;
  /** How its replies put their actions. */
  readonly words: Words;
  readonly #parts: EngineParts;
  readonly #kept: KeptBlueprints;
  readonly #kept_recipes: KeptBlueprints;

  constructor(parts: EngineParts) {
    this.#parts = parts;
    this.#kept = parts.kept ?? new KeptBlueprints();
    this.#kept_recipes = parts.kept_recipes ?? new KeptBlueprints("recipe");
    this.words = parts.words ?? asCommand;
    this.db = parts.db;
    this.tenant = parts.tenant;
    this.registry = parts.registry;
    this.outbound = parts.outbound;
    this.shared_store = parts.store;
    this.store = storeOfTenant(parts.store, parts.tenant);
    this.zones = parts.zones ?? new Zones(zonesBelow(".fanfold/zones"));
    this.leftovers_after_h = parts.leftovers_after_h ?? 24;
    this.assets = new Assets(parts.db, parts.tenant, this.zones);
    const limits = parts.uploads ?? default_upload_limits;
    this.uploads = new Uploads(parts.db, parts.tenant, this.zones, limits, this.leftovers_after_h);
    this.operate = new Operator(parts.db, parts.tenant, this.store, this.words, this.zones);
    this.keys = new Keys(parts.db, parts.tenant);
    this.work = new RemoteWork(parts.db, parts.tenant, this.store, this.zones, this.assets);
    this.limits = new Limits(parts.db, parts.tenant);
    this.retention = new RetentionRules(parts.db, parts.tenant);
    this.tenants = new Tenants(parts.db, parts.tenant);
    this.connectors = new Connectors(parts.db, parts.tenant, parts.registry, parts.outbound);
    this.sealer = parts.sealer ?? new Sealer();
    this.webhooks = new Webhooks(parts.db, parts.tenant, this.sealer, parts.outbound);
    this.blueprints = new Blueprints(parts.db, parts.tenant, parts.registry);
    this.queries = new Queries(parts.db, parts.tenant);
    this.task_details = new TaskDetails(parts.db, parts.tenant);
    this.groups = new Groups(parts.db, parts.tenant, this.words);
    this.schedules = new Schedules(this);
    this.recipes = new Recipes(parts.db, parts.tenant, parts.registry);
    this.requests = new Requests(this, this.#kept, this.#kept_recipes);
    this.log = parts.log ?? pino({ level: "silent" });
  }

  openConnection(name: string, max: number): Database {
    return this.#parts.openConnection(name, max);
  }

  close(): Promise<void> {
    return this.#parts.close();
  }

  /**
   * The same engine for another tenant, which only the server's role may choose, and perhaps with other words for actions.
   * Closing it is its lender's part.
   */
  forTenant(tenant: string, words: Words = this.words): Engine {
    const remembered = { kept: this.#kept, kept_recipes: this.#kept_recipes };
    return new Engine({ ...this.#parts, tenant, words, ...remembered, close: async () => {} });
  }

  /** Any verb that is one SQL function, typed by its endpoint. */
  call<E extends SqlEndpoint>(verb: E, fields: VerbFields<E>): Promise<ReplyOf<E>> {
    return callVerb(this, verb, fields);
  }

  async submit<J extends Job>(
    job: J | string,
    parameters: JobInput<J>,
    { traceparent, ...options }: SubmitOptions = {},
  ): Promise<SubmitReply> {
    const [reply] = await this.submitMany(job, [{ parameters, ...options }], { ...options, traceparent });
    return reply as SubmitReply;
  }

  /** What submit would do, or what it would be refused for; nothing is written. */
  async dryRun<J extends Job>(
    job: J | string,
    parameters: JobInput<J>,
    options: Omit<SubmitOptions, "db"> = {},
  ): Promise<WouldSubmit> {
    return foresee(this, await this.findJob(job), parameters, options);
  }

  /** Many jobs of one type, in the order given. Each call of up to 1,000 is one transaction. */
  async submitMany<J extends Job>(
    job: J | string,
    items: Iterable<SubmitItem<JobInput<J>>>,
    options: Pick<SubmitOptions, "mode" | "db" | "traceparent"> = {},
  ): Promise<SubmitReply[]> {
    return this.submitJobs(await this.findJob(job), items, options);
  }

  /** The job of this type, registered or saved; throws NotFound. */
  findJob(job: Job | string): Promise<Job> {
    return this.blueprints.find(typeof job === "string" ? job : job.type);
  }

  /** As submitMany, of a job that was found before: inside a transaction nothing else may be asked of the database. */
  submitJobs(
    known: Job,
    items: Iterable<SubmitItem<unknown>>,
    options: Pick<SubmitOptions, "mode" | "db" | "traceparent"> = {},
  ): Promise<SubmitReply[]> {
    const job_type = known.blueprint.type;
    const attributes = { "fanfold.tenant": this.tenant, "fanfold.job_type": job_type };
    const { traceparent } = options;
    return inProducerSpan({ name: `submit ${job_type}`, attributes, traceparent }, async (own, span) => {
      const replies = await this.#submitAll(known, items, { ...options, traceparent: own });
      span?.setAttribute("fanfold.jobs", replies.length);
      if (replies.length === 1) span?.setAttribute("fanfold.job_id", replies[0]!.job_id);
      return replies;
    });
  }

  async #submitAll(
    known: Job,
    items: Iterable<SubmitItem<unknown>>,
    { mode = "reuse", db = this.db, traceparent }: Pick<SubmitOptions, "mode" | "db" | "traceparent">,
  ): Promise<SubmitReply[]> {
    const blueprint = blueprintText(known);
    const replies: SubmitReply[] = [];
    const bad = new BadItems();
    const budget = { steps: STEPS_PER_CALL };
    let told_at = budget.steps;
    const toJob = async ({ parameters, deadline_s, ...options }: SubmitItem<unknown>, position: number) => {
      if (position % JOBS_PER_CALL === 0) told_at = budget.steps = STEPS_PER_CALL;
      const valid = await bad.collect(position, validateParameters(known, parameters, budget));
      // Others have a turn in between.
      if (told_at - budget.steps > max_check_steps) {
        told_at = budget.steps;
        await setImmediate();
      }
      if (valid === null) return { text: "", plain: undefined };
      if (options.webhooks !== undefined) refuseAddresses(receivers(options.webhooks), this.outbound);
      return jobText(valid, options, { deadline_s, traceparent });
    };
    for await (const page of pages(items, toJob, JOBS_PER_CALL)) {
      bad.refuse(known.blueprint.type, page.length);
      const request = () =>
        `{"tenant":${JSON.stringify(this.tenant)},"mode":${JSON.stringify(mode)},"jobs":[${page.map(({ text }) => text).join()}]}`;
      const plain = page.length === 1 && mode === "reuse" ? page[0]?.plain : undefined;
      const submitted = await this.#limited(db, this.#submitPage(db, blueprint, request, plain));
      for (const reply of submitted) replies.push(wordedHint(reply, this.words));
    }
    return replies;
  }

  /** `plain`: the only job of the request, when it has nothing but parameters. It usually needs no more than the short way. */
  async #submitPage(
    db: Queryable,
    blueprint: string,
    toRequest: () => string,
    plain: PlainJob | undefined,
  ): Promise<SubmitReply[]> {
    const hash = await this.#kept.hashOf(db, this.tenant, blueprint);
    if (plain !== undefined) {
      const { parameters, identity = null, traceparent = null, actor = null } = plain;
      const submitted = await asked<SubmitReply | null>(db.sql`select app.submit_kept_job(
        ${hash}::text, ${parameters}::text, ${identity}::text, ${traceparent}::text, ${actor}::text, ${this.tenant}::text) as reply`);
      if (submitted !== null) return [submitted];
    }
    const request = toRequest();
    const reply = await asked<SubmitReply[] | null>(
      db.sql`select app.submit_kept(${hash}::text, ${request}::text::json) as reply`,
    );
    if (reply !== null) return reply;
    this.#kept.forget(this.tenant, blueprint);
    return asked(db.sql`select app.submit_jobs(${blueprint}::text::jsonb, ${request}::text::json) as reply`);
  }

  async enqueue(
    task_type: string,
    parameters: Record<string, unknown>,
    options: EnqueueOptions = {},
  ): Promise<EnqueueReply> {
    const { traceparent, db, ...item } = options;
    const call = { traceparent, db };
    const { task_ids, created } = await this.enqueueMany(task_type, [{ parameters, ...item }], call);
    return { task_id: task_ids[0] as string, created: created === 1 };
  }

  /** Many lone tasks of one type. Each call of up to 5,000 is one transaction; those that may run alike share one range. */
  async enqueueMany(
    task_type: string,
    items: Iterable<EnqueueItem>,
    { db = this.db, traceparent }: Pick<EnqueueOptions, "db" | "traceparent"> = {},
  ): Promise<{ task_ids: string[]; created: number }> {
    const attributes = { "fanfold.tenant": this.tenant, "fanfold.task_type": task_type };
    return inProducerSpan({ name: `enqueue ${task_type}`, attributes, traceparent }, async (own, span) => {
      const total = await this.#enqueueAll(db, task_type, items, own);
      span?.setAttribute("fanfold.tasks", total.task_ids.length);
      return total;
    });
  }

  async #enqueueAll(db: Queryable, task_type: string, items: Iterable<EnqueueItem>, traceparent: string | undefined) {
    const total = { task_ids: [] as string[], created: 0 };
    const handler = await handlerFor(db, this.registry, this.tenant, task_type);
    const toTask = async (item: EnqueueItem) => ({
      item,
      text: await validateTaskInput(task_type, handler, item.parameters),
    });
    for await (const page of pages(items, toTask, TASKS_PER_CALL)) {
      const reply = await this.#limited(db, enqueuePage({ db, tenant: this.tenant }, task_type, page, traceparent));
      total.created += reply.created;
      for (const task_id of reply.task_ids) total.task_ids.push(task_id);
    }
    return total;
  }

  async status(job_id: string): Promise<JobRecord> {
    const job = await asked(this.db.sql`select app.get_job(${job_id}::text, ${this.tenant}::text) as reply`);
    return worded("get_job", job, this.words);
  }

  /** Newest first. A page looks at a bounded number of jobs: it may be short, and have a `next` all the same. */
  jobs(listing: JobListing = {}): Promise<ListedJobs> {
    return this.queries.jobs(listing);
  }

  /** By stage and ordinal. A page looks at a bounded number of tasks: it may be short, and have a `next` all the same. */
  tasks(filter: TaskFilter = {}): Promise<TaskPage> {
    return this.queries.tasks(filter);
  }

  task(task_id: string): Promise<TaskRecord> {
    return asked(this.db.sql`select app.get_task(${task_id}::text, ${this.tenant}::text) as reply`);
  }

  events(job_id: string): Promise<EventRecord[]> {
    return asked(this.db.sql`select app.list_events(${job_id}::text, ${this.tenant}::text) as reply`);
  }

  cancelJob(job_id: string, reason: string | null = null, options: Omit<VerbOptions, "reason"> = {}) {
    return this.operate.cancel(job_id, { ...options, reason });
  }

  cancelTask(task_id: string, reason: string | null = null, options: Omit<VerbOptions, "reason"> = {}) {
    return this.operate.cancelTask(task_id, { ...options, reason });
  }

  rescheduleTask(task_id: string, run_at: Date | string, priority: number | null = null, options: VerbOptions = {}) {
    return this.operate.rescheduleTask(task_id, run_at, { ...options, priority });
  }

  /** The job's result, read from storage when it was too large for the database; TooLarge above `max_bytes`. */
  async result(job_id: string, { max_bytes = Infinity }: { max_bytes?: number } = {}): Promise<unknown> {
    const { result, result_spill } = await this.status(job_id);
    if (result_spill === null) return result;
    if (result_spill.bytes > max_bytes) {
      throw new TooLarge(`the result has ${result_spill.bytes} bytes; the limit is ${max_bytes}`, {
        hint: "let the last stage store large data as a file, and return a reference to it",
      });
    }
    return JSON.parse((await this.store.get(result_spill)).toString("utf8"));
  }

  /** Resolves with the status at the job's end. Looks often at first, then once a second. */
  async wait(
    job_id: string,
    { signal, on_status }: { signal?: AbortSignal; on_status?: (status: JobRecord) => void } = {},
  ): Promise<JobRecord> {
    for (let pause_ms = 20; ; pause_ms = Math.min(pause_ms * 1.5, 1_000)) {
      const status = await this.status(job_id);
      on_status?.(status);
      if (isTerminal(status.status)) return status;
      await sleep(pause_ms, undefined, { signal });
    }
  }

  /**
   * A refusal for too many queued tasks is the moment to count them again: the next call is judged by a fresh figure. Not inside
   * somebody's transaction, which may hold the one session there is.
   */
  async #limited<T>(db: Queryable, call: Promise<T>): Promise<T> {
    try {
      return await call;
    } catch (error) {
      if (error instanceof OverLimit && db === this.db) await this.limits.countAgain().catch(() => {});
      throw error;
    }
  }
}

type JobInput<J> = J extends Job<infer Schema> ? Input<Schema> : Record<string, unknown>;
