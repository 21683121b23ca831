// What takes as long as its caller chooses, by what it asks for or by what it holds: of one tenant only so many at a time, so that nobody
// keeps the others from the database.
import { audit_api } from "../../core/api/audit.js";
import { cells_api } from "../../core/api/cells.js";
import type { Endpoint } from "../../core/api/endpoint.js";
import { footprints_api } from "../../core/api/footprints.js";
import { jobs_api } from "../../core/api/jobs.js";
import { operations_api } from "../../core/api/operations.js";
import { queues_api } from "../../core/api/queues.js";
import { task_pages_api } from "../../core/api/task_pages.js";
import { tasks_api } from "../../core/api/tasks.js";
import { timeline_api } from "../../core/api/timeline.js";
import { work_api } from "../../core/api/work.js";
import type { Route } from "../route.js";

/** Bounded each, but by what a wide stage or a long list costs. Those of the catalogue say it themselves. */
const long = new Set<unknown>([
  ...[jobs_api.list, jobs_api.counts, jobs_api.facets, jobs_api.result, audit_api.list, queues_api.list],
  ...[cells_api.read, footprints_api.footprints, footprints_api.within],
  ...[timeline_api.of_job, task_pages_api.logs, task_pages_api.lineage, operations_api.errors, operations_api.verify],
]);

/**
 * These take their turns by themselves (submits of one job travel together: gathered_submits.ts), wait for what is not the database,
 * or touch a row that nobody else holds.
 */
const apart = new Set<unknown>([
  jobs_api.submit,
  tasks_api.enqueue,
  work_api.claim,
  work_api.heartbeat,
  work_api.register,
]);

/** Whatever changes something may meet a row that a transaction of the tenant's own login holds, for as long as a lock is waited for. */
export function isLong(endpoint: Endpoint): boolean {
  return long.has(endpoint) || (endpoint.method !== "GET" && endpoint.scope !== null && !apart.has(endpoint));
}

export function inTurn({ endpoint, answer }: Route): Route {
  return {
    endpoint,
    answer: (call) => call.service.turns.within(call.engine.tenant, call.signal, () => answer(call)),
  };
}
