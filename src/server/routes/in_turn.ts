// What takes as long as its caller chooses: of one tenant only so many at a time, so that nobody keeps the others from the database.
import { audit_api } from "../../core/api/audit.js";
import { blueprints_api } from "../../core/api/blueprints.js";
import { cells_api } from "../../core/api/cells.js";
import type { Endpoint } from "../../core/api/endpoint.js";
import { footprints_api } from "../../core/api/footprints.js";
import { groups_api } from "../../core/api/groups.js";
import { job_bulk_api } from "../../core/api/job_bulk.js";
import { jobs_api } from "../../core/api/jobs.js";
import { operations_api } from "../../core/api/operations.js";
import { queues_api } from "../../core/api/queues.js";
import { schedules_api } from "../../core/api/schedules.js";
import { task_pages_api } from "../../core/api/task_pages.js";
import { timeline_api } from "../../core/api/timeline.js";
import { webhooks_api } from "../../core/api/webhooks.js";
import { work_api } from "../../core/api/work.js";
import type { Route } from "../route.js";

/**
 * Bounded each, but by what a wide stage, a long list or a declaration costs. Those of the catalogue say it themselves; submits of
 * one job travel together, and take their turn together (gathered_submits.ts).
 */
const long = new Set<unknown>([
  ...[jobs_api.list, jobs_api.counts, jobs_api.facets, job_bulk_api.bulk, audit_api.list, queues_api.list],
  ...[cells_api.read, cells_api.retry, cells_api.skip, footprints_api.footprints, footprints_api.within],
  ...[timeline_api.of_job, task_pages_api.logs, task_pages_api.lineage],
  ...[operations_api.errors, operations_api.retry_group, operations_api.verify, operations_api.resume],
  ...[operations_api.retry_stage, operations_api.approve, groups_api.cancel],
  ...[jobs_api.submit_batch, jobs_api.result, schedules_api.run, webhooks_api.replay, work_api.finish],
  ...[blueprints_api.save, blueprints_api.validate],
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
