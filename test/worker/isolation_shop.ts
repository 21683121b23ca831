// A shop whose handlers run in processes of their own, and what tests ask about those processes.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { defineJob, type Handler, type Job } from "../../src/core/declare/declare.js";
import type { TaskRecord } from "../../src/engine/verbs/records.js";
import type { WorkerOptions } from "../../src/worker/options.js";
import type { Worker } from "../../src/worker/worker.js";
import { holds } from "./isolation_handlers.js";
import { node_args } from "./isolation_node.js";
import { eventually, openShop, type TestShop } from "./shop.js";

export { node_args };

export interface Attempt {
  outcome: string;
  category: string;
  code: string;
  message: string;
  detail: {
    stack?: string;
    process?: { pid: number; exit_code?: number; signal?: string; peak_memory_mb: number; last_lines: string[] };
  };
}

export interface IsolatedShop extends TestShop {
  start(options?: WorkerOptions): Promise<Worker>;
  /** The task, once it has ended. */
  ended(task_id: string): Promise<TaskRecord>;
  attempts(): Promise<Attempt[]>;
  /** A line of task_logs that starts so; waits for it. */
  logged(start: string): Promise<string>;
}

export async function openIsolated(handlers: readonly Handler[], jobs: readonly Job[] = []): Promise<IsolatedShop> {
  const shop = await openShop({ handlers, jobs });
  const isolated: IsolatedShop = {
    ...shop,
    start: (options) =>
      shop.worker({ isolation_node_args: node_args, abort_grace_s: 0.2, memory_mb: 65_536, ...options }),
    ended: async (task_id) => {
      let task: TaskRecord | undefined;
      await eventually(async () => {
        task = await shop.engine.task(task_id);
        return task.finished_at !== null;
      });
      return task!;
    },
    attempts: () => shop.db.sql<Attempt>`
      select outcome, category, code, message, detail from app.attempts order by attempt_id`,
    logged: async (start) => {
      let line: string | undefined;
      await eventually(async () => {
        const rows = await shop.db.sql<{ message: string }>`select message from app.task_logs order by log_id`;
        line = rows.find(({ message }) => message.startsWith(start))?.message;
        return line !== undefined;
      });
      return line!;
    },
  };
  return isolated;
}

/** Processes of this group that still run; a zombie waits for its parent to take notice, and runs no more. */
export function aliveIn(group: number): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => {
      const stat = pid > 0 ? statOf(pid) : null;
      return stat !== null && stat.group === group && stat.state !== "Z";
    });
}

export function isAlive(pid: number): boolean {
  const stat = statOf(pid);
  return stat !== null && stat.state !== "Z";
}

function statOf(pid: number): { state: string; group: number } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { state: fields[0]!, group: Number(fields[2]) };
  } catch {
    return null;
  }
}

export interface FaultOptions {
  worker?: WorkerOptions;
  parameters?: Record<string, unknown>;
  timeout_s?: number;
  /** Something to do while it runs. */
  meanwhile?(shop: IsolatedShop): Promise<void>;
}

/**
 * Runs the handler once beside a neighbour in another process that started before and ends after it, and checks what every
 * fault must leave alone. Gives the attempt that says what happened.
 */
export async function failBesideNeighbour(handler: Handler, options: FaultOptions = {}): Promise<Attempt> {
  const { parameters = {}, timeout_s } = options;
  const only = { name: "only", task: handler.name, max_attempts: 1, timeout_s };
  const job = defineJob({ type: "faulty", stages: [only] });
  const shop = await openIsolated([handler, holds], [job]);
  const worker = await shop.start({ slots: 2, lease_s: 2, ...options.worker });
  const until = join(shop.storage_dir, "go-on");
  const neighbour = await shop.engine.enqueue("holds", { until });
  await eventually(() => worker.stats().running === 1);
  const { job_id } = await shop.engine.submit("faulty", parameters as never);
  await options.meanwhile?.(shop);
  expect((await shop.engine.wait(job_id)).status).toBe("failed");
  expect(worker.stats()).toMatchObject({ running: 1, fenced: 0 });
  writeFileSync(until, "");
  expect(await shop.ended(neighbour.task_id)).toMatchObject({ status: "completed", result: "held on" });
  const attempts = await shop.attempts();
  expect(attempts).toHaveLength(1);
  const [row] = await shop.db.sql<{ status: string }>`select status from app.workers`;
  expect(row!.status).toBe("live");
  const [attempt] = attempts;
  expect(attempt!.outcome).toBe("failed");
  if (attempt!.detail.process !== undefined) expect(aliveIn(attempt!.detail.process.pid)).toEqual([]);
  return attempt!;
}
