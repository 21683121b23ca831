// Every route there is.
import { audit_api } from "../../core/api/audit.js";
import { task_details_api } from "../../core/api/task_details.js";
import { views_api } from "../../core/api/views.js";
import { workers_api } from "../../core/api/workers.js";
import { inTurn, type Route, routes } from "../http/route.js";
import { assetsRoutes } from "./assets.js";
import { blueprintsRoutes } from "./blueprints.js";
import { cellsRoutes } from "./cells.js";
import { connectorsRoutes } from "./connectors.js";
import { documentsRoutes } from "./documents.js";
import { footprintsRoutes } from "./footprints.js";
import { groupsRoutes } from "./groups.js";
import { healthRoutes } from "./health.js";
import { jobBulkRoutes } from "./job_bulk.js";
import { jobsRoutes } from "./jobs.js";
import { keysRoutes } from "./keys.js";
import { layersRoutes } from "./layers.js";
import { limitsRoutes } from "./limits.js";
import { metricsRoutes } from "./metrics.js";
import { ogcRoutes } from "./ogc/index.js";
import { operationsRoutes } from "./operations.js";
import { queuesRoutes } from "./queues.js";
import { releasesRoutes } from "./releases.js";
import { requestsRoutes } from "./requests.js";
import { retentionRoutes } from "./retention.js";
import { reviewsRoutes } from "./reviews.js";
import { schedulesRoutes } from "./schedules.js";
import { sessionsRoutes } from "./sessions.js";
import { stacRoutes } from "./stac/index.js";
import { streamRoutes } from "./stream.js";
import { taskDetailsRoutes } from "./task_details.js";
import { tasksRoutes } from "./tasks.js";
import { tenantsRoutes } from "./tenants.js";
import { tilesRoutes } from "./tiles/index.js";
import { uploadsRoutes } from "./uploads.js";
import { vitalsRoutes } from "./vitals.js";
import { webhooksRoutes } from "./webhooks.js";
import { workRoutes } from "./work.js";

/** Files are sent for as long as their reader takes; what changes something and is not long has turns of its own. */
function isShort({ endpoint }: Route): boolean {
  const { method, scope, media_type } = endpoint;
  return method === "GET" && scope !== null && media_type === "application/json" && endpoint !== task_details_api.value;
}

export function allRoutes(): Route[] {
  const described = [
    ...healthRoutes(),
    ...jobsRoutes(),
    ...jobBulkRoutes(),
    ...operationsRoutes(),
    ...routes(views_api, {}),
    ...queuesRoutes(),
    ...routes(workers_api, {}),
    ...vitalsRoutes(),
    ...tasksRoutes(),
    ...cellsRoutes(),
    ...footprintsRoutes(),
    ...taskDetailsRoutes(),
    ...blueprintsRoutes(),
    ...groupsRoutes(),
    ...requestsRoutes(),
    ...reviewsRoutes(),
    ...schedulesRoutes(),
    ...streamRoutes(),
    ...workRoutes(),
    ...webhooksRoutes(),
    ...uploadsRoutes(),
    ...releasesRoutes(),
    ...layersRoutes(),
    ...assetsRoutes(),
    ...connectorsRoutes(),
    ...keysRoutes(),
    ...sessionsRoutes(),
    ...limitsRoutes(),
    ...retentionRoutes(),
    ...routes(audit_api, {}),
    ...tenantsRoutes(),
    ...metricsRoutes(),
  ].map((route) => (route.endpoint.long || isShort(route) ? inTurn(route) : route));
  // Those of the catalogue, of the layers and of tiles have their turns already.
  described.push(...stacRoutes(), ...ogcRoutes(), ...tilesRoutes());
  return [...described, ...documentsRoutes(described)];
}
