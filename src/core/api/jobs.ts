// Jobs over HTTP. Pure.
import { z } from "zod";
import { endpoint } from "./endpoint.js";
import { cursor, job_type, limit, record } from "./fields.js";
import { job_webhooks } from "./webhooks.js";

export const submit_options = z.strictObject({
  mode: z.enum(["reuse", "resume", "force"]).optional(),
  priority: z.int().min(-32768).max(32767).optional(),
  labels: z.record(z.string(), z.string()).optional(),
  deadline_s: z.number().positive().nullable().optional(),
  correlation_id: z.string().max(200).optional(),
  webhooks: job_webhooks.optional(),
});

const submitted = z.object({
  job_id: z.string(),
  job_type: z.string(),
  run: z.int(),
  status: z.string(),
  created: z.boolean(),
  resumed: z.boolean(),
  epoch: z.int(),
  hint: z.string(),
});

export const jobs_api = {
  submit: endpoint({
    method: "POST",
    path: "/api/jobs/submit/{job_type}",
    tag: "jobs",
    summary: "Submit a job",
    scope: "submit",
    params: z.strictObject({ job_type }),
    body: submit_options.extend({ parameters: record.default({}) }),
    reply: submitted,
    status: 201,
    other_answers: { 200: { description: "It exists already", schema: submitted } },
    // The same parameters are the same job, unless a new run is forced.
    repeatable: true,
  }),
  list: endpoint({
    method: "GET",
    path: "/api/jobs",
    tag: "jobs",
    summary: "List jobs, newest first",
    scope: "read",
    query: z.strictObject({ limit, cursor }),
    reply: z.object({ jobs: z.array(record), next: z.string().nullable() }),
  }),
};
