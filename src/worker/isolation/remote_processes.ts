// The processes of isolated handlers for a worker that came over HTTP: the same pool, fence and memory as on the database.
import { mkdir } from "node:fs/promises";
import { environmentForHandlers } from "../../config.js";
import type { Registry } from "../../core/declare/registry.js";
import { memoryNeeds, usualMemory } from "../options.js";
import { MemoryBudget } from "../run/memory.js";
import { KILL_PATIENCE_MS } from "../run/overtime.js";
import { ownScratch } from "../run/scratch.js";
import { ChildFailure } from "./crash.js";
import type { IsolatedTask } from "./isolated_task.js";
import type { End } from "./messages.js";
import { openProcesses, type ProcessesSettings } from "./open_processes.js";
import { makeFolderOf, removeFolder } from "./owned_files.js";
import type { ProcessPool } from "./pool.js";

export interface RemoteProcessesOptions
  extends Partial<Pick<ProcessesSettings, "isolation_user" | "isolation_env" | "isolation_node_args">>,
    Pick<ProcessesSettings, "slots" | "abort_grace_s"> {
  handlers: Registry["handlers"];
  memory_mb?: number | undefined;
  scratch_dir?: string | undefined;
  /** It is in no environment that a handler sees, under whatever name. */
  key: string;
  /** Takes secrets out of what is told. */
  clean(text: string): string;
  warn(facts: object, words: string): void;
}

export async function openRemoteProcesses(options: RemoteProcessesOptions): Promise<RemoteProcesses> {
  const { handlers, memory_mb = usualMemory(), key, clean, warn } = options;
  const { isolation_user = "auto", isolation_env = {}, isolation_node_args = [], slots, abort_grace_s } = options;
  const { needs, too_large } = memoryNeeds(handlers.keys(), handlers, memory_mb);
  // A folder of this user's own: users of processes pass through it.
  const scratch_dir = ownScratch(options.scratch_dir);
  const types = [...handlers.keys()].filter((type) => !Object.hasOwn(too_large, type));
  const limits = { types, slots, memory_mb, too_large, abort_grace_s, scratch_dir };
  const settings = {
    ...limits,
    isolation_user,
    isolation_node_args,
    isolation_env: { ...without(key), ...isolation_env },
  };
  const quiet = () => {};
  // All else that is only to be known is of no interest to a program that is not watched.
  const info = (facts: object, words: string) => {
    if ("fence" in facts && facts.fence === "none" && isolation_user !== "same") warn(facts, words);
  };
  const pool = await openProcesses(handlers, settings, clean, { debug: quiet, info, warn });
  return new RemoteProcesses(pool, new MemoryBudget(memory_mb, needs), too_large, scratch_dir, handlers);
}

/** Within a longer value it is no less a key. */
function without(key: string): Record<string, string> {
  const named = Object.entries(environmentForHandlers()).filter(([, value]) => key !== "" && value?.includes(key));
  return Object.fromEntries(named.map(([name]) => [name, ""]));
}

interface Waiter {
  task_type: string;
  wake: () => void;
}

export class RemoteProcesses {
  /** Tasks with no memory yet, in the order they came. */
  private readonly waiting = new Set<Waiter>();

  constructor(
    private readonly pool: ProcessPool,
    private readonly memory: MemoryBudget,
    /** MB by type that has no room here. */
    readonly too_large: Readonly<Record<string, number>>,
    readonly scratch_dir: string,
    private readonly handlers: Registry["handlers"],
  ) {}

  /** Beyond the grace, for processes to be gone. */
  readonly kill_patience_s = KILL_PATIENCE_MS / 1000;

  readonly folders = {
    make: async (dir: string, owner: number | undefined) => {
      if (owner === undefined) await mkdir(dir, { recursive: true, mode: 0o700 });
      else makeFolderOf(owner, dir);
    },
    remove: removeFolder,
  };

  get memory_mb(): number {
    return this.memory.total_mb;
  }

  get used_mb(): number {
    return this.memory.used_mb;
  }

  /** How many more of each type there is room for, beside those that are held, running or not. */
  room(held: Iterable<string>): Record<string, number> {
    let free_mb = this.memory.total_mb;
    for (const type of held) free_mb -= this.memory.needOf(type);
    const counts = Array.from(
      this.memory.needs,
      ([type, mb]) => [type, Math.max(0, Math.floor(free_mb / mb))] as const,
    );
    return Object.fromEntries(counts);
  }

  async run(task: IsolatedTask, worker_id: string): Promise<End> {
    const { task_type } = task.claim.stage;
    const { signal } = task;
    const waiter: Waiter = { task_type, wake: () => {} };
    const onAbort = () => waiter.wake();
    signal.addEventListener("abort", onAbort);
    this.waiting.add(waiter);
    try {
      while (!this.memory.mayStart(task_type, performance.now())) {
        await new Promise<void>((resolve) => {
          waiter.wake = resolve;
        });
        signal.throwIfAborted();
      }
    } finally {
      signal.removeEventListener("abort", onAbort);
      this.waiting.delete(waiter);
      if (signal.aborted) this.givenUp(waiter);
    }
    const handler = this.handlers.get(task_type)!;
    const work = () => this.pool.run(task, handler, worker_id);
    const end = this.memory.during({ task_type }, work, this.freed);
    // Its turn is over, and there may be room beside it.
    this.freed();
    return end.then(
      (returned) => ({ returned }),
      (error: unknown) => {
        if (error instanceof ChildFailure) return { threw: error.failure };
        throw error;
      },
    );
  }

  /** A type that nothing waits for would keep its turn for ever, and all others out. */
  private givenUp(gone: Waiter): void {
    if ([...this.waiting].some(({ task_type }) => task_type === gone.task_type)) return;
    this.memory.forget(gone.task_type);
    this.freed();
  }

  private readonly freed = (): void => {
    for (const { wake } of this.waiting) wake();
  };

  close(): Promise<void> {
    return this.pool.close();
  }
}
