// Every route there is.
import type { Route } from "../route.js";
import { connectorsRoutes } from "./connectors.js";
import { healthRoutes } from "./health.js";
import { jobsRoutes } from "./jobs.js";

export function allRoutes(): Route[] {
  return [...healthRoutes(), ...jobsRoutes(), ...connectorsRoutes()];
}
