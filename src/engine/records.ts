// The records the engine gives and takes, with the names they have in SQL. Types only.
import type { JobStatus, StageStatus, TaskStatus } from "../core/statuses.js";
import type { Ref } from "../core/store.js";
import type { Queryable } from "./database.js";

export interface SubmitOptions {
  /** reuse: the job there is, whatever its status; force: a new run. */
  mode?: "reuse" | "force";
  /** Higher runs first; 0 is usual. */
  priority?: number;
  labels?: Record<string, string>;
  deadline_s?: number;
  correlation_id?: string;
  /** A transaction of the caller's: the job exists when it commits, or not at all. */
  db?: Queryable;
}

export type SubmitItem<Parameters> = { parameters: Parameters } & Omit<SubmitOptions, "mode" | "db">;

export interface SubmitReply {
  job_id: string;
  job_type: string;
  run: number;
  status: JobStatus;
  created: boolean;
  /** What can be done with it, in one sentence. */
  hint: string;
}

export interface EnqueueOptions {
  idempotency_key?: string;
  run_at?: Date | string;
  delay_s?: number;
  priority?: number;
  max_attempts?: number;
  metadata?: Record<string, unknown>;
  db?: Queryable;
}

export type EnqueueItem = { parameters: Record<string, unknown> } & Omit<EnqueueOptions, "db">;

export interface EnqueueReply {
  task_id: string;
  created: boolean;
}

export interface TaskError {
  category?: string;
  code: string;
  message: string;
  task_id?: string;
}

export interface StageRecord {
  stage_id: number;
  number: number;
  name: string;
  task_type: string;
  parallelism: string;
  importance: string;
  status: StageStatus;
  skip_reason: string | null;
  total: number | null;
  completed: number;
  failed: number;
  skipped: number;
  cancelled: number;
  processing: number;
  queued: number;
  retrying: number;
  opened_at: string | null;
  closed_at: string | null;
  error: TaskError | null;
}

export interface JobSummary {
  job_id: string;
  job_type: string;
  run: number;
  status: JobStatus;
  priority: number;
  labels: Record<string, string>;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  error: { stage?: string; code?: string; message: string } | null;
}

export interface JobRecord extends JobSummary {
  tenant_id: string;
  parameters: Record<string, unknown>;
  correlation_id: string | null;
  deadline_at: string | null;
  hint: string;
  /** The database's clock, for ages and rates. */
  now: string;
  /** Of the last stage, when that was one task. */
  result: unknown;
  result_spill: Ref | null;
  stages: StageRecord[];
}

export interface JobFilter {
  status?: string | null;
  type?: string | null;
  limit?: number;
  cursor?: string | null;
}

export interface JobPage {
  jobs: JobSummary[];
  next: string | null;
}

export interface TaskFilter {
  job_id?: string | null;
  stage?: string | number | null;
  task_type?: string | null;
  status?: string | null;
  limit?: number;
  cursor?: number | null;
}

export interface TaskSummary {
  task_id: string;
  job_id: string | null;
  stage: string;
  task_type: string;
  ordinal: number;
  index: string;
  status: TaskStatus;
  attempt: number | null;
  priority: number | null;
  run_at: string | null;
  worker_id: string | null;
  created_at: string;
  finished_at: string | null;
  duration_ms: number | null;
  error: TaskError | null;
}

export interface TaskPage {
  tasks: TaskSummary[];
  next: number | null;
}

export interface AttemptRecord {
  attempt: number;
  outcome: "failed" | "lost" | "released" | "refused" | "superseded";
  category: string | null;
  code: string | null;
  message: string | null;
  worker_id: string | null;
  ended_at: string;
  retry_at: string | null;
}

export interface TaskRecord extends TaskSummary {
  parameters: Record<string, unknown> | null;
  metadata: Record<string, unknown> | null;
  result: unknown;
  spill: Ref | null;
  next_stage_params: unknown;
  attempts: AttemptRecord[];
}

export interface EventRecord {
  event_id: number;
  at: string;
  kind: string;
  actor: string;
  stage_id: number | null;
  reason: string | null;
  data: Record<string, unknown> | null;
}

export interface CancelReply {
  job_id?: string;
  task_id?: string;
  status: string;
  changed: boolean;
}
