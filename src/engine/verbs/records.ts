// The records the engine gives and takes, with the names they have in SQL: what the schemas of the API describe is typed by those. Types
// only.
import type { z } from "zod";
import type { dependency_record } from "../../core/api/dependencies.js";
import type { ReplyOf } from "../../core/api/endpoint.js";
import type { groups_api } from "../../core/api/groups.js";
import type {
  deliverable,
  job_record,
  job_summary,
  listed_job,
  outcome,
  stage_record,
  task_error,
} from "../../core/api/job_records.js";
import type { jobs_api } from "../../core/api/jobs.js";
import type { event } from "../../core/api/operation_records.js";
import type { operations_api } from "../../core/api/operations.js";
import type { attempt, task_record, task_summary, worker_place } from "../../core/api/task_records.js";
import type { DeadlineFrom } from "../../core/declare/deadline.js";
import type { Retry } from "../../core/declare/retry.js";
import type { StageOptions } from "../../core/declare/stage_options.js";
import type { Ref } from "../../core/places/store.js";
import type { JobWebhook } from "../../core/places/webhooks.js";
import type { Queryable } from "../database/database.js";

export interface SubmitOptions {
  /** reuse: the job there is, whatever its status; resume: that one, and it goes on if it did not end well; force: a new run. */
  mode?: "reuse" | "resume" | "force";
  /** Higher runs first; 0 is usual. */
  priority?: number;
  labels?: Record<string, string>;
  /** JSON of any shape that is kept with the job and shown with it; at most 16 KB. */
  metadata?: Record<string, unknown> | undefined;
  /** Seconds from the start of its work until it is failed if it has not ended; 7200 when left out, null: however long it takes. */
  deadline_s?: number | null;
  /** What the deadline counts from: the start of its work, or the submit, so that what it waits counts too. */
  deadline_from?: DeadlineFrom;
  /** Not before this time. */
  run_at?: Date | string | undefined;
  correlation_id?: string;
  /** The group the job belongs to; it opens when it is first named. */
  group_id?: string;
  /** Who else hears how it ended, besides the tenant's endpoints. Kept with the job that this submit makes. */
  webhooks?: readonly JobWebhook[];
  /** How its failed tasks are tried again, whatever its stages say. */
  retry?: Retry;
  /** Changes to single stages, as far as the blueprint allows: failure budget, tasks that run at once, how they are tried again. */
  stage_options?: Record<string, StageOptions>;
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

export interface TaskFilter {
  job_id?: string | null;
  /** By name or number; of a job. */
  stage?: string | number | null;
  /** Only for lone tasks. */
  task_type?: string | null;
  status?: string | null;
  /** Only ordinals [from, to). */
  from?: number;
  to?: number;
  limit?: number;
  /** `next` of the page before. */
  cursor?: string | null;
}

export type SubmitReply = ReplyOf<typeof jobs_api.submit>;
export type TaskError = z.output<typeof task_error>;
export type StageRecord = z.output<typeof stage_record>;
export type JobSummary = z.output<typeof job_summary>;
/** A job that another depends on. */
export type DependencyRecord = z.output<typeof dependency_record>;
/** One objective: what succeeded, what failed, how to recover. */
export type OutcomeRecord = z.output<typeof outcome>;
/** What tasks said they delivered, added up by stage and name. */
export type DeliverableRecord = z.output<typeof deliverable>;

/** The server adds what it counts from the stages, and where the catalogue has what the job made. */
type Shown = "stage" | "total_stages" | "progress" | "stage_results" | "items_url";
export type JobRecord = Omit<z.output<typeof job_record>, Shown | "result_spill"> & { result_spill: Ref | null };

export type JobCounts = ReplyOf<typeof jobs_api.counts>;
export type ListedJob = z.output<typeof listed_job>;
export type ListedJobs = ReplyOf<typeof jobs_api.list>;
export type JobPage = ReplyOf<typeof groups_api.jobs>;

export type TaskSummary = z.output<typeof task_summary>;
export type TaskPage = { tasks: TaskSummary[]; next: string | null };
export type AttemptRecord = z.output<typeof attempt>;
/** A worker, as the story of a task names it. */
export type WorkerPlace = z.output<typeof worker_place>;
export type TaskRecord = Omit<z.output<typeof task_record>, "spill"> & { spill: Ref | null };
export type EventRecord = z.output<typeof event>;
export type CancelReply = ReplyOf<typeof operations_api.cancel>;
