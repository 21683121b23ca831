// OGC API Processes over the jobs and requests of the caller's tenant: every job type and every recipe is a process. What a body asks for is
// judged by the route that answers, all problems at once. Pure.
import { z } from "zod";
import { endpointsOf } from "../endpoint.js";

const text = (most: number, description: string) => z.string().max(most).optional().describe(description);
const f = text(20, "json or html; when left out, as the header Accept asks for");
const page = {
  limit: text(30, "How many at most, 1 to 1000"),
  token: text(4_000, "As a `next` link has it, unchanged"),
  f,
};
const read = {
  other_answers: { 304: { description: "It is what If-None-Match names", headers: { ETag: "Of the answer" } } },
  errors: [404],
} as const;

const loose = z.looseObject({});
const endpoint = endpointsOf({
  tag: "ogc",
  scope: "read",
  // As the standard has them.
  error_type: "application/json",
  params: {
    process_id: z.string().min(1).max(130).describe("A job type, or recipe. and a data type"),
    process_job_id: z.string().min(1).max(200).describe("The id of a job, or of a request"),
    output_id: z.string().min(1).max(200).describe("One of the outputs"),
  },
});

const status_info = z.looseObject({
  jobID: z.string(),
  type: z.literal("process"),
  status: z.enum(["accepted", "running", "successful", "failed", "dismissed"]),
});

export const processes_api = {
  list: endpoint("GET /ogc/processes", {
    ...read,
    summary: "OGC API Processes: the job types and recipes",
    query: z.strictObject(page),
    reply: z.looseObject({ processes: z.array(z.unknown()), links: z.array(z.unknown()) }),
  }),
  process: endpoint("GET /ogc/processes/{process_id}", {
    ...read,
    summary: "One process: what it takes and gives",
    query: z.strictObject({ f }),
    reply: loose,
  }),
  execute: endpoint("POST /ogc/processes/{process_id}/execution", {
    scope: "submit",
    summary: "Execute a process",
    description:
      "`Prefer: respond-async` gives a job at once; without it a process that offers sync-execute is waited for, at most 25 s. " +
      "The same inputs asked for in the same way are the same job, unless that one did not end well.",
    headers: z.object({
      prefer: z.string().optional().describe("respond-async, respond-sync, wait=seconds"),
      traceparent: z.string().optional(),
    }),
    body: z.looseObject({}).meta({ examples: [{ inputs: { text: "hello" }, response: "document" }] }),
    reply: z.unknown(),
    other_answers: {
      201: {
        description: "A job does it",
        schema: status_info,
        headers: { Location: "The job", "Preference-Applied": "respond-async, when that was asked for" },
      },
      204: { description: "The output is where the header Link says", headers: { Link: "The output" } },
    },
    errors: [404, 409, 422],
  }),
  jobs: endpoint("GET /ogc/jobs", {
    ...read,
    summary: "Jobs and requests, newest first",
    query: z.strictObject({
      ...page,
      type: text(200, "process, which all are"),
      processID: text(2_000, "One or several processes, with commas between them"),
      status: text(200, "One or several of accepted, running, successful, failed, dismissed"),
      datetime: text(200, "Created then: an RFC 3339 instant, or an interval start/end with .. for an open end"),
      minDuration: text(30, "Seconds that it has worked at least"),
      maxDuration: text(30, "Seconds that it has worked at most"),
    }),
    reply: z.looseObject({ jobs: z.array(z.unknown()), links: z.array(z.unknown()) }),
  }),
  job: endpoint("GET /ogc/jobs/{process_job_id}", {
    ...read,
    summary: "How a job is",
    query: z.strictObject({ f }),
    reply: status_info,
  }),
  dismiss: endpoint("DELETE /ogc/jobs/{process_job_id}", {
    scope: "operate",
    summary: "Dismiss a job: it is cancelled; what it has delivered stays",
    reply: status_info,
    errors: [404, 409],
  }),
  results: endpoint("GET /ogc/jobs/{process_job_id}/results", {
    ...read,
    long: true,
    summary: "The results of a job, in the way it was executed",
    query: z.strictObject({ f }),
    reply: z.unknown(),
    other_answers: {
      ...read.other_answers,
      204: { description: "The output is where the header Link says", headers: { Link: "The output" } },
    },
    errors: [404, 409, 413, 422],
  }),
  output: endpoint("GET /ogc/jobs/{process_job_id}/results/{output_id}", {
    ...read,
    long: true,
    summary: "One output of a job, by itself",
    reply: z.unknown(),
    errors: [404, 409, 413, 422],
  }),
};
