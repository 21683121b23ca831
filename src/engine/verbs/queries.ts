// What is read of a tenant's rows, page by page; every page is bounded in what it looks at, however much there is.
import type { z } from "zod";
import type { gone_worker, worker } from "../../core/api/operation_records.js";
import type { queue } from "../../core/api/queues.js";
import type { task_with_result } from "../../core/api/task_records.js";
import type { worker_task } from "../../core/api/workers.js";
import type { Ref } from "../../core/places/store.js";
import type { JobStatus } from "../../core/shown/statuses.js";
import type { EventRecord, JobCounts, JobFilter, JobListing, ListedJobs, TaskFilter, TaskSummary } from "./records.js";
import { asked } from "./reply.js";
import { Noun } from "./verb.js";

export interface EventQuery {
  limit?: number;
  cursor?: string | null;
  newest?: boolean;
  kinds?: readonly string[] | null;
}

export type TaskWithResult = Omit<z.output<typeof task_with_result>, "spill"> & { spill: Ref | null };
export type WorkerRecord = z.output<typeof worker>;
export type GoneWorker = z.output<typeof gone_worker>;
export type WorkerTask = z.output<typeof worker_task>;
export type QueueRecord = z.output<typeof queue>;

export class Queries extends Noun {
  /** Newest first. A page looks at a bounded number of jobs: it may be short, and have a `next` all the same. */
  jobs({ limit = 50, ...filter }: JobListing = {}): Promise<ListedJobs> {
    const request = JSON.stringify({ ...filterRequest(filter), rows: limit, tenant: this.tenant });
    return asked(this.db.sql`select app.search_jobs(${request}::text::json) as reply`);
  }

  /** By status; bounded in what it looks at, and says so. */
  countJobs(filter: JobFilter = {}): Promise<JobCounts> {
    const request = JSON.stringify({ ...filterRequest(filter), tenant: this.tenant });
    return asked(this.db.sql`select app.count_jobs(${request}::text::json) as reply`);
  }

  /** Where it stands and no more. */
  jobState(job_id: string): Promise<{ job_id: string; status: JobStatus; epoch: number }> {
    return asked(this.db.sql`select app.job_state(${job_id}::text, ${this.tenant}::text) as reply`);
  }

  /** The tasks of a job, or those that stand alone. */
  tasks({
    limit,
    ...query
  }: TaskFilter): Promise<{ job_id: string | null; tasks: TaskSummary[]; next: string | null }> {
    return this.#page({ ...query, rows: limit });
  }

  tasksWithResults({ limit, ...query }: Omit<TaskFilter, "job_id"> & { job_id: string }): Promise<{
    job_id: string;
    tasks: TaskWithResult[];
    next: string | null;
  }> {
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
  async workers(): Promise<WorkerRecord[]> {
    return (await this.workersAndGone()).workers;
  }

  /** `everything`: for operators of the service, also what workers of all tenants do for others. Only the server's role is told. */
  workersAndGone({ everything = false } = {}): Promise<{ workers: WorkerRecord[]; gone: GoneWorker[] }> {
    return asked(this.db.sql`select app.list_workers(${this.tenant}::text, ${everything}::boolean) as reply`);
  }
}

function filterRequest<Filter extends JobFilter>({ status, type, ...filter }: Filter) {
  const list = (one: string | readonly string[] | null | undefined) => (typeof one === "string" ? [one] : one);
  return { ...filter, status: list(status), types: list(type) };
}
