// How the whole service is, for its operators, and what the janitor did for a tenant. Pure.
import { z } from "zod";
import { endpointsOf } from "./endpoint.js";
import { limit, record, time } from "./fields.js";

const event_cursor = z
  .string()
  .regex(/^\d{1,18}$/)
  .optional()
  .describe("`next` of the page before: the id of its last event");
const age_s = z.number().nullable();

const figures = z.object({
  size_bytes: z.number(),
  connections: z.int(),
  locks_waiting: z.int(),
  oldest_xmin_age: z.number().describe("Transactions back: what vacuum cannot remove"),
  oldest_transaction_s: z.number(),
  commits: z.number(),
  rollbacks: z.number(),
  deadlocks: z.number(),
  dead_tuples: z.number().describe("Row versions that wait for vacuum, in all tables of Fanfold"),
});

const endpoint = endpointsOf({ tag: "health", scope: "read" });

export const vitals_api = {
  read: endpoint("GET /api/vitals", {
    summary: "Figures of the whole service: database, connections of this server, claims, the shares of tenants",
    operator: true,
    query: z.strictObject({ minutes: z.coerce.number().int().min(1).max(1440).default(60) }),
    reply: z.object({
      at: time,
      version: z.string(),
      node: z.string(),
      uptime_s: z.number(),
      rss_bytes: z.number(),
      schema: z.object({ database_version: z.int().nullable(), code_version: z.int(), pending: z.array(z.string()) }),
      pool: z
        .object({
          most: z.int(),
          open: z.int(),
          busy: z.int(),
          waiting: z.int(),
          stuck: z.boolean().describe("A caller waits who should have been refused by now"),
        })
        .nullable()
        .describe("Connections of this server; null on the embedded database, which has one session"),
      database: figures
        .extend({
          kind: z.enum(["server", "embedded"]),
          connection_limit: z.int(),
          stats_visible: z.boolean().describe("Sessions of other roles are seen as well"),
          tables: z.array(z.object({ table: z.string(), dead: z.number(), live: z.number() })),
        })
        .nullable(),
      jobs: z.object({ queued: z.int(), processing: z.int(), paused: z.int() }),
      workers: z.object({ live: z.int(), silent: z.int(), slots: z.int(), busy: z.int() }),
      tenants: z
        .array(
          z.object({ tenant_id: z.string(), due: z.int(), later: z.int(), oldest_s: z.number(), running: z.int() }),
        )
        .describe("What waits and runs, by tenant; the largest are named, the others are _other"),
      claims_per_s: z.number().nullable().describe("Since the last measurement; null before the second"),
      history: z.array(figures.extend({ at: time, claimed: z.number(), slots: z.int(), workers: z.int() })),
    }),
  }),
  janitor: endpoint("GET /api/janitor", {
    tag: "operations",
    summary:
      "Whether dead workers, deadlines and stuck states are looked after, and what was done about this tenant's, newest first",
    query: z.strictObject({ limit, cursor: event_cursor }),
    reply: z.object({
      last_run_at: time.nullable(),
      last_success_at: time.nullable(),
      last_error: z.string().nullable().describe("For operators"),
      failing: z.boolean().describe("Its last round had an error"),
      age_s,
      late: z.boolean().describe("No process has done all of its duties for two minutes"),
      actions: z.array(
        z.object({
          event_id: z.int(),
          at: time,
          run_id: z.string().nullable(),
          action: z.string(),
          target: z.string().nullable(),
          reason: z.string().nullable(),
          job_id: z.string().nullable(),
          stage_id: z.int().nullable(),
          data: record,
        }),
      ),
      next: z.string().nullable(),
    }),
  }),
};
