// Every route there is.
import type { Route } from "../route.js";
import { groupsRoutes } from "./groups.js";
import { healthRoutes } from "./health.js";
import { jobsRoutes } from "./jobs.js";
import { schedulesRoutes } from "./schedules.js";

export function allRoutes(): Route[] {
  return [...healthRoutes(), ...jobsRoutes(), ...schedulesRoutes(), ...groupsRoutes()];
}
