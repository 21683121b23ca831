// Every route there is.
import type { Route } from "../route.js";
import { healthRoutes } from "./health.js";
import { jobsRoutes } from "./jobs.js";
import { keysRoutes } from "./keys.js";
import { limitsRoutes } from "./limits.js";
import { streamRoutes } from "./stream.js";
import { tenantsRoutes } from "./tenants.js";
import { workRoutes } from "./work.js";

export function allRoutes(): Route[] {
  return [
    ...healthRoutes(),
    ...jobsRoutes(),
    ...keysRoutes(),
    ...tenantsRoutes(),
    ...limitsRoutes(),
    ...streamRoutes(),
    ...workRoutes(),
  ];
}
