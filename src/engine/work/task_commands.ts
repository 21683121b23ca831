// The verbs that some tasks need and a plain one does not: planning a stage, reading the results of those before it, log lines,
// and being sure of a finish. Two duties of the janitor are here for tests, which call them by name.
import type { Ref } from "../../core/places/store.js";
import type { Queryable } from "../database/database.js";
import { replied as reply } from "../verbs/reply.js";

const text = JSON.stringify;

/** So long a verb waits for a lock that another transaction holds (55P03); left out: as long as its connection does. */
export type LockMs = number | undefined;

/** For set_config, which applies it to the statement's own transaction. */
export const milliseconds = (ms: LockMs) => (ms === undefined ? null : `${ms}ms`);

export interface StoredItem {
  ordinal: number;
  index: string;
  result: unknown;
  spill: Ref | null;
  next_stage_params: unknown;
}

export const task_commands = {
  plan_stage: (
    db: Queryable,
    request: { worker_id: string; claim_id: number; loaded?: { o: number; r: unknown }[]; lock_ms?: LockMs },
  ) =>
    reply<{ total?: number; needs?: { o: number; s: Ref }[] }>(
      db.sql`select set_config('lock_timeout', coalesce(${milliseconds(request.lock_ms)}::text, current_setting('lock_timeout')), true), app.plan_stage(
        ${request.worker_id}::text::uuid, ${request.claim_id}::bigint, ${text(request.loaded ?? [])}::text::json) as reply`,
    ),

  /** `tasks` is JSON text of PlannedTask[]. */
  plan_tasks: (
    db: Queryable,
    request: { worker_id: string; claim_id: number; from: number; tasks: string; lock_ms?: LockMs },
  ) =>
    reply<{ inserted: number }>(
      db.sql`select set_config('lock_timeout', coalesce(${milliseconds(request.lock_ms)}::text, current_setting('lock_timeout')), true), app.plan_tasks(
        ${request.worker_id}::text::uuid, ${request.claim_id}::bigint, ${request.from}::bigint, ${request.tasks}::text::json) as reply`,
    ),

  /** `task_bytes` is the size of the largest parameters: claims are bounded by it. */
  plan_done: (
    db: Queryable,
    request: {
      worker_id: string;
      claim_id: number;
      total: number;
      /** null: looked for. */
      task_bytes: number | null;
      plan_hash: string | null;
      skip?: string | null;
      lock_ms?: LockMs;
    },
  ) =>
    reply<{ total: number }>(
      db.sql`select set_config('lock_timeout', coalesce(${milliseconds(request.lock_ms)}::text, current_setting('lock_timeout')), true), app.plan_done(
        ${request.worker_id}::text::uuid, ${request.claim_id}::bigint, ${request.total}::bigint,
        ${request.task_bytes}::integer, ${request.plan_hash}::text, ${request.skip ?? null}::text) as reply`,
    ),

  read_results: (
    db: Queryable,
    request: { stage_id: number; from: number; to: number | null; limit: number; bytes?: number },
  ) =>
    reply<{ items: StoredItem[]; next: number | null }>(
      db.sql`select app.read_results(
        ${request.stage_id}::bigint, ${request.from}::bigint, ${request.to}::bigint, ${request.limit}::integer,
        ${request.bytes ?? 4_194_304}::bigint) as reply`,
    ),

  predecessor: (db: Queryable, { stage_id, ordinal }: { stage_id: number; ordinal: number }) =>
    reply<(StoredItem & { stage_id: number; status: string; error: unknown }) | null>(
      db.sql`select app.predecessor(${stage_id}::bigint, ${ordinal}::bigint) as reply`,
    ),

  reap_workers: (db: Queryable) =>
    reply<{ lost_workers: number; tasks: number }>(db.sql`select app.reap_workers() as reply`),
  expire_jobs: (db: Queryable) => reply<{ expired: number }>(db.sql`select app.expire_jobs() as reply`),

  /** `lines` is JSON text of log lines; sent before the finish that lets the task go. */
  write_logs: (db: Queryable, { worker_id, lines }: { worker_id: string; lines: string }) =>
    reply<{ written: number; refused: number }>(
      db.sql`select app.write_logs(${worker_id}::text::uuid, ${lines}::text::json) as reply`,
    ),

  /** Completed, and by this worker in this attempt. */
  is_finished_by: (db: Queryable, request: { worker_id: string; stage_id: number; ordinal: number; attempt: number }) =>
    reply<boolean>(
      db.sql`select app.is_finished_by(
        ${request.worker_id}::text::uuid, ${request.stage_id}::bigint, ${request.ordinal}::bigint,
        ${request.attempt}::integer) as reply`,
    ),

  /** For those who hear no hints: what came since `after`, and where the next look begins. */
  new_work: (db: Queryable, { types, after }: { types: readonly string[]; after: number }) =>
    reply<{ types: string[]; last: number }>(
      db.sql`select app.new_work(${text(types)}::text::json, ${after}::bigint) as reply`,
    ),
};
