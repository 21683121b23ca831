// Handlers in processes of their own, in a worker without a database: what such a process asks of its attempt, its RemoteContext answers.
import type { Effect } from "../core/api/work/effects.js";
import type { Handler } from "../core/declare/declare.js";
import { classify } from "../core/errors/errors.js";
import type { Failure } from "../core/errors/failures.js";
import type { Redaction } from "../core/values/redaction.js";
import type { IsolatedTask, RemoteProcesses, Returned } from "../handler_processes.js";
import { noDatabase, type RemoteContext } from "./remote_context.js";
import type { RemoteWorkerOptions } from "./worker_options.js";

/** A key that a function gives is a secret at each reading: the next may be another. */
export function keyNoted(key: RemoteWorkerOptions["key"], secrets: Redaction): RemoteWorkerOptions["key"] {
  if (typeof key !== "function") {
    secrets.add(key ?? "");
    return key;
  }
  return async () => {
    const read = await key();
    secrets.add(read);
    return read;
  };
}

/** Opened only where a handler needs it: fanfold/client alone knows of no processes. `clean` takes secrets out of what is told. */
export async function openProcesses(
  options: RemoteWorkerOptions,
  handlers: ReadonlyMap<string, Handler>,
  secrets: Redaction,
): Promise<RemoteProcesses | null> {
  const isolated = [...handlers].filter(([, handler]) => handler.options.isolation === "process");
  if (isolated.length === 0) return null;
  const { openRemoteProcesses } = await import("../handler_processes.js");
  const { slots = 8, abort_grace_s = 5, memory_mb, scratch_dir, on_trouble } = options;
  const key = (typeof options.key === "function" ? await options.key() : options.key) ?? "";
  const { isolation_user, isolation_env = {}, isolation_node_args } = options;
  return openRemoteProcesses({
    handlers: new Map(isolated),
    slots,
    abort_grace_s,
    memory_mb,
    scratch_dir,
    isolation_user,
    isolation_env,
    isolation_node_args,
    key,
    clean: (text) => secrets.text(text),
    warn: (facts, words) => on_trouble?.(new Error(`${words}: ${JSON.stringify(facts)}`)),
  });
}

/** What a handler has failed with in its process, or what its process has died of. */
class EndedThere extends Error {
  constructor(readonly failure: Failure) {
    super(failure.message);
  }
}

/** Why an attempt has failed. A time-out is told as one, with how its process ended. */
export function failureOf(ctx: RemoteContext, error: unknown): Failure {
  const own = error instanceof EndedThere ? error.failure : classify(error);
  if (ctx.aborted !== "timeout") return own;
  const late = classify(ctx.signal.reason);
  return own.detail?.process === undefined
    ? late
    : { ...late, detail: { ...late.detail, process: own.detail.process } };
}

/** `onStarted`: its module is there, and its time runs. */
export async function runApart(
  processes: RemoteProcesses,
  ctx: RemoteContext,
  worker_id: string,
  onStarted: () => void,
): Promise<Returned> {
  const task = new ApartTask(ctx, onStarted);
  const run = processes.run(task, worker_id);
  ctx.left = run.catch(() => {});
  const end = await run;
  if ("threw" in end) throw new EndedThere(end.threw);
  if (task.trouble !== null) throw task.trouble;
  return end.returned;
}

/** The attempt as its process sees it. */
class ApartTask implements IsolatedTask {
  readonly claim: IsolatedTask["claim"];
  readonly task: IsolatedTask["task"];
  readonly services: IsolatedTask["services"];
  readonly remote: NonNullable<IsolatedTask["remote"]>;
  recorded: IsolatedTask["recorded"];
  lost_connection = false;
  kill: (() => void) | undefined;
  /** An effect that could not be taken. */
  trouble: unknown = null;

  constructor(
    private readonly ctx: RemoteContext,
    private readonly onStarted: () => void,
  ) {
    const { given, facts } = ctx;
    this.claim = { claim_id: given.claim_id, attempt: given.attempt, stage: facts };
    this.task = [given.ordinal, given.index, given.parameters ?? null, given.metadata ?? null];
    this.services = {
      commands: {
        read_results: async (_, { stage_id, from, to }) => {
          const { items, next } = await ctx.page({ stage_id, from: from ?? 0, to: to ?? null });
          return { items: items.map((item) => ({ ...item, spill: null })), next };
        },
        predecessor: async () => {
          const found = await ctx.predecessor();
          return found === null ? null : { ...found, spill: null };
        },
      },
      // Nothing here goes over one.
      connection: async () => null as never,
      handler_connection: () => ctx.db(),
    };
    this.remote = { noDatabase: () => noDatabase("ctx.db is"), declare: (effect) => this.declare(effect) };
  }

  private declare(effect: Effect): void {
    try {
      this.ctx.effect(effect);
    } catch (error) {
      this.trouble ??= error;
    }
  }

  get tenant_id() {
    return this.ctx.tenant_id;
  }
  get ordinal() {
    return this.ctx.ordinal;
  }
  get signal() {
    return this.ctx.signal;
  }
  get traceparent() {
    return this.ctx.traceparent;
  }
  get outbound() {
    return this.ctx.outbound;
  }
  get raster() {
    return this.ctx.raster;
  }
  get log() {
    return this.ctx.log;
  }
  get storage() {
    return this.ctx.storage;
  }
  get zones() {
    return this.ctx.zones;
  }

  get stop() {
    const { aborted, signal } = this.ctx;
    return aborted === null ? null : { kind: aborted, reason: signal.reason as Error, at: 0 };
  }

  get owner(): number | undefined {
    return this.ctx.owner;
  }
  set owner(owner: number | undefined) {
    this.ctx.owner = owner;
  }

  get timed_from(): number {
    return this.ctx.timed_from;
  }
  set timed_from(at: number) {
    this.ctx.timed_from = at;
    if (Number.isFinite(at)) this.onStarted();
  }

  enter(): void {}

  progress(made: number | { done: number; total: number; message?: string }, note?: string): void {
    this.ctx.progress(made, note);
  }

  secret(name: string): Promise<string> {
    return this.ctx.secret(name);
  }

  unseal(): Promise<string> {
    return this.ctx.unseal();
  }

  scratch(): Promise<string> {
    return this.ctx.scratch();
  }
}
