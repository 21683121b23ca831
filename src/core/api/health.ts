// Is it alive, is it ready, is everything as it should be. Pure.
import { z } from "zod";
import { action } from "./action.js";
import { endpointsOf } from "./endpoint.js";

const endpoint = endpointsOf({ tag: "health", scope: null });

export const health_api = {
  health: endpoint("GET /api/health", {
    summary: "How the service is; public",
    description: "degraded: it answers, but the database is away or old, the janitor is late, or no worker is live.",
    reply: z.object({
      status: z.enum(["ok", "degraded"]),
      version: z.string(),
      database: z.object({ reachable: z.boolean() }),
      schema: z.object({ current: z.boolean().nullable() }),
      janitor: z.object({ age_s: z.number().nullable(), late: z.boolean().nullable() }),
      workers: z.object({ live: z.number().nullable() }),
    }),
  }),
  live: endpoint("GET /api/health/live", {
    summary: "The process works",
    description: "503 when it will not come back by itself; not while only the database is away.",
    reply: z.object({ status: z.literal("alive"), version: z.string() }),
    errors: [503],
  }),
  ready: endpoint("GET /api/health/ready", {
    summary: "Calls may be sent here",
    description: "503 while the database is away, its schema is not current, or the server is stopping.",
    reply: z.object({ status: z.literal("ready"), version: z.string() }),
    errors: [503],
  }),
  preflight: endpoint("GET /api/health/preflight", {
    summary: "Everything fanfold doctor finds, from the server's own point of view",
    scope: "admin",
    operator: true,
    reply: z.object({
      ok: z.boolean(),
      findings: z.array(
        z.object({
          name: z.string(),
          level: z.enum(["ok", "warn", "fail"]),
          message: z.string(),
          fix: z.string().optional(),
          action: action.optional(),
        }),
      ),
    }),
  }),
};
