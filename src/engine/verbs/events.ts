// Events for readers who follow them as they happen: many tenants at once for a server, or what one tenant has missed.
import type { Queryable } from "../database/database.js";
import type { EventRecord } from "./records.js";
import { asked } from "./reply.js";

export interface FollowedEvent extends EventRecord {
  tenant_id: string;
  job_id: string | null;
}

/** Numbers of events, the first and the one behind the last. */
export type Span = readonly [from: number, to: number];

export interface Followed {
  /** The last number of this page; begin the next one there. */
  last: number;
  more: boolean;
  /** Numbers up to `last` that are not there, or not yet. */
  missing: Span[];
  /** Those of the watched that have come. */
  found: number[];
  events: FollowedEvent[];
  /** The oldest transaction that is under way, and the next one there will be. */
  xmin: number;
  xmax: number;
}

export interface StageProgress {
  tenant_id: string;
  job_id: string;
  stage_id: number;
  number: number;
  stage: string;
  status: string;
  total: number | null;
  completed: number;
  failed: number;
  skipped: number;
  processing: number;
}

const text = JSON.stringify;

/** `after` null: where to begin, without events. */
export function followEvents(
  db: Queryable,
  {
    after,
    watched,
    tenants,
    most,
  }: { after: number | null; watched: readonly Span[]; tenants: readonly string[]; most: number },
): Promise<Followed> {
  return asked(
    db.sql`select app.follow_events(
      ${after}::bigint, ${text(watched)}::text::json, ${text(tenants)}::text::json, ${most}::integer) as reply`,
  );
}

export function missedEvents(
  db: Queryable,
  request: { tenant: string; after: number; watched: readonly Span[]; job_id: string | null; most: number },
): Promise<{ last: number | null; more: boolean; events: FollowedEvent[] }> {
  const { tenant, after, watched, job_id, most } = request;
  return asked(
    db.sql`select app.missed_events(
      ${after}::bigint, ${text(watched)}::text::json, ${job_id}::text, ${most}::integer, ${tenant}::text) as reply`,
  );
}

/** `known`: stages told of before, so that their last numbers are told too. */
export function runningProgress(
  db: Queryable,
  { tenants, known, most }: { tenants: readonly string[]; known: readonly number[]; most: number },
): Promise<StageProgress[]> {
  return asked(
    db.sql`select app.running_progress(
      ${text(tenants)}::text::json, ${text(known)}::text::json, ${most}::integer) as reply`,
  );
}
