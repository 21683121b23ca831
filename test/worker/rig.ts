// A runner and a finisher without a database: what the database would answer is the test's to say.
import pino from "pino";
import { onTestFinished } from "vitest";
import type { Handler } from "../../src/core/declare/declare.js";
import type { Store } from "../../src/core/places/store.js";
import type { Database } from "../../src/engine/database/database.js";
import type {
  ClaimedStage,
  ClaimedTask,
  FinishReply,
  FinishRequest,
  WorkerCommands,
} from "../../src/engine/work/commands.js";
import { newPace } from "../../src/worker/claim/batch.js";
import { HeldClaim, Holdings } from "../../src/worker/claim/held.js";
import { TypeSlots } from "../../src/worker/claim/type_slots.js";
import { Finisher } from "../../src/worker/finish/finish.js";
import type { TaskEnd } from "../../src/worker/finish/task_end.js";
import { Lease } from "../../src/worker/life/heartbeat.js";
import { TaskLogs } from "../../src/worker/run/logs.js";
import { MemoryBudget } from "../../src/worker/run/memory.js";
import { Runner } from "../../src/worker/run/run.js";
import type { TaskServices } from "../../src/worker/run/task_services.js";
import { Stats } from "../../src/worker/stats.js";

export interface RigOptions {
  handlers?: readonly Handler[];
  slots?: number;
  lease_ms?: number;
  store?: Partial<Store>;
  finish?(request: FinishRequest): Promise<FinishReply>;
  release?(): Promise<{ released: number }>;
  /** Ends a task together with what it kept for its finish. */
  commit?(): Promise<TaskEnd>;
  write_logs?(request: { lines: string }): Promise<unknown>;
}

export const accepted: FinishReply = { accepted: 1, refused: [], retried: 0, advanced: false };

export function openRig(options: RigOptions) {
  const holdings = new Holdings();
  const stats = new Stats();
  const log = pino({ enabled: false });
  const stale: (string | undefined)[] = [];
  const lease = new Lease(options.lease_ms ?? 60_000, performance.now(), () => {});
  onTestFinished(() => lease.end());
  const commands = {
    finish: (_: Database, request: FinishRequest) => options.finish?.(request) ?? Promise.resolve(accepted),
    release: () => options.release?.() ?? Promise.resolve({ released: 1 }),
    write_logs: (_: Database, request: { lines: string }) => options.write_logs?.(request) ?? Promise.resolve({}),
  } as unknown as WorkerCommands;
  const store = options.store as Store;
  const memory = new MemoryBudget(1, new Map());
  const logs = new TaskLogs(() => {});
  onTestFinished(() => logs.stop());
  const finisher = new Finisher({
    worker_id: "w",
    db: {} as Database,
    commands,
    holdings,
    lease,
    logs,
    stats,
    memory,
    log,
    onAnswer: () => runner.pump(),
    onStale: (why) => {
      stale.push(why);
      lease.end();
    },
    onSilent: () => {},
    onQuiet: () => {},
  });
  const runner: Runner = new Runner({
    writing_finisher: {
      finish: () => options.commit?.() ?? Promise.reject(new Error("there is no database here")),
    },
    worker_id: "w",
    db: {} as Database,
    commands,
    holdings,
    lease,
    finisher,
    stats,
    memory,
    type_slots: new TypeSlots(),
    onTypeRoom: () => {},
    log,
    slots: options.slots ?? 8,
    abort_grace_ms: 0,
    onStale: () => {},
    onSilent: () => {},
    handlers: new Map((options.handlers ?? []).map((handler) => [handler.name, handler])),
    services: { logs, store } as unknown as TaskServices,
    spill: { store, worker_id: "w" },
    plan: () => Promise.resolve(),
    isolated: () => Promise.reject(new Error("there are no processes here")),
    onRoom: () => {},
  });
  const hold = (claim_id: number, task_type: string, count: number, parameters: unknown = {}): HeldClaim => {
    const tasks = Array.from({ length: count }, (_, ordinal): ClaimedTask => [ordinal, null, parameters, null]);
    const stage = { stage_id: 1, task_type, job_id: null, timeout_s: 1 } as ClaimedStage;
    const claim = new HeldClaim({ claim_id, stage_id: 1, attempt: 1, crashes: 0, tasks }, stage, newPace(), 0);
    holdings.add(claim);
    return claim;
  };
  /** Tasks that have run already: only their end is missing. */
  const ran = (claim_id: number, count: number): HeldClaim => {
    const claim = hold(claim_id, "none", count);
    for (let n = 0; n < count; n++) holdings.start(claim);
    return claim;
  };
  return { holdings, stats, lease, logs, finisher, runner, stale, hold, ran };
}
