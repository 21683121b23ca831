// Who did what, over HTTP. Pure.
import { z } from "zod";
import { endpointsOf } from "./endpoint.js";
import { cursor, flag, job_id, limit, moment, record, time } from "./fields.js";

export const deed = z
  .object({
    event_id: z.int(),
    at: time,
    kind: z.string().describe("What was done, such as job.cancelled or key.created"),
    actor: z.string().describe("The key or login, and in brackets the person behind it"),
    key_id: z.string().nullable(),
    key_name: z.string().nullable(),
    job_id: z.string().nullable(),
    job_type: z.string().nullable(),
    stage_id: z.int().nullable(),
    stage: z.string().nullable(),
    reason: z.string().nullable(),
    data: record.nullable(),
  })
  .meta({ id: "Deed" });

const endpoint = endpointsOf({ tag: "audit", scope: "admin" });

export const audit_api = {
  list: endpoint("GET /api/audit", {
    cli: "audit",
    sql: { name: "list_audit", request: true },
    long: true,
    summary: "Who did what and when, newest first",
    description:
      "What people and keys did, not what the engine did by itself. A page looks at a bounded number of events, so it may be " +
      "short, or empty, and have a `next` all the same. The last page has none.",
    query: z.strictObject({
      actor: z
        .string()
        .min(1)
        .max(200)
        .optional()
        .describe("key:<id>, token:<subject> or a login; with a person in brackets behind it, only theirs"),
      kind: z
        .string()
        .regex(/^[a-z_]{1,40}\.[a-z_]{0,40}$/, "a kind such as key.created, or `key.` for all that begin so")
        .optional(),
      job_id: job_id.optional(),
      after: moment.optional(),
      before: moment.optional(),
      submits: flag.optional().describe("false: without submits, of which there may be very many"),
      limit,
      cursor,
    }),
    reply: z.object({ deeds: z.array(deed), next: z.string().nullable() }),
    errors: [404],
  }),
};
