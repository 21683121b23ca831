// Making work: jobs and lone tasks, one or many.
import type { BodyIn, ReplyOf } from "../core/api/endpoint.js";
import { jobs_api, type WouldSubmit } from "../core/api/jobs.js";
import { tasks_api } from "../core/api/tasks.js";
import type { Input, Job } from "../core/declare/declare.js";
import { BadRequest } from "../core/errors/errors.js";
import { type BulkOptions, inBatches, itemText } from "./bulk.js";
import type { Transport } from "./transport.js";

/** What a job's parameters may be: by its declaration, or anything for a type that is only named. */
export type JobInput<J> = J extends Job<infer Schema> ? Input<Schema> : Record<string, unknown>;

type SubmitBody = BodyIn<typeof jobs_api.submit_batch>;
export type SubmitMode = NonNullable<SubmitBody["mode"]>;
export type JobOptions = Omit<SubmitBody["items"][number], "parameters">;
export type SubmitOptions = JobOptions & { mode?: SubmitMode; traceparent?: string; signal?: AbortSignal };
export type Submitted = ReplyOf<typeof jobs_api.submit>;

type EnqueueBody = NonNullable<BodyIn<typeof tasks_api.enqueue>>;
type TaskBody = NonNullable<EnqueueBody["items"]>[number];
export type TaskOptions = Omit<TaskBody, "parameters" | "run_at"> & { run_at?: Date | string };
export type EnqueueOptions = TaskOptions & { signal?: AbortSignal };
export interface Enqueued {
  task_ids: string[];
  /** How many of them this call made. */
  created: number;
}

export class Submitter {
  constructor(protected readonly transport: Transport) {}

  async submit<J extends Job | string>(
    job: J,
    parameters: JobInput<J>,
    { signal, traceparent, ...options }: SubmitOptions = {},
  ): Promise<Submitted> {
    const { body } = await this.transport.answer(jobs_api.submit, {
      params: { job_type: typeOf(job) },
      text: itemText({ ...options, parameters }, null),
      headers: traceparent === undefined ? {} : { traceparent },
      repeatable: options.mode !== "force",
      signal,
    });
    return body;
  }

  /** What submit would do; throws what it would be refused for. Nothing is written, and nothing of a limit is used up. */
  async dryRun<J extends Job | string>(
    job: J,
    parameters: JobInput<J>,
    { signal, traceparent: _, ...options }: SubmitOptions = {},
  ): Promise<WouldSubmit> {
    const { body } = await this.transport.answer(jobs_api.submit, {
      params: { job_type: typeOf(job) },
      text: itemText({ ...options, parameters, dry_run: true }, null),
      repeatable: true,
      signal,
    });
    return body as unknown as WouldSubmit;
  }

  /** Each call is one transaction; all together are not. */
  async submitMany<J extends Job | string>(
    job: J,
    items: Iterable<JobItem<J>> | AsyncIterable<JobItem<J>>,
    { mode, traceparent, ...options }: { mode?: SubmitMode; traceparent?: string } & BulkOptions<Submitted[]> = {},
  ): Promise<Submitted[]> {
    const job_type = typeOf(job);
    const limits = { count: 1_000, bytes: jobs_api.submit_batch.body_limit };
    const replies = await inBatches(
      withParameters(items),
      limits,
      async ({ text }) => {
        const { body } = await this.transport.answer(jobs_api.submit_batch, {
          params: { job_type },
          text: `{${mode === undefined ? "" : `"mode":${JSON.stringify(mode)},`}"items":[${text}]}`,
          headers: traceparent === undefined ? {} : { traceparent },
          repeatable: mode !== "force",
          signal: options.signal,
        });
        return body.jobs;
      },
      options,
    );
    return replies.flat();
  }

  async enqueue(
    task_type: string,
    parameters: Record<string, unknown>,
    { signal, ...options }: EnqueueOptions = {},
  ): Promise<{ task_id: string; created: boolean }> {
    const { task_ids, created } = await this.#enqueue(task_type, itemText({ ...options, parameters }, null), {
      repeatable: options.idempotency_key !== undefined,
      signal,
    });
    return { task_id: task_ids[0] as string, created: created === 1 };
  }

  /** A call that is lost on the way is sent again only when each of its tasks has an idempotency key. */
  async enqueueMany(
    task_type: string,
    items: Iterable<TaskItem> | AsyncIterable<TaskItem>,
    options: BulkOptions<Enqueued> = {},
  ): Promise<Enqueued> {
    const limits = { count: 5_000, bytes: tasks_api.enqueue.body_limit };
    const replies = await inBatches(
      items,
      limits,
      (batch) =>
        this.#enqueue(task_type, `{"items":[${batch.text}]}`, {
          repeatable: batch.items.every(({ idempotency_key }) => idempotency_key !== undefined),
          signal: options.signal,
        }),
      options,
    );
    return {
      task_ids: replies.flatMap(({ task_ids }) => task_ids),
      created: replies.reduce((sum, { created }) => sum + created, 0),
    };
  }

  async #enqueue(
    task_type: string,
    text: string,
    { repeatable, signal }: { repeatable: boolean; signal: AbortSignal | undefined },
  ): Promise<Enqueued> {
    const { body } = await this.transport.answer(tasks_api.enqueue, {
      params: { task_type },
      text,
      repeatable,
      signal,
    });
    return body;
  }
}

/** Bare parameters in place of items would be told as as many unknown keys as there are. */
async function* withParameters<Item>(items: Iterable<Item> | AsyncIterable<Item>): AsyncGenerator<Item> {
  let number = 0;
  for await (const item of items) {
    if (typeof item !== "object" || item === null || !Object.hasOwn(item, "parameters")) {
      throw new BadRequest(`item ${number} has no parameters`, {
        hint: "wrap them: { parameters: { … } }, options beside",
      });
    }
    number++;
    yield item;
  }
}

export type JobItem<J> = JobOptions & { parameters: JobInput<J> };
export type TaskItem = TaskOptions & { parameters: Record<string, unknown> };

export function typeOf(job: Job | string): string {
  return typeof job === "string" ? job : job.type;
}
