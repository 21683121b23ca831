// The words of every verb, by its name: how it is called over HTTP and on the command line. For the lines that the dashboard shows and
// for the next step that an answer names. The dashboard's build puts the finished table in place of this file, so that the page does not
// carry the schemas of the whole API. Pure.
import { audit_api } from "../api/audit.js";
import { blueprints_api } from "../api/blueprints.js";
import { cells_api } from "../api/cells.js";
import { connectors_api } from "../api/connectors.js";
import type { Endpoint, Method } from "../api/endpoint.js";
import { groups_api } from "../api/groups.js";
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
import { tasks_api } from "../api/tasks.js";
import { tenants_api } from "../api/tenants.js";
import { views_api } from "../api/views.js";
import { deliveries_api, webhooks_api } from "../api/webhooks.js";

export interface VerbWords {
  method: Method;
  /** With {names} in braces. */
  path: string;
  /** Without `fanfold`, with {names} in braces; null: the command line has no such command. */
  cli: string | null;
  takes_body: boolean;
}

type Words<Api, Noun extends string> = { [Name in keyof Api & string as `${Noun}${Name}`]: VerbWords };

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
  ...wordsOf(cells_api, "cells."),
  ...wordsOf(queues_api, "queues."),
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
  ...wordsOf(limits_api, "limits."),
  ...wordsOf(layers_api, "layers."),
  ...wordsOf(retention_api, "retention."),
  ...wordsOf(tenants_api, "tenants."),
  ...wordsOf(audit_api, "audit."),
};

export type VerbName = keyof typeof verb_words;
