// Every route there is.
import type { Route } from "../route.js";
import { blueprintsRoutes } from "./blueprints.js";
import { documentsRoutes } from "./documents.js";
import { healthRoutes } from "./health.js";
import { jobsRoutes } from "./jobs.js";
import { keysRoutes } from "./keys.js";
import { limitsRoutes } from "./limits.js";
import { operationsRoutes } from "./operations.js";
import { streamRoutes } from "./stream.js";
import { tasksRoutes } from "./tasks.js";
import { tenantsRoutes } from "./tenants.js";
import { workRoutes } from "./work.js";

export function allRoutes(): Route[] {
  const described = [
    ...jobsRoutes(),
    ...operationsRoutes(),
    ...tasksRoutes(),
    ...blueprintsRoutes(),
    ...streamRoutes(),
    ...workRoutes(),
    ...keysRoutes(),
    ...limitsRoutes(),
    ...tenantsRoutes(),
    ...healthRoutes(),
  ];
  return [...described, ...documentsRoutes(described)];
}
