// A shop floor without a worker process: tests claim and finish by hand, so that every step happens exactly when they say.
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { Queryable } from "../../src/engine/database/database.js";
import { type ClaimReply, type FailedItem, type FinishReply, worker_commands } from "../../src/engine/work/commands.js";

export interface Held {
  claim_id: number;
  stage_id: number;
  stage: string;
  attempt: number;
  ordinal: number;
  index: string | null;
  parameters: unknown;
}

export interface StageData {
  name: string;
  task: string;
  [setting: string]: unknown;
}

export async function register(db: Queryable, types: string[] = [], lease_s = 30): Promise<string> {
  const worker_id = randomUUID();
  await worker_commands.register_worker(db, {
    worker_id,
    host: "test",
    pid: 1,
    version: "0",
    types,
    slots: 4,
    connections: 0,
    lease_s,
  });
  return worker_id;
}

export async function submit(
  db: Queryable,
  stages: StageData[],
  parameters: object = {},
  options: { type?: string; tenant?: string; mode?: string; options?: object } = {},
): Promise<{ job_id: string; run: number; created: boolean; status: string; resumed?: boolean; epoch?: number }> {
  const { type = "test_job", tenant = "default", mode = "reuse" } = options;
  const [row] = await db.sql<{ reply: { job_id: string; run: number; created: boolean; status: string } }>`
    select app.submit(
      ${JSON.stringify({ type, stages })}::text::jsonb, ${JSON.stringify(parameters)}::text::jsonb, ${mode},
      ${JSON.stringify(options.options ?? {})}::text::jsonb, ${tenant}) as reply`;
  return row!.reply;
}

export async function claim(
  db: Queryable,
  worker_id: string,
  types: string[],
  limit = 1000,
  after_tenant: string | null = null,
) {
  const reply = await worker_commands.claim(db, { worker_id, types, limit, after_tenant });
  return heldIn(reply);
}

export function heldIn(reply: ClaimReply): Held[] {
  return reply.claims.flatMap(({ claim_id, stage_id, attempt, tasks }) =>
    tasks.map(([ordinal, index, parameters]) => ({
      claim_id,
      stage_id,
      stage: reply.stages.find((stage) => stage.stage_id === stage_id)!.stage,
      attempt,
      ordinal,
      index,
      parameters,
    })),
  );
}

export type Fate = { result?: unknown; next_stage_params?: unknown } | Partial<FailedItem>;

/** Finishes tasks; `fate` says how each ended, completed with {} when left out. */
export function finish(
  db: Queryable,
  worker_id: string,
  tasks: Held[],
  fate: (task: Held) => Fate = () => ({}),
): Promise<FinishReply> {
  const done: { task: Held; fate: { result?: unknown; next_stage_params?: unknown } }[] = [];
  const failed: FailedItem[] = [];
  for (const task of tasks) {
    const ended = fate(task);
    if ("category" in ended) {
      const { claim_id: c, ordinal: o } = task;
      failed.push({ c, o, d: 1, code: "test", message: "made to fail", ...ended } as FailedItem);
    } else done.push({ task, fate: ended as { result?: unknown } });
  }
  const claims = new Map(tasks.map(({ claim_id: c, stage_id: g, attempt: a }) => [c, { c, g, a }]));
  return worker_commands.finish(db, {
    worker_id,
    claims: JSON.stringify([...claims.values()]),
    done: {
      claims: done.map(({ task }) => task.claim_id).join(),
      ordinals: done.map(({ task }) => task.ordinal).join(),
      durations: done.map(() => 1).join(),
      results: done.map(({ fate: { result = {} } }) => JSON.stringify(result)).join(),
      extras: JSON.stringify(
        done.flatMap(({ fate: { next_stage_params: n } }, position) =>
          n === undefined ? [] : [{ i: position + 1, n }],
        ),
      ),
    },
    failed: JSON.stringify(failed),
  });
}

/** Runs whatever of these types may run, until nothing more does. Data plans are planned on the way. */
export async function drain(
  db: Queryable,
  worker_id: string,
  types: string[],
  fate?: (task: Held) => Fate,
): Promise<Held[]> {
  const ran: Held[] = [];
  for (;;) {
    const tasks = await claim(db, worker_id, ["#plan", ...types]);
    if (tasks.length === 0) return ran;
    for (const { claim_id, ordinal } of tasks) {
      if (ordinal === -1) await worker_commands.plan_stage(db, { worker_id, claim_id });
    }
    const runnable = tasks.filter(({ ordinal }) => ordinal >= 0);
    if (runnable.length > 0) await finish(db, worker_id, runnable, fate);
    ran.push(...runnable);
  }
}

export interface SeenStage {
  name: string;
  status: string;
  skip_reason: string | null;
  total: number | null;
  completed: number;
  failed: number;
  skipped: number;
  processing: number;
  queued: number;
  error: { message: string } | null;
}

export async function status(db: Queryable, job_id: string, tenant = "default") {
  const [row] = await db.sql<{
    reply: {
      status: string;
      error: { message: string } | null;
      result: unknown;
      paused_at: string | null;
      stages: SeenStage[];
    };
  }>`
    select app.get_job(${job_id}, ${tenant}) as reply`;
  const { reply } = row!;
  return { ...reply, stage: (name: string) => reply.stages.find((stage) => stage.name === name)! };
}

export async function statuses(db: Queryable, job_id: string): Promise<string[]> {
  const seen = await status(db, job_id);
  return [seen.status, ...seen.stages.map((stage) => stage.status)];
}

/** The invariant: every ordinal is in exactly one place and the ledgers agree. */
export async function expectSound(db: Queryable, from_stage = 0): Promise<void> {
  const wrong = await db.sql<{ problem: string }>`
    select v as problem from app.stages s cross join lateral app.verify_stage(s.stage_id) v where s.stage_id >= ${from_stage}`;
  expect(wrong.map(({ problem }) => problem)).toEqual([]);
}

export async function one<T>(rows: Promise<T[]>): Promise<T> {
  const [row] = await rows;
  return row!;
}
