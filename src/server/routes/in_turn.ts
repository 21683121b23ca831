// What takes as long as its caller chooses: of one tenant only so many at a time, so that nobody keeps the others from the database.
import { audit_api } from "../../core/api/audit.js";
import { cells_api } from "../../core/api/cells.js";
import type { Endpoint } from "../../core/api/endpoint.js";
import { footprints_api } from "../../core/api/footprints.js";
import { job_bulk_api } from "../../core/api/job_bulk.js";
import { jobs_api } from "../../core/api/jobs.js";
import { operations_api } from "../../core/api/operations.js";
import { queues_api } from "../../core/api/queues.js";
import { task_pages_api } from "../../core/api/task_pages.js";
import { timeline_api } from "../../core/api/timeline.js";
import type { Route } from "../route.js";

/** Bounded each, but by what a wide stage or a long list costs. Those of the catalogue say it themselves. */
const long = new Set<unknown>([
  ...[jobs_api.list, jobs_api.counts, jobs_api.facets, job_bulk_api.bulk, audit_api.list, queues_api.list],
  ...[cells_api.read, cells_api.retry, cells_api.skip, footprints_api.footprints, footprints_api.within],
  ...[timeline_api.of_job, task_pages_api.logs, task_pages_api.lineage],
  ...[operations_api.errors, operations_api.retry_group],
]);

export function isLong(endpoint: Endpoint): boolean {
  return long.has(endpoint);
}

export function inTurn({ endpoint, answer }: Route): Route {
  return {
    endpoint,
    answer: (call) => call.service.turns.within(call.engine.tenant, call.signal, () => answer(call)),
  };
}
