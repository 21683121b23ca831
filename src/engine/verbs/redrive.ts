// Failed tasks that fit a filter run again, page by page: first those that stand alone, then those of jobs, each job by its own verb in its own
// transaction, which looks again under its locks.
import { performance } from "node:perf_hooks";
import type { BodyOf, ReplyOf } from "../../core/api/endpoint.js";
import type { job_bulk_api } from "../../core/api/job_bulk.js";
import { BadRequest, isFanfoldError } from "../../core/errors/errors.js";
import type { Engine } from "../engine.js";
import { addRefused, databaseTime, refusals } from "./job_bulk.js";
import { asked } from "./reply.js";

export type RedriveRequest = Omit<BodyOf<typeof job_bulk_api.redrive>, "dry_run" | "filter"> & {
  dry_run?: boolean | undefined;
  filter?: Filter | undefined;
};
export type RedriveReply = ReplyOf<typeof job_bulk_api.redrive>;
type Filter = BodyOf<typeof job_bulk_api.redrive>["filter"];

const MOST_JOBS = 200;
const PAGE = 25;
const LONE = 1000;
/** A call that goes on longer gives `next` instead. */
const PATIENCE_MS = 5_000;

interface Again {
  again: number;
  changed: boolean;
  next?: string | null;
}

export async function redrive(engine: Engine, request: RedriveRequest, signal?: AbortSignal): Promise<RedriveReply> {
  const { dry_run = false, cursor = null } = request;
  const given = request.filter ?? {};
  if (!dry_run && Object.values(given).every((one) => one === undefined))
    throw refused("filter", "is empty: that is every task that ever failed", "Give at least one field.");
  if (cursor !== null && request.before === undefined)
    throw refused("before", "is missing beside a cursor", "Send `before` of the first call.");
  if (cursor !== null && !/^(lone|jobs)(:|$)/.test(cursor))
    throw refused("cursor", "is none of ours", "Send `next` of the page before, unchanged.");
  const before = request.before ?? (await databaseTime(engine));
  const ends = [given.failed_before, before].filter((one) => one !== undefined);
  const [failed_before] = ends.sort((a, b) => Date.parse(a) - Date.parse(b));
  const filter = { ...given, failed_before };
  const reply: RedriveReply = { dry_run, before, tasks: 0, jobs: 0, skipped: [], failed: [], next: null };
  const [phase, place = null] = cursor === null ? ["lone"] : [cursor.slice(0, 4), cursor.slice(5) || null];
  if (phase === "lone" && given.job_type === undefined) {
    const page = await lone(engine, request, filter, place);
    reply.tasks += page.again;
    if (page.next !== null && page.next !== undefined) return { ...reply, next: `lone:${page.next}` };
  }
  const next = await ofJobs(engine, { ...request, dry_run }, filter, phase === "jobs" ? place : null, reply, signal);
  return { ...reply, next: next === null ? null : `jobs:${next}` };
}

function lone({ db, tenant }: Engine, request: RedriveRequest, filter: Filter, place: string | null): Promise<Again> {
  const { run_at = null, reason = null, actor = null, dry_run = false } = request;
  return asked(db.sql`select app.redrive_lone(${JSON.stringify(filter)}::text::json, ${run_at}::timestamptz, ${place}::text,
    ${LONE}::integer, ${reason}::text, ${dry_run}::boolean, ${tenant}::text, ${actor}::text) as reply`);
}

/** Newest first; those that were created after the first call are left alone. Where to go on, or null at the end. */
async function ofJobs(
  engine: Engine,
  request: RedriveRequest,
  filter: Filter,
  place: string | null,
  reply: RedriveReply,
  signal: AbortSignal | undefined,
): Promise<string | null> {
  const until = performance.now() + PATIENCE_MS;
  const { job_type } = filter;
  for (let cursor = place, handled = 0; ; ) {
    const page = await engine.jobs({
      status: ["failed", "partial_success"],
      created_before: reply.before,
      ...(job_type === undefined ? {} : { job_type }),
      limit: PAGE,
      cursor,
    });
    for (const { job_id } of page.jobs) {
      signal?.throwIfAborted();
      await ofJob(engine, request, filter, job_id, reply);
    }
    handled += page.jobs.length;
    cursor = page.next;
    if (cursor === null || handled >= MOST_JOBS || performance.now() > until) return cursor;
  }
}

async function ofJob(engine: Engine, request: RedriveRequest, filter: Filter, job_id: string, reply: RedriveReply) {
  const { db, tenant } = engine;
  const { run_at = null, reason = null, actor = null, dry_run = false } = request;
  try {
    const { again } =
      await asked<Again>(db.sql`select app.redrive_job(${job_id}::text, ${JSON.stringify(filter)}::text::json,
      ${run_at}::timestamptz, ${reason}::text, ${dry_run}::boolean, ${tenant}::text, ${actor}::text) as reply`);
    reply.tasks += again;
    if (again > 0) reply.jobs++;
  } catch (error) {
    if (!isFanfoldError(error)) throw error;
    const into = refusals.has(error.code) ? reply.skipped : reply.failed;
    addRefused(into, { kind: error.code, message: error.title, jobs: 1, job_id });
  }
}

function refused(field: string, problem: string, fix: string): BadRequest {
  return new BadRequest("the request is not right", { problems: [{ path: `body.${field}`, problem, fix }] });
}
