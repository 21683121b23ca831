// Platform requests over HTTP: one dataset in, several jobs, one answer out. Pure.
import { z } from "zod";
import { action } from "../action.js";
import { endpointsOf } from "../endpoint.js";
import { actor, cursor, dry_run, flag, labels, limit, moment, priority, reason, record, time } from "../fields.js";
import { job_webhooks } from "../webhooks.js";

export const request_statuses = [
  "pending",
  "processing",
  "completed",
  "partial_success",
  "failed",
  "cancelled",
] as const;
export type RequestStatus = (typeof request_statuses)[number];
export const request_status = z.enum(request_statuses);
const status = request_status;

const problem = z.object({ path: z.string(), problem: z.string(), fix: z.string() });
const dataset_id = z.string().min(1).max(255).describe("The dataset, as the client system calls it");
const resource_id = z.string().min(1).max(255).describe("The resource within the dataset");
const version_id = z.string().min(1).max(50).describe("The version of the resource");
export const data_type = z.string().min(1).max(63).describe("Which recipe; when left out it is found from the files");
export const request_id = z
  .string()
  .min(1)
  .max(600)
  .describe(
    "The id of a request, of its release, of a job or an item of it, or dataset/resource[/version] with %2F between them",
  );

const job_of_request = z.object({
  name: z.string(),
  job_type: z.string(),
  sequence: z.int().describe("Jobs of the same sequence run in parallel"),
  job_id: z.string().nullable().describe("null until it is opened"),
  status: z.string(),
});

const shown_job = job_of_request
  .extend({
    number: z.int(),
    after: z.array(z.string()),
    importance: z.string(),
    skip_reason: z.string().nullable(),
    error: record.nullable(),
    gate: z.string().nullable(),
    decision: record.nullable(),
    superseded: z.array(z.string()).describe("Jobs that it had before a repair"),
    opened_at: time.nullable(),
    started_at: time.nullable(),
    finished_at: time.nullable(),
    total: z.number().nullable(),
    completed: z.number().nullable(),
    failed: z.number().nullable(),
    skipped: z.number().nullable(),
    stage: z.string().nullable().describe("The stage it is at"),
    stages: z.number().nullable(),
  })
  .meta({ id: "RequestJob" });

const listed_request = z.object({
  request_id: z.string(),
  dataset_id: z.string(),
  resource_id: z.string(),
  version_id: z.string(),
  run: z.int(),
  data_type: z.string(),
  status,
  metadata: record,
  labels: record,
  priority: z.int(),
  correlation_id: z.string().nullable(),
  epoch: z.int(),
  resume_count: z.int(),
  error: record.nullable(),
  created_at: time,
  created_by: z.string(),
  started_at: time.nullable(),
  updated_at: time,
  finished_at: time.nullable(),
  run_at: time.nullable(),
  jobs: z.array(job_of_request),
});

export const request_summary = listed_request.meta({ id: "RequestSummary" });

const service = z.object({
  job: z.string(),
  name: z.string().describe("stac_collection, stac_items, stac_search, stac_item, asset, quicklook …"),
  href: z.string(),
  type: z.string().nullable(),
  title: z.string().nullable(),
});

export const request_record = listed_request
  .extend({
    files: z.array(z.string()),
    parameters: record,
    names: record.describe("What is made of it is called so"),
    result_data: z
      .looseObject({
        counts: record,
        outputs: record.describe("What each job returned"),
        deliverables: z.array(record),
        errors: z.array(record).describe("By job, its failed tasks in groups"),
        services: z.array(service).optional().describe("Addresses of what was made"),
      })
      .nullable(),
    resumable: z.boolean(),
    waits_for_approval: z.string().nullable(),
    now: time,
    ask_again_s: z.int().nullable().describe("While it is under way: the same as Retry-After"),
    hint: z.string(),
    action: action.nullable(),
    jobs: z.array(shown_job),
    details: z.array(record).optional().describe("With detail=full: the status of each of its jobs"),
  })
  .meta({ id: "Request" });

export const submitted_request = z
  .object({
    request_id: z.string(),
    dataset_id: z.string(),
    resource_id: z.string(),
    version_id: z.string(),
    run: z.int(),
    data_type: z.string(),
    status,
    created: z.boolean(),
    resumed: z.boolean(),
    epoch: z.int(),
    jobs: z.array(job_of_request),
    status_url: z.string(),
  })
  .meta({ id: "SubmittedRequest" });

const would_request = z
  .object({
    dry_run: z.literal(true),
    would: z
      .enum(["create", "reuse", "resume", "refuse"])
      .describe("refuse: it is there with other files or parameters, and mode is not force"),
    request_id: z.string(),
    run: z.int(),
    data_type: z.string(),
    exists: z.object({ request_id: z.string(), run: z.int(), status, created_at: time }).nullable(),
    names: record,
    parameters: record.describe("As they would be kept, with what was left out filled in"),
    problems: z.array(problem),
    jobs: z.array(
      z.object({
        name: z.string(),
        job_type: z.string(),
        sequence: z.int(),
        importance: z.string(),
        gate: z.string().nullable(),
        conditional: z.boolean(),
      }),
    ),
  })
  .meta({ id: "WouldRequest" });
export type WouldRequest = z.output<typeof would_request>;

export const request_body = z
  .strictObject({
    dataset_id,
    resource_id,
    version_id,
    data_type: data_type.optional(),
    files: z
      .array(z.string().min(1).max(1024))
      .max(10_000)
      .optional()
      .describe("What it is made of: places such as bronze:scene.tif"),
    parameters: record.optional().describe("As the recipe declares them"),
    client_id: z.string().min(1).max(200).optional().describe("Which system asks; kept in metadata"),
    request_type: z.string().min(1).max(200).optional().describe("What the client calls it; kept in metadata"),
    metadata: record.optional().describe("Whatever else the client says about it, at most 16 KB"),
    mode: z
      .enum(["reuse", "resume", "force"])
      .optional()
      .describe("reuse: once, however often it is sent; resume: goes on with what failed; force: process it again"),
    priority: priority.optional(),
    labels: labels.optional(),
    correlation_id: z.string().min(1).max(200).optional(),
    webhooks: job_webhooks.optional(),
    run_at: moment.optional().describe("Not before this moment"),
    release: record.optional().describe("What it means for the release of this version"),
  })
  .meta({
    id: "RequestSubmit",
    examples: [
      { dataset_id: "dem", resource_id: "alps", version_id: "2024-1", files: ["bronze:alps.tif"], client_id: "ddh" },
    ],
  });

const endpoint = endpointsOf({ tag: "platform", scope: "read" });
const params = z.strictObject({ request_id });
const looked_at = {
  query: z.strictObject({
    detail: z.enum(["full"]).optional().describe("full: for operators, with the status of each job"),
    status_code: flag.optional().describe("false: 200 also while it is under way"),
  }),
  reply: request_record,
  other_answers: {
    202: {
      description: "It is under way",
      schema: request_record,
      headers: { "Retry-After": "Seconds after which to ask again, by the rate at which its tasks end" },
    },
  },
  errors: [404],
} as const;

export const requests_api = {
  submit: endpoint("POST /api/platform/submit", {
    scope: "submit",
    cli: "requests submit",
    summary: "Ask for a dataset to be processed",
    description:
      "One request per dataset, resource and version, however often it is sent; `mode: force` processes it again as its next run. " +
      "With `?dry_run=true` it says which recipe, which jobs and which names it would be, and what is wrong, and does nothing.",
    query: z.strictObject({ dry_run: flag.optional() }),
    body: request_body,
    reply: submitted_request,
    status: 202,
    other_answers: {
      200: {
        description: "It exists and has ended; or what a dry run found",
        schema: z.union([submitted_request, would_request]),
      },
    },
    errors: [404, 409, 422],
    repeatable: true,
  }),
  status: endpoint("GET /api/platform/status/{request_id}", {
    ...looked_at,
    cli: "requests show {request_id}",
    summary: "The one answer: how a request is, its jobs, and what it made",
    params,
  }),
  status_of_resource: endpoint("GET /api/platform/status/{dataset_id}/{resource_id}", {
    ...looked_at,
    summary: "The newest request for a resource",
    params: z.strictObject({ dataset_id, resource_id }),
  }),
  status_of_version: endpoint("GET /api/platform/status/{dataset_id}/{resource_id}/{version_id}", {
    ...looked_at,
    summary: "The newest request for a version",
    params: z.strictObject({ dataset_id, resource_id, version_id }),
  }),
  list: endpoint("GET /api/platform/requests", {
    cli: "requests list",
    sql: { name: "platform.list_requests", named: { text: "search" } },
    summary: "List requests, newest first",
    query: z.strictObject({
      status: z
        .string()
        .regex(new RegExp(`^(${request_statuses.join("|")})(,(${request_statuses.join("|")}))*$`))
        .meta({ examples: ["failed", "failed,partial_success"] })
        .optional()
        .describe("One or more, with commas between them"),
      dataset_id: dataset_id.optional(),
      resource_id: resource_id.optional(),
      data_type: data_type.optional(),
      client_id: z.string().min(1).max(200).optional(),
      text: z
        .string()
        .min(1)
        .max(200)
        .optional()
        .describe("Part of dataset/resource/version, or the beginning of an id"),
      limit,
      cursor,
    }),
    reply: z.object({ requests: z.array(request_summary), next: z.string().nullable() }),
  }),
  cancel: endpoint("POST /api/platform/requests/{request_id}/cancel", {
    scope: "operate",
    cli: "requests cancel {request_id}",
    sql: "platform.cancel_request",
    summary: "Cancel a request and its open jobs",
    params,
    body: z.strictObject({ reason, actor, dry_run }).prefault({}),
    reply: z.object({
      request_id: z.string(),
      status,
      open_jobs: z.int(),
      dry_run: z.boolean(),
      changed: z.boolean(),
    }),
    errors: [404, 409],
    repeatable: true,
  }),
  resubmit: endpoint("POST /api/platform/requests/{request_id}/resubmit", {
    scope: "operate",
    cli: "requests resubmit {request_id}",
    summary: "Go on with what failed, or process it again",
    description:
      "mode resume, the usual one, keeps what completed; mode force is the next run, with what was asked for the first time.",
    params,
    body: z.strictObject({ mode: z.enum(["resume", "force"]).optional(), reason, actor }).prefault({}),
    reply: submitted_request,
    errors: [404, 409],
  }),
  decide: endpoint("POST /api/platform/requests/{request_id}/decide", {
    scope: "operate",
    cli: "requests decide {request_id}",
    sql: "platform.decide_gate",
    summary: "Approve or reject a job of a request that waits for a person",
    params,
    body: z.strictObject({
      approved: z.boolean(),
      job: z.string().min(1).max(63).optional().describe("Its name; the first that waits when left out"),
      reason,
      actor,
    }),
    reply: submitted_request,
    errors: [404, 409],
  }),
  failures: endpoint("GET /api/platform/failures", {
    cli: "requests failures",
    sql: "platform.request_failures",
    summary: "What goes wrong with requests, as patterns",
    query: z.strictObject({
      hours: z.coerce.number().int().min(1).max(720).default(24),
      limit: z.coerce.number().int().min(1).max(200).default(20),
    }),
    reply: z.object({
      hours: z.int(),
      since: time,
      total: z.int(),
      ended: z.int(),
      failed: z.int(),
      partial_success: z.int(),
      failure_rate: z.number(),
      patterns: z.array(
        z.object({
          data_type: z.string(),
          job: z.string(),
          pattern: z.string(),
          requests: z.int(),
          first_at: time,
          last_at: time,
          latest: record,
        }),
      ),
    }),
  }),
};
