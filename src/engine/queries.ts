// What is read of a tenant's rows, page by page; every page is bounded in what it looks at, however much there is.
import type { JobStatus } from "../core/statuses.js";
import type { Ref } from "../core/store.js";
import type { Queryable } from "./database.js";
import type { EventRecord, JobCounts, TaskSummary } from "./records.js";
import { asked } from "./reply.js";

export interface TaskQuery {
  job_id?: string;
  /** By name or number; of a job. */
  stage?: string;
  /** Of lone tasks. */
  task_type?: string;
  status?: string;
  limit?: number;
  cursor?: string;
}

export interface EventQuery {
  limit?: number;
  cursor?: string | null;
  newest?: boolean;
  kinds?: readonly string[] | null;
}

export interface TaskWithResult extends TaskSummary {
  parameters: Record<string, unknown> | null;
  result: unknown;
  spill: Ref | null;
}

export interface WorkerRecord {
  worker_id: string;
  /** It serves every tenant: where it runs and what else it does is not told. */
  shared: boolean;
  status: "live" | "silent";
  host: string | null;
  pid: number | null;
  version: string | null;
  types: string[];
  slots: number;
  /** What the isolated tasks it runs may declare together; null of one that said nothing. */
  memory_mb: number | null;
  /** What those that run now have declared. */
  memory_used_mb: number | null;
  /** Types it leaves to others, because one task of them needs more memory than it has: MB by type. */
  too_large: Record<string, number>;
  started_at: string;
  heartbeat_at: string;
  lease_ends_at: string;
  held: number;
}

export class Queries {
  constructor(
    private readonly db: Queryable,
    private readonly tenant: string,
  ) {}

  countJobs(): Promise<JobCounts> {
    return asked(this.db.sql`select app.count_jobs(${this.tenant}::text) as reply`);
  }

  /** Where it stands and no more. */
  jobState(job_id: string): Promise<{ job_id: string; status: JobStatus; epoch: number }> {
    return asked(this.db.sql`select app.job_state(${job_id}::text, ${this.tenant}::text) as reply`);
  }

  /** Of a job, or those that stand alone. */
  tasks({ limit, ...query }: TaskQuery): Promise<{ job_id: string | null; tasks: TaskSummary[]; next: string | null }> {
    return this.#page({ ...query, rows: limit });
  }

  tasksWithResults({
    limit,
    ...query
  }: TaskQuery & { job_id: string }): Promise<{ job_id: string; tasks: TaskWithResult[]; next: string | null }> {
    return this.#page({ ...query, rows: limit, results: true });
  }

  #page<Page>(query: Record<string, unknown>): Promise<Page> {
    const request = JSON.stringify({ ...query, tenant: this.tenant });
    return asked(this.db.sql`select app.page_tasks(${request}::text::json) as reply`);
  }

  /** `cursor` is the `next` of the page before; `kinds`: these, or all that begin alike (stage). */
  events(
    job_id: string,
    { limit = 50, cursor = null, newest = false, kinds = null }: EventQuery = {},
  ): Promise<{ job_id: string; events: EventRecord[]; next: string | null }> {
    return asked(
      this.db.sql`select app.page_events(
        ${job_id}::text, ${cursor}::text::bigint, ${limit}::integer, ${this.tenant}::text, ${newest}::boolean,
        ${kinds === null ? null : JSON.stringify(kinds)}::text::json) as reply`,
    );
  }

  /** The live workers that serve the tenant. */
  workers(): Promise<WorkerRecord[]> {
    return asked(this.db.sql`select app.list_workers(${this.tenant}::text) as reply`);
  }
}
