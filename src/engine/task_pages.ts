// What is read of one task when somebody looks closely, and of a job over time. Values that handlers made are handed on as the text
// the database gives: a number of twenty digits would not survive being parsed.
import { NotFound } from "../core/errors.js";
import type { JobStatus, StageStatus, TaskStatus } from "../core/statuses.js";
import type { Ref } from "../core/store.js";
import type { TimelineStage } from "../core/timeline.js";
import type { Queryable } from "./database.js";
import type { WorkerPlace } from "./records.js";
import { asked } from "./reply.js";

export interface LogQuery {
  attempt?: number | undefined;
  /** At least so grave. */
  level?: string | undefined;
  text?: string | undefined;
  after?: string | undefined;
  before?: string | undefined;
  rows?: number | undefined;
}

export interface TimelineQuery {
  stage?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  retried?: boolean | undefined;
  most?: number | undefined;
}

type StageBars = TimelineStage & {
  task_type: string;
  status: StageStatus;
  total: number | null;
  epoch: number;
  looked_at: number;
  p95_ms: number | null;
  bins: { started: number[]; ended: number[]; failed: number[] } | null;
  after: number[];
  tasks: (TimelineStage["tasks"][number] & {
    status: TaskStatus;
    runs: TimelineStage["tasks"][number]["runs"][number][];
  })[];
};

export interface Timeline {
  job_id: string;
  job_type: string;
  status: JobStatus;
  origin: string;
  now: number;
  started: number | null;
  finished: number | null;
  from: number;
  to: number;
  stages: StageBars[];
  workers: WorkerPlace[];
}

export interface LineageLink {
  stage_id: number;
  stage: string;
  number: number;
  task_type: string;
  stage_status: StageStatus;
  how: "task" | "batch" | "all" | "plan" | "unplanned";
  tasks: number;
  counts: { completed: number; failed: number; skipped: number; open?: number; cancelled?: number } | null;
  first: {
    task_id: string;
    ordinal: number;
    index: string;
    status: TaskStatus;
    attempt: number | null;
    duration_ms: number | null;
    finished_at: string | null;
  }[];
}

export interface Lineage {
  task_id: string;
  job_id: string | null;
  stage: string;
  parallelism: string;
  up: LineageLink[];
  down: LineageLink[];
}

export class TaskPages {
  constructor(
    private readonly db: Queryable,
    private readonly tenant: string,
  ) {}

  /** The whole record as JSON text. `machines`: also where workers run that serve every tenant. */
  text(
    task_id: string,
    { largest, machines }: { largest?: number | undefined; machines?: boolean } = {},
  ): Promise<string> {
    const request = JSON.stringify({ task_id, largest, machines, tenant: this.tenant });
    return asked(this.db.sql`select app.read_task(${request}::text::json)::text as reply`);
  }

  /** A value as JSON text, or where it lies. Throws NotFound where there is none. */
  async value(task_id: string, name: string): Promise<{ text: string } | { ref: Ref }> {
    const { value, spill } = await asked<{ value: string | null; spill: Ref | null }>(
      this.db.sql`select app.task_value(${task_id}::text, ${name}::text, ${this.tenant}::text) as reply`,
    );
    if (spill !== null) return { ref: spill };
    if (value !== null) return { text: value };
    throw new NotFound(`task "${task_id}" has no ${name}`, { hint: "see GET /api/tasks/{task_id}" });
  }

  /** A page as JSON text. */
  logs(task_id: string, query: LogQuery = {}): Promise<string> {
    const request = JSON.stringify({ ...query, task_id, tenant: this.tenant });
    return asked(this.db.sql`select app.page_logs(${request}::text::json)::text as reply`);
  }

  lineage(task_id: string): Promise<Lineage> {
    return asked(this.db.sql`select app.task_lineage(${task_id}::text, ${this.tenant}::text) as reply`);
  }

  timeline(job_id: string, query: TimelineQuery = {}, machines = false): Promise<Timeline> {
    const request = JSON.stringify({ ...query, job_id, machines, tenant: this.tenant });
    return asked(this.db.sql`select app.job_timeline(${request}::text::json) as reply`);
  }
}
