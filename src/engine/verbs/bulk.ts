// What one SQL call of a submit or an enqueue carries: texts made once, cut into pages bounded in number and size.
import type { Job } from "../../core/declare/declare.js";
import type { JobSubscriber } from "../../core/places/webhooks.js";
import { usableTraceparent } from "../../core/values/traceparent.js";
import type { Queryable } from "../database/database.js";
import type { EnqueueItem, SubmitOptions } from "./records.js";
import { asked } from "./reply.js";

const BYTES_PER_CALL = 4 * 1024 * 1024;

const blueprint_texts = new WeakMap<Job, string>();

/** A job's blueprint never changes, and a service submits it thousands of times. */
export function blueprintText(job: Job): string {
  let text = blueprint_texts.get(job);
  if (text === undefined) {
    text = JSON.stringify(job.blueprint);
    blueprint_texts.set(job, text);
  }
  return text;
}

/** The addresses that a job names itself. */
export function receivers(webhooks: NonNullable<SubmitOptions["webhooks"]>): { path: string; url: string }[] {
  return webhooks.flatMap((one, at) => {
    if ("url" in one) return [{ path: `webhooks[${at}].url`, url: one.url }];
    return "subscriber" in one ? subscribed(one.subscriber) : [];
  });
}

export function subscribed(subscriber: Pick<JobSubscriber, (typeof heard)[number]>): { path: string; url: string }[] {
  return heard.flatMap((name) => {
    const url = subscriber[name];
    return url === undefined ? [] : [{ path: `subscriber.${name}`, url }];
  });
}

const heard = ["successUri", "inProgressUri", "failedUri"] as const;

export function submitOptions({
  priority,
  labels,
  correlation_id,
  group_id,
  webhooks,
  metadata,
  traceparent,
  actor,
  depends_on,
  on_dependency_failure,
  require,
  retry,
  run_at,
  stage_options,
}: Omit<SubmitOptions, "mode" | "db">) {
  const own = usableTraceparent(traceparent);
  const waiting =
    depends_on === undefined || depends_on.length === 0 ? {} : { depends_on, on_dependency_failure, require };
  const traced = own === undefined ? {} : { traceparent: own };
  const starts = run_at instanceof Date ? run_at.toISOString() : run_at;
  return {
    priority,
    labels,
    correlation_id,
    group_id,
    webhooks,
    metadata,
    retry,
    stage_options,
    run_at: starts,
    actor,
    ...traced,
    ...waiting,
  };
}

/** A job of which a submit says nothing but what it is. */
export interface PlainJob {
  parameters: string;
  identity: string | undefined;
  traceparent: string | undefined;
  actor: string | null | undefined;
}

/** One job as SQL takes it among others, and as it takes it alone where that is all there is to say of it. */
export function jobText(
  {
    canonical: parameters,
    identity_canonical: identity,
  }: { canonical: string; identity_canonical?: string | undefined },
  options: Omit<SubmitOptions, "mode" | "db">,
  { deadline_s, traceparent }: Pick<SubmitOptions, "deadline_s" | "traceparent">,
): { text: string; plain: PlainJob | undefined } {
  const { actor, traceparent: trace = traceparent, ...given } = submitOptions(options);
  const plain = { parameters, identity, traceparent: trace, actor };
  const is_plain = deadline_s === undefined && Object.values(given).every((value) => value === undefined);
  // SQL cannot tell a null from nothing given.
  const deadline = deadline_s === null ? { no_deadline: true } : { deadline_s };
  return { text: JSON.stringify({ ...plain, ...given, ...deadline }), plain: is_plain ? plain : undefined };
}

/** What becomes of each item, cut into pages bounded in number and size. */
export async function* pages<Given, Item extends { text: string }>(
  items: Iterable<Given>,
  change: (given: Given, position: number) => Promise<Item>,
  most: number,
): AsyncGenerator<Item[]> {
  let page: Item[] = [];
  let bytes = 0;
  let position = 0;
  for (const given of items) {
    const item = await change(given, position++);
    if (page.length === most || (page.length > 0 && bytes + item.text.length > BYTES_PER_CALL)) {
      yield page;
      page = [];
      bytes = 0;
    }
    page.push(item);
    bytes += item.text.length;
  }
  if (page.length > 0) yield page;
}

/** The lone tasks of one call: those that say nothing but their parameters travel as a plain list. */
export async function enqueuePage(
  { db, tenant }: { db: Queryable; tenant: string },
  task_type: string,
  page: { item: EnqueueItem; text: string }[],
  traceparent: string | undefined,
) {
  const texts = page.map(({ text }) => text);
  if (traceparent === undefined && page.every(({ item }) => Object.keys(item).length === 1)) {
    const { created, stage_id, ordinals } = await asked<{
      created: number;
      stage_id: number;
      ordinals: number[];
    }>(db.sql`select app.enqueue_alike(${task_type}::text, ${`[${texts.join()}]`}::text, ${tenant}::text) as reply`);
    return { created, task_ids: ordinals.map((ordinal) => `${stage_id}-${ordinal}`) };
  }
  const tasks = page.map(
    ({ item: { idempotency_key: key, run_at, delay_s, priority, max_attempts, retry, metadata }, text }) => ({
      parameters: text,
      key,
      run_at: run_at instanceof Date ? run_at.toISOString() : run_at,
      delay_s,
      priority,
      max_attempts,
      retry,
      metadata,
    }),
  );
  const request = JSON.stringify({ tenant, task_type, traceparent, tasks });
  return asked<{ task_ids: string[]; created: number }>(
    db.sql`select app.enqueue_tasks(${request}::text::json) as reply`,
  );
}
