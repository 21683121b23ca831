// The worker's verbs, one to one with db/functions. Requests travel as JSON text, because both drivers and every other
// language can send that; what is large (results, plans, logs) arrives here as text already, so that it is written once.
import type { BodyOf } from "../../core/api/endpoint.js";
import type { WorkStage, work_api } from "../../core/api/work.js";
import type { Blueprint } from "../../core/declare/blueprint.js";
import type { RecipeData } from "../../core/declare/recipe.js";
import type { Retry } from "../../core/declare/retry.js";
import type { TypeCounts } from "../../core/task/work_counts.js";
import type { Queryable } from "../database/database.js";
import { replied as reply } from "../verbs/reply.js";
import { claimFor } from "./claim_for.js";
import { type LockMs, milliseconds, task_commands } from "./task_commands.js";

/** [ordinal, index, parameters, metadata]; null parameters are the job's, a null index is the ordinal. */
export type ClaimedTask = readonly [ordinal: number, index: string | null, parameters: unknown, metadata: unknown];

export interface ClaimedBatch {
  claim_id: number;
  stage_id: number;
  attempt: number;
  crashes: number;
  tasks: ClaimedTask[];
}

/** What it knows of a stage is what a worker over HTTP is told. */
export type ClaimedStage = WorkStage;

export interface ClaimRequest {
  worker_id: string;
  types: readonly string[];
  limit: number;
  after_tenant: string | null;
  /** By tenant: where the turns of its jobs go on, as the last reply said. */
  turns?: Readonly<Record<string, number>>;
  bytes?: number;
  /** Stages whose facts the worker has: the reply leaves them out. */
  known?: readonly number[];
  /** Tenants for whose locked rows it shall not wait. */
  no_wait?: readonly string[];
  /** By tenant: tasks that the worker holds already. They count towards the tenant's share. */
  holding?: Readonly<Record<string, number>>;
  /** Tenants for which the worker makes a data plan: it takes no further ones of theirs. */
  planning?: readonly string[];
  /** Tenants of which nothing is taken now. */
  resting?: readonly string[];
  /** It takes only as many tasks of these types as fit into the room together, in MB. */
  memory?: { room: number; needs: Readonly<Record<string, number>> };
}

export interface ClaimReply {
  claims: ClaimedBatch[];
  stages: ClaimedStage[];
  after_tenant: string | null;
  /** Tenants for whose locked rows it waited in vain. */
  held?: string[];
  /** Where the turns go on, by tenant served. */
  turns?: Record<string, number>;
  /** It is full, and of the jobs and tenants that share it others may wait. */
  shared?: boolean;
  /** With `memory`: types that have work due and found no room. */
  kept_out?: string[];
}

/**
 * Completed tasks as columns, which the database reads twice as fast as rows: comma-separated texts of equal length.
 * `results` are JSON texts ("null" for none); `extras` is JSON text for the few tasks that have more.
 */
export interface DoneColumns {
  claims: string;
  ordinals: string;
  durations: string;
  results: string;
  extras?: string;
}

export interface FailedItem {
  c: number;
  o: number;
  d: number;
  category: string;
  code: string;
  message: string;
  retry_after_s?: number;
  detail?: unknown;
  /** What its handler, else its worker, says of another attempt. */
  retry?: Retry | undefined;
}

export interface FinishRequest {
  worker_id: string;
  /** JSON text of { c, g, a }[]: its stage (g) and attempt (a) record a refusal when the claim (c) itself is gone. */
  claims: string;
  done: DoneColumns;
  /** JSON text of FailedItem[]. */
  failed: string;
  /** JSON text of log lines: what is left of the logs of the tasks that end here. */
  logs?: string;
  lock_ms?: LockMs;
}

export interface FinishReply {
  accepted: number;
  refused: [claim_id: number, ordinal: number, reason: string][];
  /** Done before, by this worker: sent again because the answer was lost, or run twice after a crash of the server. */
  repeated?: [claim_id: number, ordinal: number, reason: string][];
  retried: number;
  /** Which: claim, ordinal, claim, ordinal, … */
  retries?: number[];
  advanced: boolean;
}

export interface ReleaseItem {
  c: number;
  o: number[];
  /** Those of `o` whose handler had started: they leave an attempt row. */
  started?: number[];
}

/** A task that runs, as a worker over HTTP tells of it, but for its name. */
export type RunningItem = Omit<BodyOf<typeof work_api.heartbeat>["running"][number], "task_id"> & {
  stage_id: number;
  ordinal: number;
};

/** What a worker says of itself with each heartbeat. */
export interface WorkerState {
  running: readonly RunningItem[];
  claims: readonly number[];
  /** Declared by the isolated tasks that run. */
  memory_used_mb?: number | undefined;
  /** The memory of its process. */
  rss_mb?: number;
  /** It takes nothing more. */
  draining?: boolean | undefined;
  /** Where they have changed. */
  counts?: TypeCounts | undefined;
  /** So long, in seconds, plans that it does not name stay its own: a server carries them out for it. */
  plans_kept_s?: number;
}

export interface HeartbeatReply {
  ok: boolean;
  lost: number[];
  abort: [claim_id: number, ordinal: number][];
}

export interface WorkerFacts {
  worker_id: string;
  host: string;
  pid: number;
  version: string;
  types: readonly string[];
  slots: number;
  /** It may open so many; all live workers together may use half of the server's. 0 on the embedded database. */
  connections: number;
  lease_s: number;
  /** What isolated tasks may declare together. */
  memory_mb?: number;
  /** Types it has a handler for and does not take, because one task needs more than all its memory: MB by type. */
  too_large?: Readonly<Record<string, number>>;
}

const text = JSON.stringify;
const arrayOf = (numbers: readonly number[] = []) => `{${numbers.join()}}`;

export const worker_commands = {
  ...task_commands,
  claim_for: claimFor,

  /** The recipes and job types of this process, so that SQL can submit them by name. */
  register_recipes: (db: Queryable, { recipes }: { recipes: readonly RecipeData[] }) =>
    reply<number>(db.sql`select platform.register_recipes(${text(recipes)}::text::jsonb) as reply`),
  register_blueprints: (db: Queryable, { blueprints }: { blueprints: readonly Blueprint[] }) =>
    reply<number>(db.sql`select app.register_blueprints(${text(blueprints)}::text::jsonb) as reply`),
  register_worker: (db: Queryable, facts: WorkerFacts) =>
    reply<{ lease_s: number }>(db.sql`select app.register_worker(${text(facts)}::text::json) as reply`),

  heartbeat: (db: Queryable, request: WorkerState & { worker_id: string }) =>
    reply<HeartbeatReply>(db.sql`select app.heartbeat(${text(request)}::text::json) as reply`),

  set_idle: (db: Queryable, request: { worker_id: string; idle: boolean }) =>
    reply<null>(db.sql`select app.set_idle(${request.worker_id}::text::uuid, ${request.idle}::boolean) as reply`),

  /** The last counts before a worker leaves; until then they go with its heartbeats. */
  report_counts: (db: Queryable, { worker_id, counts }: { worker_id: string; counts: TypeCounts }) =>
    reply<{ ok: boolean }>(
      db.sql`select app.report_counts(${worker_id}::text::uuid, ${text(counts)}::text::json) as reply`,
    ),

  stop_worker: (db: Queryable, request: { worker_id: string }) =>
    reply<{ released: number }>(db.sql`select app.stop_worker(${request.worker_id}::text::uuid) as reply`),

  claim: (db: Queryable, request: ClaimRequest) =>
    reply<ClaimReply>(db.sql`select app.claim(${text(request)}::text::json) as reply`),

  /** As claim, of one type of which a single task probably waits; the request is for when it is otherwise. */
  claim_hinted: (db: Queryable, task_type: string, request: ClaimRequest) =>
    reply<ClaimReply>(
      db.sql`select app.claim_hinted(${request.worker_id}::text::uuid, ${task_type}::text,
        ${arrayOf(request.known)}::text::bigint[], ${text(request)}::text) as reply`,
    ),

  /** As claim_hinted, for a worker that speaks over HTTP: one that is full is no longer idle. */
  claim_hinted_for: (db: Queryable, task_type: string, request: ClaimRequest) =>
    reply<ClaimReply>(
      db.sql`select app.claim_hinted_for(${request.worker_id}::text::uuid, ${task_type}::text,
        ${arrayOf(request.known)}::text::bigint[], ${text(request)}::text) as reply`,
    ),

  finish: (db: Queryable, { worker_id, claims, done, failed, logs = "[]", lock_ms }: FinishRequest) =>
    reply<FinishReply>(
      db.sql`select set_config('lock_timeout', coalesce(${milliseconds(lock_ms)}::text, current_setting('lock_timeout')), true), app.finish(
        ${worker_id}::text::uuid, ${claims}::text::json, ${`{${done.claims}}`}::text::bigint[],
        ${`{${done.ordinals}}`}::text::bigint[], ${`{${done.durations}}`}::text::integer[],
        ${`[${done.results}]`}::text::jsonb, ${done.extras ?? "[]"}::text::json, ${failed}::text::json,
        ${logs}::text::json) as reply`,
    ),

  release: (
    db: Queryable,
    { worker_id, items, lock_ms }: { worker_id: string; items: readonly ReleaseItem[]; lock_ms?: LockMs },
  ) =>
    reply<{ released: number }>(
      db.sql`select set_config('lock_timeout', coalesce(${milliseconds(lock_ms)}::text, current_setting('lock_timeout')), true), app.release(${worker_id}::text::uuid, ${text(items)}::text::json) as reply`,
    ),
};

export type WorkerCommands = typeof worker_commands;
