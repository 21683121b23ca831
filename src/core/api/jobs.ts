// Jobs over HTTP: submit, look, list. Pure.

import { z } from "zod";
import { deadline_moments } from "../declare/deadline.js";
import { action } from "./action.js";
import { dependency_options } from "./dependencies.js";
import { bulk_body_values, endpointsOf } from "./endpoint.js";
import {
  cursor,
  flag,
  job_id,
  job_type,
  json,
  labels,
  limit,
  moment,
  priority,
  record,
  retry,
  stage_options,
  time,
} from "./fields.js";
import { job_query_fields } from "./job_query.js";
import { job_record, job_status, listed_job } from "./job_records.js";
import { job_webhooks } from "./webhooks.js";

/** The largest result in storage that is answered: it is read whole. The summary of the endpoint says it too. */
export const max_result_bytes = 64 * 1024 * 1024;

export const submit_options = z.strictObject({
  mode: z
    .enum(["reuse", "resume", "force"])
    .optional()
    .describe("reuse (usual): the job there is; resume: it goes on if it did not end well; force: one more run"),
  resume: z.boolean().optional().describe("true means mode resume"),
  priority: priority.optional(),
  labels: labels.optional(),
  metadata: record.optional().describe("Kept with the job that this submit makes and shown with it; at most 16 KB"),
  deadline_s: z
    .number()
    .positive()
    .max(315_360_000)
    .nullable()
    .optional()
    .describe(
      "Seconds from the start of its work until it is failed if it has not ended; null: however long it takes; 7200 when left out",
    ),
  deadline_from: z
    .enum(deadline_moments)
    .optional()
    .describe(
      "What the deadline counts from: the start of its work (usual), or the submit, so that what it waits counts too",
    ),
  run_at: moment.optional().describe("Not before this time: until then it waits. At once when left out, or past"),
  correlation_id: z.string().min(1).max(200).optional(),
  webhooks: job_webhooks.optional(),
  retry: retry.optional(),
  stage_options: stage_options.optional(),
  ...dependency_options,
});

/** The options of each job in a batch; the mode is the batch's. */
const item_options = submit_options.omit({ mode: true, resume: true });

const submitted = z
  .object({
    job_id: z.string(),
    job_type: z.string(),
    run: z.int(),
    status: job_status,
    created: z.boolean(),
    resumed: z.boolean(),
    epoch: z.int(),
    hint: z.string(),
    action: action.nullable(),
  })
  .meta({ id: "Submitted" });

/** What a dry run tells. */
const would_submit = z
  .object({
    dry_run: z.literal(true),
    would: z
      .enum(["create", "reuse", "resume"])
      .describe("create: a new job, or one more run; reuse: the job there is stays as it is; resume: that job goes on"),
    job_id: z.string().describe("The id of the job that exists, or would be made"),
    job_type: z.string(),
    run: z.int(),
    exists: z
      .object({ job_id: z.string(), run: z.int(), status: job_status, created_at: time, finished_at: time.nullable() })
      .nullable()
      .describe("The newest job with this content"),
    run_at: time.nullable().describe("When it is to start; null: at once"),
    waits_for: z.int().describe("How many of the jobs it depends on have not ended well yet"),
    deadline_s: z.number().nullable(),
    deadline_from: z.enum(deadline_moments),
    parameters: record.describe("As they would be kept, with what was left out filled in"),
    stages: z
      .array(
        z.object({
          number: z.int(),
          name: z.string(),
          task: z.string(),
          parallelism: z.string(),
          importance: z.string(),
          after: z.array(z.int()),
          gate: z.string().nullable().describe("A person is asked this before it opens"),
          conditional: z.boolean().describe("Whether it runs is decided on the way"),
          tasks: z.int().nullable().describe("null: known only when it runs"),
          why: z.string().nullable().describe("Why that many, or why the number is not known yet"),
          served: z.boolean().describe("There is a live worker for its tasks"),
        }),
      )
      .describe("The stages of a job that would be made"),
    tasks: z.int().describe("Tasks of the stages whose number is known"),
    resume: z
      .object({ from_stage: z.int(), again: z.int(), kept: z.int() })
      .nullable()
      .describe("For a job that would be resumed: tasks that run again, and tasks that are kept"),
    hint: z.string(),
  })
  .meta({ id: "WouldSubmit" });

const by_content =
  "Submitting is idempotent by content: the same type and parameters are the same job, however often they are sent, and " +
  "`created` says whether this call made it. There is no idempotency key to invent; `mode: force` asks for one more run.";

const looked_at = {
  tag: "jobs",
  scope: "read",
  params: z.strictObject({ job_id }),
  query: z.strictObject({ wait: flag.optional(), status_code: flag.optional() }),
  reply: job_record,
  other_answers: {
    202: {
      description: "It is under way, and the caller asked for this status code",
      schema: job_record,
      headers: { "Retry-After": "Seconds after which to ask again" },
    },
  },
} as const;

export type WouldSubmit = z.output<typeof would_submit>;

const endpoint = endpointsOf({ tag: "jobs", scope: "read", params: { job_type, job_id } });

export const jobs_api = {
  submit: endpoint("POST /api/jobs/submit/{job_type}", {
    cli: "submit {job_type}",
    long: false,
    summary: "Submit a job",
    description: `${by_content}\n\nA body without \`parameters\` may hold the parameters themselves beside the options: \`{"region_code": "CIV", "resume": true}\`.`,
    scope: "submit",
    query: z.strictObject({ resume: flag.optional().describe("true means mode resume") }),
    headers: z.object({
      traceparent: z.string().optional().describe("W3C trace context; what is malformed is ignored"),
    }),
    body: submit_options
      .extend({
        parameters: record.optional(),
        dry_run: z
          .boolean()
          .optional()
          .describe(
            "Tell what submitting would do, or why it would be refused, and do nothing; takes nothing of the limits",
          ),
      })
      .catchall(json)
      .prefault({})
      .meta({ examples: [{ parameters: { n: 3 }, priority: 5, labels: { team: "hydro" } }] }),
    reply: submitted,
    status: 201,
    other_answers: {
      200: { description: "It exists already; or the result of a dry run", schema: z.union([submitted, would_submit]) },
    },
    errors: [404, 409, 422],
    // The same parameters are the same job, unless a new run is forced.
    repeatable: true,
  }),
  submit_batch: endpoint("POST /api/jobs/submit/{job_type}/batch", {
    summary: "Submit up to 1,000 jobs of one type",
    description: `All of them or none: one transaction. ${by_content}`,
    scope: "submit",
    headers: z.object({ traceparent: z.string().optional() }),
    body: z.strictObject({
      items: z
        .array(item_options.extend({ parameters: record.default({}) }))
        .min(1)
        .max(1000),
      mode: submit_options.shape.mode,
    }),
    body_limit: 8 * 1024 * 1024,
    body_values: bulk_body_values,
    reply: z.object({ jobs: z.array(submitted), created: z.int() }),
    status: 201,
    other_answers: {
      200: {
        description: "All of them exist already",
        schema: z.object({ jobs: z.array(submitted), created: z.int() }),
      },
    },
    errors: [404, 409, 422],
    repeatable: true,
  }),
  status: endpoint("GET /api/jobs/status/{job_id}", {
    ...looked_at,
    cli: "status {job_id}",
    summary: "Everything about one job",
    description:
      "With `status_code=true` a job that is under way is answered with 202 and Retry-After, an ended one with 200. With `wait=true` " +
      "the call is held until the job has ended, at most 25 s, and then answers in the same way.",
  }),
  get: endpoint("GET /api/jobs/{job_id}", {
    ...looked_at,
    cli: "status {job_id}",
    summary: "Everything about one job, by its own address",
    description: "The same as `/api/jobs/status/{job_id}`.",
  }),
  list: endpoint("GET /api/jobs", {
    cli: "jobs",
    long: true,
    summary: "List and search jobs, newest first",
    description:
      "A page looks at a bounded number of jobs, so with filters that few jobs fit it may be short, or empty, and have a " +
      "`next` all the same: `looked_back_to` says how far it looked. The last page has none. Status, type, id, group, correlation " +
      "id, paused, waiting and retrying are found by an index; labels, words, errors, priority and when it finished are looked for " +
      "among the jobs that remain.",
    query: z.strictObject({
      ...job_query_fields,
      progress: flag.optional().describe("true: also return the progress of each job's stages"),
      limit,
      cursor,
    }),
    reply: z.object({
      jobs: z.array(listed_job),
      next: z.string().nullable(),
      examined: z.int().describe("How many jobs were examined for this page"),
      looked_back_to: time
        .nullable()
        .describe("Set when a page ended before it was full: jobs created before this are not examined yet"),
    }),
  }),
  counts: endpoint("GET /api/jobs/counts", {
    long: true,
    summary: "How many jobs there are in each status",
    description:
      "Takes the filter of the list. By type and status alone it is exact, but for more than 200,000 open jobs; any other filter is " +
      "held against at most 50,000 jobs of a kind. `at_least` names the statuses of which there may be more.",
    query: z.strictObject(job_query_fields),
    reply: z.object({
      counts: z.object({
        queued: z.int(),
        processing: z.int(),
        completed: z.int(),
        partial_success: z.int(),
        failed: z.int(),
        cancelled: z.int(),
      }),
      at_least: z.array(job_status),
      examined: z.int().describe("How many jobs were examined"),
      now: time.describe("When they were counted"),
    }),
  }),
  facets: endpoint("GET /api/jobs/facets", {
    sql: "job_facets",
    long: true,
    summary: "What a filter can be about: the types there are jobs of, and the labels of the newest 1,000",
    reply: z.object({
      types: z.array(z.string()),
      labels: z.array(z.object({ key: z.string(), values: z.array(z.string()) })),
    }),
  }),
  result: endpoint("GET /api/jobs/{job_id}/result", {
    long: true,
    summary: "The result of a job, up to 64 MiB",
    description: "That of its last stage, when that was one task; else null: read the results of tasks then.",
    errors: [404, 413],
    reply: z.object({ job_id: z.string(), status: job_status, result: json }),
    other_answers: {
      202: {
        description: "It is under way",
        schema: z.object({ job_id: z.string(), status: job_status, result: json }),
        headers: { "Retry-After": "Seconds after which to ask again" },
      },
    },
  }),
};
