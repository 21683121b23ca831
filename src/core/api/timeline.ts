// A job over time, over HTTP. Pure.
import { z } from "zod";
import { job_statuses, stage_statuses } from "../shown/statuses.js";
import { endpointsOf } from "./endpoint.js";
import { flag, job_id, moment, stage, time } from "./fields.js";
import { task_status, worker_place } from "./task_records.js";

const ms = z.int().describe("Milliseconds after `origin`");

const run = z.object({
  from: ms.nullable().describe("null: when it began is not known"),
  to: ms.nullable().describe("null: it runs"),
  outcome: z
    .string()
    .describe("completed, failed, skipped, cancelled, processing, lost, released or refused (it came too late)"),
  attempt: z.int(),
  epoch: z.int(),
  worker_id: z.string().nullable(),
  retry_at: ms.nullable(),
  code: z.string().nullable(),
});

const timeline_task = z.object({
  ordinal: z.int(),
  index: z.string(),
  status: task_status,
  attempt: z.int().nullable(),
  ready: ms.nullable().describe("Since when it could run"),
  run_at: ms.nullable().describe("When a waiting task may start at the earliest"),
  runs: z.array(run),
});

const counts = z.array(z.int());

const timeline_stage = z.object({
  stage_id: z.int(),
  number: z.int(),
  name: z.string(),
  task_type: z.string(),
  status: z.enum(stage_statuses),
  after: z.array(z.int()),
  total: z.int().nullable(),
  epoch: z.int(),
  opened: ms.nullable(),
  closed: ms.nullable(),
  approved: ms.nullable(),
  looked_at: z.int().describe("Ended tasks that were read; fewer than there are: every n-th speaks for all"),
  last_ordinal: z.int().nullable().describe("The task that finished last, or that an open stage waits for"),
  median_ms: z.int().nullable(),
  p95_ms: z.int().nullable(),
  bins: z
    .object({ started: counts, ended: counts, failed: counts })
    .nullable()
    .describe("For a stage that is not shown whole: tasks by 1/240 of the time from `from` to `to`"),
  tasks: z.array(timeline_task),
});

const path_step = z
  .object({
    stage_id: z.int(),
    stage: z.string(),
    number: z.int(),
    task_id: z.string(),
    index: z.string(),
    status: task_status,
    from: ms,
    to: ms,
    approval_ms: z.int(),
    planning_ms: z.int(),
    waiting_ms: z.int(),
    retry_ms: z.int(),
    lost_ms: z.int().describe("In attempts that came to nothing"),
    running_ms: z.int(),
    failures: z.int(),
    median_ms: z.int().nullable(),
    largest: z.enum(["approval", "planning", "waiting", "retry", "lost", "running"]),
  })
  .meta({ id: "PathStep" });

const endpoint = endpointsOf({ tag: "jobs", scope: "read", params: { job_id } });

export const timeline_api = {
  of_job: endpoint("GET /api/jobs/{job_id}/timeline", {
    long: true,
    summary: "When each task of a job waited, ran and was tried again, and the slowest path",
    description:
      "All tasks where they are few. Of a wide stage the slowest, the last to finish, the failed, the most often tried and those that run, with " +
      "`bins` for all of it. The slowest path is the chain of tasks that the job waited for: of each stage the one that finished last.",
    query: z.strictObject({
      stage: stage.optional().describe("Only this one, by name or number; of the others the task they waited for"),
      from: moment.optional().describe("Tasks that ended since then; a closer look at a part"),
      to: moment.optional(),
      retried: flag.optional().describe("Only tasks that were tried more than once"),
      limit: z.coerce.number().int().min(1).max(2000).default(600).describe("Tasks at most, shared by the stages"),
    }),
    reply: z
      .object({
        job_id: z.string(),
        job_type: z.string(),
        status: z.enum(job_statuses),
        origin: time,
        now: ms,
        started: ms.nullable(),
        finished: ms.nullable(),
        from: ms,
        to: ms,
        stages: z.array(timeline_stage),
        workers: z.array(worker_place),
        path: z.array(path_step),
      })
      .meta({ id: "Timeline" }),
  }),
};
