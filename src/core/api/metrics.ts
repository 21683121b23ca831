// Metrics for Prometheus. Pure.
import { z } from "zod";
import { endpointsOf } from "./endpoint.js";

const endpoint = endpointsOf({ tag: "health", scope: "read" });

export const metrics_api = {
  read: endpoint("GET /metrics", {
    summary: "Metrics of the whole service, for Prometheus",
    description:
      "Tells of all tenants, so it takes an operator's key with the scope read, or the token that the server was started with (FANFOLD_METRICS_TOKEN).",
    operator: true,
    reply: z.string(),
    media_type: "text/plain; version=0.0.4; charset=utf-8",
  }),
};
