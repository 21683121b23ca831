// Every route there is.
import type { Route } from "../route.js";
import { assetsRoutes } from "./assets.js";
import { healthRoutes } from "./health.js";
import { jobsRoutes } from "./jobs.js";
import { webhooksRoutes } from "./webhooks.js";

export function allRoutes(): Route[] {
  return [...healthRoutes(), ...jobsRoutes(), ...webhooksRoutes(), ...assetsRoutes()];
}
