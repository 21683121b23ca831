// Tasks over HTTP: those of jobs, and those that stand alone. Pure.
import { z } from "zod";
import { task_statuses } from "../shown/statuses.js";
import { bulk_body_values, endpointsOf } from "./endpoint.js";
import {
  job_id,
  limit,
  moment,
  priority,
  record,
  retry,
  stage,
  task_cursor,
  task_id,
  task_type,
  told,
  verb,
} from "./fields.js";
import { repaired, why_record } from "./operation_records.js";
import { task_record, task_summary, task_with_result } from "./task_records.js";

const enqueue_options = {
  idempotency_key: z
    .string()
    .min(1)
    .max(1024)
    .optional()
    .describe("The same key with the same body is the same task; with another body it is refused"),
  run_at: moment.optional().describe("Not before; or give delay_s"),
  delay_s: z.number().min(0).max(315_360_000).optional(),
  priority: priority.optional(),
  max_attempts: z.int().min(1).max(10_000).optional().describe("The same as retry.attempts"),
  retry: retry.optional(),
  metadata: record.optional(),
};

const one_task = z.strictObject({ parameters: record.default({}), ...enqueue_options });

const page_query = {
  status: z.enum(task_statuses).optional(),
  limit,
  cursor: task_cursor.optional().describe("`next` of the page before, unchanged"),
};
/** Tasks of a stage are numbered from 0. */
const ordinals = {
  from: z.coerce.number().int().min(0).optional().describe("Only ordinals from this one on"),
  to: z.coerce.number().int().min(0).optional().describe("Only ordinals before this one"),
};
const page_note =
  "A page looks at a bounded number of tasks, so with a status that few tasks have it may be short and have a `next` all the same.";

const task_told = z.object({ task_id: z.string(), status: z.string(), ...told });

const endpoint = endpointsOf({ tag: "tasks", scope: "read", params: { task_id, task_type, job_id } });

export const tasks_api = {
  enqueue: endpoint("POST /api/tasks/enqueue/{task_type}", {
    cli: "tasks enqueue {task_type}",
    long: false,
    summary: "Enqueue a task that stands alone, or up to 5,000",
    description:
      "Give the fields of one task, or `items` with several: all of them or none. A body without `parameters` has none. For one " +
      "task the header Idempotency-Key may be sent instead of `idempotency_key`.",
    scope: "submit",
    headers: z.object({ "idempotency-key": z.string().min(1).max(1024).optional() }),
    body: z
      .strictObject({
        ...enqueue_options,
        parameters: record.optional(),
        items: z.array(one_task).min(1).max(5000).optional(),
      })
      .prefault({})
      .meta({ examples: [{ parameters: { to: "ada" }, delay_s: 60 }] }),
    body_limit: 8 * 1024 * 1024,
    body_values: bulk_body_values,
    reply: z.object({ task_ids: z.array(z.string()), created: z.int() }),
    status: 201,
    other_answers: {
      200: { description: "They exist already", schema: z.object({ task_ids: z.array(z.string()), created: z.int() }) },
    },
    errors: [404, 409, 422],
    // Only with an idempotency key; the client asks for it to be tried again when it sent one.
    repeatable: false,
  }),
  list: endpoint("GET /api/tasks", {
    cli: "tasks list",
    summary: "List tasks that stand alone",
    description: page_note,
    query: z.strictObject({ type: task_type.optional(), ...page_query }),
    reply: z.object({ tasks: z.array(task_summary), next: z.string().nullable() }),
  }),
  of_job: endpoint("GET /api/jobs/{job_id}/tasks", {
    cli: "tasks list --job {job_id}",
    summary: "List the tasks of a job",
    description: page_note,
    query: z.strictObject({ stage: stage.optional(), ...ordinals, ...page_query }),
    reply: z.object({ tasks: z.array(task_summary), next: z.string().nullable() }),
  }),
  with_results: endpoint("GET /api/dbadmin/tasks/{job_id}", {
    summary: "List the tasks of a job with what they were given and what they produced",
    description: `A page ends early when it would be larger than 4 MB. ${page_note}`,
    query: z.strictObject({ stage: stage.optional(), ...page_query }),
    reply: z.object({ job_id: z.string(), tasks: z.array(task_with_result), next: z.string().nullable() }),
  }),
  get: endpoint("GET /api/tasks/{task_id}", {
    cli: "tasks show {task_id}",
    summary: "One task with its result, attempts and logs",
    description: "Numbers are written as they are stored, however long.",
    query: z.strictObject({
      largest: z.coerce
        .number()
        .int()
        .min(0)
        .max(16_777_216)
        .optional()
        .describe("Values with more bytes of JSON are left out; GET /api/tasks/{task_id}/value has them"),
    }),
    reply: task_record,
  }),
  cancel: endpoint("POST /api/tasks/{task_id}/cancel", {
    cli: "tasks cancel {task_id}",
    sql: "cancel_task",
    summary: "Cancel a task that stands alone",
    scope: "operate",
    body: verb.prefault({}),
    reply: task_told,
    errors: [409],
    repeatable: true,
  }),
  reschedule: endpoint("POST /api/tasks/{task_id}/reschedule", {
    cli: "tasks reschedule {task_id} {run_at}",
    sql: "reschedule_task",
    summary: "Move a waiting task that stands alone to another time or priority",
    scope: "operate",
    body: verb.extend({ run_at: moment, priority: priority.optional() }),
    reply: task_told.extend({ run_at: z.string(), priority: z.int() }),
    errors: [409],
    repeatable: true,
  }),
  retry: endpoint("POST /api/tasks/{task_id}/retry", {
    cli: "retry --task {task_id}",
    sql: "retry_task",
    summary: "Run a task that failed, was skipped or cancelled again",
    description: "One of a job opens the job again, with what follows the task.",
    scope: "operate",
    body: verb.prefault({}),
    reply: z.union([task_told.extend({ again: z.int() }), repaired]),
    errors: [409],
  }),
  redo: endpoint("POST /api/tasks/{task_id}/redo", {
    cli: "redo {task_id}",
    sql: "redo_task",
    summary: "Run a completed task again, because what it delivered may be gone",
    description: "A task of an ended job opens the job again, with what follows the task.",
    scope: "operate",
    body: verb.prefault({}),
    reply: z.union([task_told.extend({ again: z.int() }), repaired]),
    errors: [409],
  }),
  skip: endpoint("POST /api/tasks/{task_id}/skip", {
    cli: "skip {task_id}",
    sql: "skip_task",
    summary: "Skip a task: it counts as done without a result",
    scope: "operate",
    body: verb.extend({ reason: z.string().trim().min(1).max(1000).describe("Why, for the record") }),
    reply: task_told,
    errors: [409],
    repeatable: true,
  }),
  why: endpoint("GET /api/tasks/{task_id}/why", {
    cli: "why {task_id}",
    summary: "Why a task does not move, or ended as it did",
    reply: why_record,
  }),
};
