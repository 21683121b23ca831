// What is read of a tenant's rows, page by page; every page is bounded in what it looks at, however much there is.
import type { JobStatus } from "../core/statuses.js";
import type { Ref } from "../core/store.js";
import type { Queryable } from "./database.js";
import type {
  EventRecord,
  JobCounts,
  JobFacets,
  JobFilter,
  JobListing,
  ListedJobs,
  TaskFilter,
  TaskSummary,
} from "./records.js";
import { asked } from "./reply.js";

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
  /** For how long it has been silent; null for one that is heard as usual. */
  silent_s: number | null;
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
  /** It takes nothing more and leaves when what runs has ended. */
  draining_at: string | null;
  lease_s: number;
  /** The memory of its process. */
  rss_mb: number | null;
  /** Tasks it ran at its last heartbeat: of this tenant, or of all for whoever may know. */
  running: number;
  held: number;
  /** null: not told. */
  held_by_others: number | null;
}

/** Stopped, or declared lost, within the last hour. */
export interface GoneWorker {
  worker_id: string;
  shared: boolean;
  status: "stopped" | "lost";
  host: string | null;
  pid: number | null;
  version: string | null;
  slots: number;
  started_at: string;
  heartbeat_at: string;
  ended_at: string;
  /** Tasks it still held. */
  went_back: number;
}

export interface WorkerTask {
  /** null: the planning of a stage. */
  task_id: string | null;
  planning: boolean;
  job_id: string | null;
  job_type: string | null;
  stage: string | null;
  index: string;
  task_type: string;
  attempt: number;
  claimed_at: string;
  running: boolean;
  started_at: string | null;
  progress: unknown;
}

export interface QueueRecord {
  task_type: string;
  due: number;
  later: number;
  retrying: number;
  running: number;
  oldest_at: string | null;
  oldest_job_id: string | null;
  oldest_task_id: string | null;
  counted_at: string;
  paused: { at: string; by: string; reason: string | null } | null;
  workers: number;
  slots: number;
  problem: { code: "QUEUE_PAUSED" | "NO_WORKER_FOR_TYPE"; reason: string; command: string } | null;
  per_minute: { completed: number; failed: number };
  history: {
    from: string;
    step_s: number;
    completed: number[];
    failed: number[];
    queued: (number | null)[];
    running: (number | null)[];
  } | null;
}

export class Queries {
  constructor(
    private readonly db: Queryable,
    private readonly tenant: string,
  ) {}

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

  /** What a filter can be about. */
  jobFacets(): Promise<JobFacets> {
    return asked(this.db.sql`select app.job_facets(${this.tenant}::text) as reply`);
  }

  /** Where it stands and no more. */
  jobState(job_id: string): Promise<{ job_id: string; status: JobStatus; epoch: number }> {
    return asked(this.db.sql`select app.job_state(${job_id}::text, ${this.tenant}::text) as reply`);
  }

  /** Of a job, or those that stand alone. */
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

  /** `everything`: for whoever runs the service, also what workers of all tenants do for others. Only the server's role is told. */
  workersAndGone({ everything = false } = {}): Promise<{ workers: WorkerRecord[]; gone: GoneWorker[] }> {
    return asked(this.db.sql`select app.list_workers(${this.tenant}::text, ${everything}::boolean) as reply`);
  }

  /** What a worker holds of the tenant. */
  workerTasks(
    worker_id: string,
    limit = 50,
  ): Promise<{ worker_id: string; held: number; tasks: WorkerTask[]; more: boolean }> {
    return asked(
      this.db.sql`select app.worker_tasks(${worker_id}::text::uuid, ${limit}::integer, ${this.tenant}::text) as reply`,
    );
  }

  /** What waits of each task type, those with a problem first; `minutes`: of history. */
  queues(minutes = 60): Promise<{ queues: QueueRecord[]; more: boolean }> {
    return asked(this.db.sql`select app.list_queues(${minutes}::integer, ${this.tenant}::text) as reply`);
  }
}

function filterRequest<Filter extends JobFilter>({ status, type, ...filter }: Filter) {
  const list = (one: string | readonly string[] | null | undefined) => (typeof one === "string" ? [one] : one);
  return { ...filter, status: list(status), types: list(type) };
}
