// The words of every verb, by its name: how it is called over HTTP and on the command line. For the calls that the dashboard makes, the
// lines that it shows, and the next step that an answer names. The dashboard's build puts the finished table in place of this file, so that the page does not
// carry the schemas of the whole API. Pure.
import { audit_api } from "../api/audit.js";
import { blueprints_api } from "../api/blueprints.js";
import { cells_api } from "../api/cells.js";
import { connectors_api } from "../api/connectors.js";
import type { Endpoint, Method } from "../api/endpoint.js";
import { footprints_api } from "../api/footprints.js";
import { groups_api } from "../api/groups.js";
import { health_api } from "../api/health.js";
import { job_bulk_api } from "../api/job_bulk.js";
import { jobs_api } from "../api/jobs.js";
import { keys_api } from "../api/keys.js";
import { layers_api } from "../api/layers.js";
import { limits_api } from "../api/limits.js";
import { operations_api } from "../api/operations.js";
import { recipes_api } from "../api/platform/recipes.js";
import { releases_api } from "../api/platform/releases.js";
import { requests_api } from "../api/platform/requests.js";
import { reviews_api } from "../api/platform/reviews.js";
import { queues_api } from "../api/queues.js";
import { retention_api } from "../api/retention.js";
import { schedules_api } from "../api/schedules.js";
import { sessions_api } from "../api/sessions.js";
import { task_details_api } from "../api/task_details.js";
import { tasks_api } from "../api/tasks.js";
import { tenants_api } from "../api/tenants.js";
import { timeline_api } from "../api/timeline.js";
import { views_api } from "../api/views.js";
import { vitals_api } from "../api/vitals.js";
import { deliveries_api, webhooks_api } from "../api/webhooks.js";
import { workers_api } from "../api/workers.js";

export interface VerbWords<E extends Endpoint = Endpoint> {
  method: Method;
  /** With {names} in braces. */
  path: string;
  /** Without `fanfold`, with {names} in braces; null: the command line has no such command. */
  cli: string | null;
  takes_body: boolean;
  /** Its declaration, as a type: no value stands here. */
  endpoint?: E;
}

type Words<Api extends Record<string, Endpoint>, Noun extends string> = {
  [Name in keyof Api & string as `${Noun}${Name}`]: VerbWords<Api[Name]>;
};

function wordsOf<Api extends Record<string, Endpoint>, Noun extends string>(api: Api, noun: Noun): Words<Api, Noun> {
  return Object.fromEntries(
    Object.entries(api).map(([name, { method, path, cli, body }]) => [
      `${noun}${name}`,
      { method, path, cli, takes_body: body !== null },
    ]),
  ) as Words<Api, Noun>;
}

/** What is done about a job or a task type has a name of its own; every other verb has its noun before it: tasks.retry, groups.seal. */
export const verb_words = {
  ...wordsOf(operations_api, ""),
  ...wordsOf(jobs_api, "jobs."),
  ...wordsOf(job_bulk_api, "jobs."),
  ...wordsOf(tasks_api, "tasks."),
  ...wordsOf(task_details_api, "tasks."),
  ...wordsOf(cells_api, "cells."),
  ...wordsOf(timeline_api, "timeline."),
  ...wordsOf(footprints_api, "footprints."),
  ...wordsOf(queues_api, "queues."),
  ...wordsOf(workers_api, "workers."),
  ...wordsOf(health_api, "health."),
  ...wordsOf(vitals_api, "vitals."),
  ...wordsOf(views_api, "views."),
  ...wordsOf(blueprints_api, "blueprints."),
  ...wordsOf(groups_api, "groups."),
  ...wordsOf(requests_api, "requests."),
  ...wordsOf(reviews_api, "requests."),
  ...wordsOf(releases_api, "releases."),
  ...wordsOf(recipes_api, "recipes."),
  ...wordsOf(schedules_api, "schedules."),
  ...wordsOf(webhooks_api, "webhooks."),
  ...wordsOf(deliveries_api, "deliveries."),
  ...wordsOf(connectors_api, "connectors."),
  ...wordsOf(keys_api, "keys."),
  ...wordsOf(sessions_api, "sessions."),
  ...wordsOf(limits_api, "limits."),
  ...wordsOf(layers_api, "layers."),
  ...wordsOf(retention_api, "retention."),
  ...wordsOf(tenants_api, "tenants."),
  ...wordsOf(audit_api, "audit."),
};

export type VerbName = keyof typeof verb_words;
export type VerbEndpoint<Name extends VerbName> = NonNullable<(typeof verb_words)[Name]["endpoint"]>;
