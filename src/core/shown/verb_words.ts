// The words of every verb, by its name: how it is called over HTTP and on the command line. For the calls that the dashboard makes, the
// lines that it shows, and the next step that an answer names. The dashboard's build puts the finished table in place of this file, so that the page does not
// carry the schemas of the whole API. Pure.
import * as api from "../api/all.js";
import { connectors_api } from "../api/connectors.js";
import type { Endpoint, Method } from "../api/endpoint.js";
import { reviews_api } from "../api/platform/reviews.js";

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
  ...wordsOf(api.operations, ""),
  ...wordsOf(api.jobs, "jobs."),
  ...wordsOf(api.job_bulk, "jobs."),
  ...wordsOf(api.tasks, "tasks."),
  ...wordsOf(api.task_details, "tasks."),
  ...wordsOf(api.cells, "cells."),
  ...wordsOf(api.timeline, "timeline."),
  ...wordsOf(api.footprints, "footprints."),
  ...wordsOf(api.queues, "queues."),
  ...wordsOf(api.workers, "workers."),
  ...wordsOf(api.health, "health."),
  ...wordsOf(api.vitals, "vitals."),
  ...wordsOf(api.views, "views."),
  ...wordsOf(api.blueprints, "blueprints."),
  ...wordsOf(api.groups, "groups."),
  ...wordsOf(api.requests, "requests."),
  ...wordsOf(reviews_api, "requests."),
  ...wordsOf(api.releases, "releases."),
  ...wordsOf(api.recipes, "recipes."),
  ...wordsOf(api.schedules, "schedules."),
  ...wordsOf(api.webhooks, "webhooks."),
  ...wordsOf(api.deliveries, "deliveries."),
  ...wordsOf(connectors_api, "connectors."),
  ...wordsOf(api.keys, "keys."),
  ...wordsOf(api.sessions, "sessions."),
  ...wordsOf(api.limits, "limits."),
  ...wordsOf(api.layers, "layers."),
  ...wordsOf(api.retention, "retention."),
  ...wordsOf(api.tenants, "tenants."),
  ...wordsOf(api.audit, "audit."),
};

export type VerbName = keyof typeof verb_words;
export type VerbEndpoint<Name extends VerbName> = NonNullable<(typeof verb_words)[Name]["endpoint"]>;
