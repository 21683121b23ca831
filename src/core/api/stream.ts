// The event stream. Pure.
import { z } from "zod";
import { endpointsOf } from "./endpoint.js";
import { job_id } from "./fields.js";

const position = z
  .string()
  .max(2000)
  .optional()
  .describe("The id of the last event that was read; the header Last-Event-ID says the same");

/** `data:` of an event whose name is its kind, such as job.completed. */
export const streamed_event = z.object({
  event_id: z.int(),
  at: z.string(),
  kind: z.string(),
  actor: z.string(),
  job_id: z.string().nullable(),
  stage_id: z.int().nullable(),
  reason: z.string().nullable(),
  data: z.record(z.string(), z.unknown()).nullable(),
});
export type StreamedEvent = z.output<typeof streamed_event>;

/** `data:` of `event: progress`: the stages whose numbers changed since it was last told. */
export const streamed_progress = z.object({
  stages: z.array(
    z.object({
      job_id: z.string(),
      stage_id: z.int(),
      number: z.int(),
      stage: z.string(),
      status: z.string(),
      total: z.int().nullable(),
      completed: z.int(),
      failed: z.int(),
      skipped: z.int(),
      processing: z.int(),
    }),
  ),
});
export type StreamedProgress = z.output<typeof streamed_progress>;

/** `data:` of `event: ready`, the first one; of one job it tells how that stands. */
export const streamed_ready = z.object({
  job_id: z.string().optional(),
  status: z.string().optional(),
  ended: z.boolean().optional(),
});

/** `data:` of `event: end`, the last one: why, and whether to come back. */
export const streamed_end = z.object({
  reason: z.enum(["stopping", "revoked", "slow", "unavailable"]),
  hint: z.string(),
});
export type StreamedEnd = z.output<typeof streamed_end>;

const endpoint = endpointsOf({ tag: "stream", scope: "read" });

export const stream_api = {
  stream: endpoint("GET /api/stream", {
    summary: "Follow what happens, as server-sent events",
    description:
      "`event:` is the kind (job.completed, stage.planned, …), `data:` its JSON, `id:` where to go on: send it as Last-Event-ID " +
      "and nothing is lost. `event: ready` comes first, with `job_id` its data has the job's `status` and whether it has `ended`; `event: progress` has counts of running stages at most four times a " +
      "second, `event: end` is the last one and says why. Lines that start with a colon are heartbeats.",
    headers: z.object({ "last-event-id": position }),
    query: z.strictObject({ job_id: job_id.optional(), last_event_id: position }),
    reply: z
      .object({ id: z.string().optional(), event: z.string().optional(), data: z.string().optional() })
      .describe("One event of the stream"),
    media_type: "text/event-stream",
    errors: [404, 429],
  }),
};
