// Is it alive, is it ready. Pure.
import { z } from "zod";
import { endpoint } from "./endpoint.js";

export const health_api = {
  live: endpoint({
    method: "GET",
    path: "/api/health/live",
    tag: "health",
    summary: "The process answers",
    scope: null,
    reply: z.object({ status: z.literal("alive"), version: z.string() }),
  }),
};
