// Every route there is.
import type { Route } from "../route.js";
import { blueprintsRoutes } from "./blueprints.js";
import { documentsRoutes } from "./documents.js";
import { healthRoutes } from "./health.js";
import { jobsRoutes } from "./jobs.js";
import { operationsRoutes } from "./operations.js";
import { tasksRoutes } from "./tasks.js";

export function allRoutes(): Route[] {
  const described = [
    ...healthRoutes(),
    ...jobsRoutes(),
    ...operationsRoutes(),
    ...tasksRoutes(),
    ...blueprintsRoutes(),
  ];
  return [...described, ...documentsRoutes(described)];
}
