// One verb for all jobs that fit a filter. Each job is changed by its own verb in its own transaction, which looks again under its
// locks: between the count and the change, and between two pages, jobs go their own way.
import { performance } from "node:perf_hooks";
import { isFanfoldError } from "../../core/errors/errors.js";
import type { BulkSum, Refused } from "../../core/shown/bulk_sum.js";
import type { JobStatus } from "../../core/shown/statuses.js";
import type { Engine } from "../engine.js";
import type { JobFilter } from "./records.js";
import { asked } from "./reply.js";

export type BulkAction = "cancel" | "pause" | "continue" | "resume";

export interface BulkRequest {
  action: BulkAction;
  filter: JobFilter;
  /** What was created later is left alone; now, when left out. */
  before?: string | null | undefined;
  reason?: string | null | undefined;
  actor?: string | null | undefined;
  cursor?: string | null | undefined;
}

export interface BulkReply extends BulkSum {
  before: string;
  at_least: boolean;
  next: string | null;
}

const MOST_JOBS = 200;
/** Read, and then changed, at a time: what was read must not be old when its turn comes. */
const PAGE = 25;
const AT_ONCE = 4;
/** A call that goes on longer gives `next` instead. */
const PATIENCE_MS = 5_000;

const open: JobStatus[] = ["queued", "processing"];
/** Which jobs an action is for: the others are not even looked at. */
const fitting: Record<BulkAction, { statuses: JobStatus[]; paused?: boolean }> = {
  cancel: { statuses: open },
  pause: { statuses: open, paused: false },
  continue: { statuses: open, paused: true },
  resume: { statuses: ["partial_success", "failed", "cancelled"] },
};
/** Refusals of a job that is not as the action needs it: nothing went wrong. */
export const refusals = new Set(["not_allowed_now", "conflict", "not_found"]);

/** null: no job can fit both the filter and the action. */
function narrowed({ action, filter, before }: BulkRequest): JobFilter | null {
  const { statuses, paused } = fitting[action];
  const asked_for = typeof filter.status === "string" ? [filter.status] : filter.status;
  const status = asked_for ? statuses.filter((one) => asked_for.includes(one)) : statuses;
  const wants_other = paused !== undefined && typeof filter.paused === "boolean" && filter.paused !== paused;
  if (status.length === 0 || wants_other) return null;
  const times = [filter.created_before, before].filter((time): time is string => typeof time === "string");
  const [created_before] = times.sort((a, b) => Date.parse(a) - Date.parse(b));
  return { ...filter, status, ...(paused === undefined ? {} : { paused }), created_before };
}

/** What a run would touch. */
export async function countBulk(engine: Engine, request: BulkRequest): Promise<BulkReply> {
  // Asked for first, so that what is created while it counts is not touched either.
  const before = request.before ?? (await databaseTime(engine));
  const filter = narrowed({ ...request, before });
  const counted = filter === null ? null : await engine.queries.countJobs(filter);
  const touched = Object.values(counted?.counts ?? {}).reduce((sum, n) => sum + n, 0);
  const at_least = (counted?.at_least.length ?? 0) > 0;
  return { before, touched, at_least, skipped: [], failed: [], next: null };
}

/** Touches up to 200 jobs. */
export async function runBulk(engine: Engine, request: BulkRequest, signal?: AbortSignal): Promise<BulkReply> {
  const before = request.before ?? (await databaseTime(engine));
  const filter = narrowed({ ...request, before });
  const reply: BulkReply = { before, touched: 0, at_least: false, skipped: [], failed: [], next: null };
  if (filter === null) return reply;
  if (!request.cursor) await note(engine, { ...request, before });
  const until = performance.now() + PATIENCE_MS;
  let cursor = request.cursor ?? null;
  for (let handled = 0; ; ) {
    const limit = Math.min(PAGE, MOST_JOBS - handled);
    const page = await engine.jobs({ ...filter, limit, cursor });
    for (let from = 0; from < page.jobs.length; from += AT_ONCE) {
      signal?.throwIfAborted();
      const some = page.jobs.slice(from, from + AT_ONCE);
      await Promise.all(some.map(({ job_id }) => touch(engine, request, job_id, reply)));
    }
    handled += page.jobs.length;
    cursor = page.next;
    if (cursor === null || handled >= MOST_JOBS || performance.now() > until) break;
  }
  return { ...reply, next: cursor };
}

async function touch(engine: Engine, request: BulkRequest, job_id: string, reply: BulkReply): Promise<void> {
  const { action, reason = null, actor = null } = request;
  try {
    const { changed } = await perform(engine, action, job_id, reason, actor);
    if (changed) reply.touched++;
    else addRefused(reply.skipped, { kind: "unchanged", message: "another call did it first", jobs: 1, job_id });
  } catch (error) {
    if (!isFanfoldError(error)) throw error;
    const into = refusals.has(error.code) ? reply.skipped : reply.failed;
    addRefused(into, { kind: error.code, message: error.title, jobs: 1, job_id });
  }
}

function perform(engine: Engine, action: BulkAction, job_id: string, reason: string | null, actor: string | null) {
  const { operate } = engine;
  if (action === "cancel") return engine.cancelJob(job_id, reason, { actor });
  if (action === "pause") return operate.pause(job_id, { reason, actor });
  if (action === "continue") return operate.continue(job_id, { reason, actor });
  return operate.resume(job_id, { reason, actor });
}

export function addRefused(list: Refused[], one: Refused): void {
  const same = list.find(({ kind }) => kind === one.kind);
  if (same === undefined) list.push(one);
  else same.jobs++;
}

function note(engine: Engine, { action, filter, before, reason, actor }: BulkRequest): Promise<unknown> {
  const request = JSON.stringify({ tenant: engine.tenant, action, filter, before, reason, actor });
  return asked(engine.db.sql`select app.note_bulk(${request}::text::json) as reply`);
}

/** The database's clock counts; to the next whole millisecond, because callers cannot name less. */
export function databaseTime(engine: Engine): Promise<string> {
  return asked(engine.db.sql`select to_json(date_trunc('milliseconds', now()) + interval '1 millisecond') as reply`);
}
