// Every route there is.
import type { Route } from "../route.js";
import { healthRoutes } from "./health.js";
import { jobsRoutes } from "./jobs.js";
import { metricsRoutes } from "./metrics.js";

export function allRoutes(): Route[] {
  return [...healthRoutes(), ...jobsRoutes(), ...metricsRoutes()];
}
