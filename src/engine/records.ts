// The records the engine gives and takes, with the names they have in SQL. Types only.
import type { DeadlineFrom } from "../core/deadline.js";
import type { Retry } from "../core/retry.js";
import type { JobStatus, StageStatus, TaskStatus } from "../core/statuses.js";
import type { Ref } from "../core/store.js";
import type { JobWebhook } from "../core/webhooks.js";
import type { Queryable } from "./database.js";
import type { GateDecision } from "./recovery_records.js";

export interface SubmitOptions {
  /** reuse: the job there is, whatever its status; resume: that one, and it goes on if it did not end well; force: a new run. */
  mode?: "reuse" | "resume" | "force";
  /** Higher runs first; 0 is usual. */
  priority?: number;
  labels?: Record<string, string>;
  /** Seconds from the start of its work until it is failed if it has not ended; 7200 when left out, null: however long it takes. */
  deadline_s?: number | null;
  /** What the deadline counts from: the start of its work, or the submit, so that what it waits counts too. */
  deadline_from?: DeadlineFrom;
  correlation_id?: string;
  /** The group the job belongs to; it opens when it is first named. */
  group_id?: string;
  /** Who else hears how it ended, besides the tenant's endpoints. Kept with the job that this submit makes. */
  webhooks?: readonly JobWebhook[];
  /** How its failed tasks are tried again, whatever its stages say. */
  retry?: Retry;
  /** Whole ids of jobs that must have ended well before anything of this one starts. */
  depends_on?: readonly string[];
  /** When one of them does not end well: cancel this one (the default), or run it all the same. */
  on_dependency_failure?: "cancel" | "run";
  /** success (the default): a partial success is enough; completed: it is not. */
  require?: "success" | "completed";
  /** Who submits, for the record, when that is not the database's login: a key, a person. */
  actor?: string;
  /** W3C trace context of the caller: the job's and its tasks' spans hang below it. */
  traceparent?: string;
  /**
   * A transaction of the caller's: the job exists when it commits, or not at all. Several submits of a tenant with limits in one
   * transaction may meet another's in a deadlock (40P01): the whole transaction is then to be repeated.
   */
  db?: Queryable;
}

export type SubmitItem<Parameters> = { parameters: Parameters } & Omit<SubmitOptions, "mode" | "db">;

export interface SubmitReply {
  job_id: string;
  job_type: string;
  run: number;
  status: JobStatus;
  created: boolean;
  /** It had not ended well and goes on (mode resume). */
  resumed: boolean;
  epoch: number;
  /** What can be done with it, in one sentence. */
  hint: string;
}

export interface EnqueueOptions {
  idempotency_key?: string;
  run_at?: Date | string;
  delay_s?: number;
  priority?: number;
  /** The same as retry.attempts. */
  max_attempts?: number;
  /** How it is tried again when it fails. */
  retry?: Retry;
  metadata?: Record<string, unknown>;
  /** W3C trace context of the caller; kept as metadata.traceparent. */
  traceparent?: string;
  db?: Queryable;
}

export type EnqueueItem = { parameters: Record<string, unknown> } & Omit<EnqueueOptions, "db" | "traceparent">;

export interface EnqueueReply {
  task_id: string;
  created: boolean;
}

export interface TaskError {
  category?: string;
  code: string;
  message: string;
  /** The error group it belongs to. */
  signature?: string;
  /** It crashed too often, and is not tried again by itself. */
  quarantined?: boolean;
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
  /** The epoch of the job in which it was last opened. */
  epoch: number;
  description: string | null;
  gate: { message: string } | null;
  decision: GateDecision | null;
  total: number | null;
  completed: number;
  failed: number;
  skipped: number;
  cancelled: number;
  processing: number;
  queued: number;
  retrying: number;
  /** The numbers of the stages it waits for, and of the one whose results it takes. */
  after: number[];
  of: number | null;
  when: { path?: string; function?: string } | null;
  /** How many failures it forgives; `allowed` once it is planned. */
  budget: { count: number | null; percent: number | null; allowed: number | null } | null;
  max_parallel: number | null;
  /** null: nobody gave a number, and what fails decides how long it is tried. */
  max_attempts: number | null;
  retry: Omit<Retry, "attempts"> | null;
  next_retry: NextRetry | null;
  timeout_s: number | null;
  /** Over the last minutes, by a bounded number of results; null when that cannot be told. */
  rate_per_s: number | null;
  eta_s: number | null;
  opened_at: string | null;
  closed_at: string | null;
  error: TaskError | null;
}

/** The task of a stage that is tried again first. */
export interface NextRetry {
  task_id: string;
  attempt: number;
  /** null: their number is no limit. */
  max_attempts: number | null;
  run_at: string;
  /** When it is given up if it goes on failing; null: time is no limit. */
  gives_up_at: string | null;
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
  group_id: string | null;
  /** So many of the jobs it depends on have not ended well. */
  waits_for: number;
  depends_on: DependencyRecord[];
  /** Null: none, or it does not count yet (see deadline_left_s). */
  deadline_at: string | null;
  deadline_s: number | null;
  deadline_from: DeadlineFrom;
  /** What is left of it where it stands still, or counts from the start of work and nothing has started. */
  deadline_left_s: number | null;
  hint: string;
  /** 1, and one more for each repair. */
  epoch: number;
  resume_count: number;
  paused_at: string | null;
  paused_by: string | null;
  pause_reason: string | null;
  cancelled_by: string | null;
  resumable: boolean;
  resume_from_stage: number | null;
  resume_hint: string | null;
  outcomes: OutcomeRecord[];
  deliverables: DeliverableRecord[];
  /** The database's clock, for ages and rates. */
  now: string;
  /** Of the last stage, when that was one task. */
  result: unknown;
  result_spill: Ref | null;
  stages: StageRecord[];
}

/** A job that another depends on. */
export interface DependencyRecord {
  job_id: string;
  /** Null when that job is no more. */
  job_type: string | null;
  status: JobStatus | null;
  /** How it must end. */
  needs: "success" | "completed" | "end";
  satisfied_at: string | null;
}

/** One objective: what succeeded, what failed, how to recover. */
export interface OutcomeRecord {
  stage: string;
  number: number;
  /** The stage's description, or its name. */
  objective: string;
  importance: string;
  status: "succeeded" | "partly_succeeded" | "failed" | "skipped" | "cancelled" | "pending";
  total: number;
  completed: number;
  failed: number;
  skipped: number;
  error: TaskError | null;
  recovery: string | null;
}

/** What tasks said they delivered, added up by stage and name. */
export interface DeliverableRecord {
  name: string;
  stage: string;
  count: number;
  /** The one location they share; null when there are none or several. */
  location: string | null;
  locations: string[] | null;
  usable: boolean;
  tasks: number;
  /** Only the first 10,000 tasks that delivered were added up. */
  at_least: boolean;
}

export interface JobFilter {
  status?: string | readonly string[] | null | undefined;
  type?: string | readonly string[] | null | undefined;
  /** Each begins the id, or stands in type, labels, correlation id, group or error. */
  words?: readonly string[] | null | undefined;
  /** All of them. */
  labels?: Record<string, string> | null | undefined;
  /** All of them, whatever their value. */
  label_keys?: readonly string[] | null | undefined;
  /** The beginning of the id. */
  id?: string | null | undefined;
  /** These and no others, by their whole ids. */
  job_ids?: readonly string[] | null | undefined;
  /** Text in the error of jobs that did not end well. */
  error?: string | null | undefined;
  correlation_id?: string | null | undefined;
  group_id?: string | null | undefined;
  created_after?: string | null | undefined;
  created_before?: string | null | undefined;
  finished_after?: string | null | undefined;
  finished_before?: string | null | undefined;
  priority_from?: number | null | undefined;
  priority_to?: number | null | undefined;
  paused?: boolean | null | undefined;
  /** For other jobs. */
  waiting?: boolean | null | undefined;
  /** true: a stage waits for a person. */
  approval?: boolean | null | undefined;
  /** true: something is tried again, or waits to be. */
  retrying?: boolean | null | undefined;
}

export interface JobListing extends JobFilter {
  /** Tell how far the stages of each are, too. */
  progress?: boolean | null | undefined;
  limit?: number | undefined;
  cursor?: string | null | undefined;
}

export interface JobCounts {
  counts: Record<JobStatus, number>;
  /** The statuses of which there may be more. */
  at_least: JobStatus[];
  /** So many were looked at. */
  examined: number;
  /** When they were counted, by the database's clock. */
  now: string;
}

export interface JobFacets {
  types: string[];
  labels: { key: string; values: string[] }[];
}

export interface ListedProgress {
  stages: number;
  stages_ended: number;
  stage: number | null;
  stage_name: string | null;
  approval: boolean;
  retrying: boolean;
  total: number;
  completed: number;
  failed: number;
  skipped: number;
  open_stages: { stage_id: number; total: number; completed: number; failed: number; skipped: number }[];
}

export interface ListedJob extends JobSummary {
  group_id: string | null;
  correlation_id: string | null;
  paused_at: string | null;
  waits_for: number;
  /** When it was asked for. */
  progress: ListedProgress | null;
}

export interface ListedJobs {
  jobs: ListedJob[];
  next: string | null;
  /** So many were looked at. */
  examined: number;
  /** Of a page that ended before it was full: what was created before is yet to be looked at. */
  looked_back_to: string | null;
}

export interface JobPage {
  jobs: JobSummary[];
  next: string | null;
}

export interface TaskFilter {
  job_id?: string | null;
  /** By name or number; of a job. */
  stage?: string | number | null;
  /** Of lone tasks. */
  task_type?: string | null;
  status?: string | null;
  /** Only ordinals [from, to). */
  from?: number;
  to?: number;
  limit?: number;
  /** `next` of the page before. */
  cursor?: string | null;
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
  next: string | null;
}

export interface AttemptRecord {
  attempt: number;
  /** Of the job: one more for each repair. */
  epoch: number;
  outcome: "failed" | "lost" | "released" | "refused" | "superseded";
  category: string | null;
  code: string | null;
  message: string | null;
  /** The error group it belongs to. */
  signature: string | null;
  /** Stack, problems, and of a crashed process its end and last lines. */
  detail: Record<string, unknown> | null;
  duration_ms: number | null;
  worker_id: string | null;
  worker: WorkerPlace | null;
  /** null: not known. */
  started_at: string | null;
  ended_at: string;
  retry_at: string | null;
  /** Of how many it was one; null: their number is no limit. */
  max_attempts: number | null;
  /** When the task is given up if it goes on failing; null: time is no limit. */
  gives_up_at: string | null;
}

export interface TaskLogRecord {
  at: string;
  attempt: number;
  level: string;
  message: string;
  data: unknown;
}

/** A worker, as the story of a task names it. */
export interface WorkerPlace {
  worker_id: string;
  /** It serves every tenant: where it runs is told only to whoever runs the service. */
  shared: boolean;
  status: string | null;
  host: string | null;
  pid: number | null;
}

export interface RunningAttempt {
  attempt: number;
  claimed_at: string;
  /** As its worker said with a heartbeat. */
  started_at: string | null;
  heartbeat_at: string | null;
  elapsed_s: number | null;
  progress: unknown;
  progress_age_s: number | null;
  worker: WorkerPlace | null;
}

export interface TaskRecord extends TaskSummary {
  parameters: Record<string, unknown> | null;
  metadata: Record<string, unknown> | null;
  result: unknown;
  spill: Ref | null;
  next_stage_params: unknown;
  deliverables: unknown;
  /** null: it stands alone. */
  stage_number: number | null;
  stage_opened_at: string | null;
  /** null: nobody gave a number, and what fails decides how long it is tried. */
  max_attempts: number | null;
  retry: Omit<Retry, "attempts"> | null;
  timeout_s: number | null;
  parent: string | null;
  bbox: number[] | null;
  /** Of its values as JSON text. */
  bytes: Record<"parameters" | "metadata" | "result" | "next_stage_params" | "deliverables", number | null>;
  /** Values that were larger than the caller wanted. */
  left_out: string[];
  /** Who finished it, or has it. */
  worker: WorkerPlace | null;
  running: RunningAttempt | null;
  /** Those that did not simply succeed, the newest 500. */
  attempts: AttemptRecord[];
  attempts_left_out: number;
  /** The last hundred lines it logged. */
  logs: TaskLogRecord[];
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
  job_id: string;
  status: string;
  /** What was, or would be, taken out of the queue and away from workers. */
  queued: number;
  running: number;
  dry_run: boolean;
  changed: boolean;
}

export interface TaskVerbReply {
  task_id: string;
  status: string;
  dry_run: boolean;
  changed: boolean;
}
