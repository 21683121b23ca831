// One registration of a worker over HTTP: what was claimed under it ends with it.
import { protocol_limits } from "../core/api/work/limits.js";
import type { WorkStage, WorkTask } from "../core/api/work.js";
import type { Handler } from "../core/declare/declare.js";
import type { RemoteProcesses } from "../handler_processes.js";
import type { Outbox } from "./outbox.js";
import type { RemoteContext } from "./remote_context.js";
import type { WorkerCounts } from "./worker_counts.js";

export class Life {
  readonly over = new AbortController();
  /** Aborted when no more is claimed under it. */
  readonly closed = new AbortController();
  readonly running = new Set<RemoteContext>();
  /** Claims, with how many of their tasks have not been told of. */
  readonly claims = new Map<number, number>();
  renewed_at: number;
  outbox!: Outbox;
  /** A question for work is under way, of its own or with a finish. */
  asking = false;
  /** Ends a question that waits, so that it is asked anew. */
  askAgain: () => void = () => {};

  constructor(
    readonly worker_id: string,
    readonly lease_ms: number,
    sent_at: number,
    readonly counts: WorkerCounts,
  ) {
    this.renewed_at = sent_at;
  }

  /** Judged by this process's own clock from when the last answered heartbeat was sent: earlier than the service does. */
  get is_over(): boolean {
    if (!this.over.signal.aborted && performance.now() - this.renewed_at >= this.lease_ms) this.end();
    return this.over.signal.aborted;
  }

  end(): void {
    this.closed.abort();
    this.over.abort();
  }

  hold(claim_id: number): void {
    this.claims.set(claim_id, (this.claims.get(claim_id) ?? 0) + 1);
  }

  settle(claim_id: number): void {
    const left = (this.claims.get(claim_id) ?? 1) - 1;
    if (left > 0) this.claims.set(claim_id, left);
    else this.claims.delete(claim_id);
  }
}

export function backoff(failures: number): number {
  return Math.min(5_000, 100 * 2 ** Math.min(failures, 6)) * (0.5 + Math.random() / 2);
}

export function timeoutOf({ task_type, timeout_s, job_id }: WorkStage, handlers: ReadonlyMap<string, Handler>): number {
  const own = handlers.get(task_type)?.options.timeout_s;
  const declared = job_id === null ? (own ?? timeout_s) : (timeout_s ?? own);
  return Math.min(declared ?? protocol_limits.default_timeout_s, 2_000_000);
}

/** What a heartbeat says of a task that runs. */
export function runningState(ctx: RemoteContext, handlers: ReadonlyMap<string, Handler>) {
  const now = performance.now();
  const { task_id, claim_id } = ctx.given;
  return {
    task_id,
    claim_id,
    elapsed_s: ctx.elapsed_ms / 1000,
    timeout_s: timeoutOf(ctx.facts, handlers),
    progress: ctx.progress_made,
    progress_age_s: ctx.progress_made === null ? null : (now - ctx.progress_at) / 1000,
  };
}

export function countedAs({ kind }: WorkTask, { task_type }: WorkStage): string {
  return kind === "plan" ? "#plan" : task_type;
}

/** How many more of each type that has slots of its own, or needs memory. */
export function freeByType(
  { running }: Life,
  slots_by_type: Readonly<Record<string, number>> | undefined,
  processes: RemoteProcesses | null,
): { per_type?: Record<string, number> } {
  if (slots_by_type === undefined && processes === null) return {};
  const types = Array.from(running, ({ task_type }) => task_type);
  const left = { ...slots_by_type };
  for (const type of types) if (left[type] !== undefined) left[type]--;
  for (const [type, room] of Object.entries(processes?.room(types) ?? {}))
    left[type] = Math.min(left[type] ?? room, room);
  return {
    per_type: Object.fromEntries(Object.entries(left).map(([type, n]) => [type, Math.min(1000, Math.max(0, n))])),
  };
}

/** A handler that does not stop when asked keeps its slot for the grace, and no longer. */
export async function orGivenUp<T>({ signal }: RemoteContext, grace_s: number, work: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const given_up = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => {
      timer = setTimeout(() => reject(signal.reason), grace_s * 1000);
    });
  });
  given_up.catch(() => {});
  try {
    return await Promise.race([work(), given_up]);
  } finally {
    clearTimeout(timer);
  }
}
