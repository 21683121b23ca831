// What a person looks at before deciding about a request: what happened to it, and what it makes beside what stood before. Pure.
import { z } from "zod";
import { endpointsOf } from "../endpoint.js";
import { limit, record, time } from "../fields.js";
import { release } from "./releases.js";
import { request_id, request_status } from "./requests.js";

const event = z
  .object({
    event_id: z.int(),
    at: time,
    kind: z.string(),
    actor: z.string(),
    job_id: z.string().nullable(),
    job: z.string().nullable().describe("What the recipe calls that job"),
    reason: z.string().nullable(),
    data: record.nullable(),
  })
  .meta({ id: "RequestEvent" });

const side = z
  .object({
    request_id: z.string(),
    version_id: z.string(),
    run: z.int(),
    status: request_status,
    data_type: z.string(),
    created_at: time,
    finished_at: time.nullable(),
    files: z.array(z.string()).describe("What it was made of, the first 1,000"),
    file_count: z.int(),
    parameters: record,
    tasks: z.object({ total: z.int(), completed: z.int(), failed: z.int(), skipped: z.int() }),
    made: z
      .array(z.object({ media_type: z.string(), files: z.int(), bytes: z.int() }))
      .describe("The files that are there of it"),
    extent: z
      .array(z.number())
      .nullable()
      .describe("West, south, east and north of all its tasks that say where they are"),
    at_least: z.boolean().describe("It has more tasks or files than were looked at"),
    items: z.int().nullable().describe("Items in the catalogue now; null: there is no catalogue"),
    items_at_least: z.boolean(),
    job_ids: z.array(z.string()),
    release: release.nullable().describe("The one it makes now; null: a later run does"),
  })
  .meta({ id: "ReviewSide" });

export type RequestEvent = z.output<typeof event>;
export type ReviewSide = z.output<typeof side>;

const endpoint = endpointsOf({ tag: "platform", scope: "read", params: { request_id }, errors: [404] });

export const reviews_api = {
  events: endpoint("GET /api/platform/requests/{request_id}/events", {
    sql: "platform.request_events",
    summary: "What happened to a request and its release, newest first",
    query: z.strictObject({
      limit,
      cursor: z
        .string()
        .regex(/^\d{1,18}$/)
        .optional()
        .describe("`next` of the page before: the id of its last event"),
    }),
    reply: z.object({ request_id: z.string(), events: z.array(event), next: z.string().nullable() }),
  }),
  review: endpoint("GET /api/platform/requests/{request_id}/review", {
    sql: "platform.review_of",
    summary: "What a request makes, beside what stood before it: for a reviewer",
    description:
      "`before` is the highest earlier version that is approved; where there is none, the run before of the same version; else the " +
      "version before, whatever became of it.",
    long: true,
    reply: z.object({
      request_id: z.string(),
      release: release.nullable(),
      makes_it_now: z.boolean().describe("false: a later run makes the release"),
      now: side,
      before: side.nullable(),
      before_is: z.enum(["approved", "run_before", "version_before"]).nullable(),
    }),
  }),
};
