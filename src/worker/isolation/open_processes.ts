// Opens the pool of processes for a worker's isolated handlers, and logs what keeps them apart on this machine.
import { environmentForHandlers } from "../../config.js";
import type { Registry } from "../../core/declare/registry.js";
import type { WorkerSettings } from "../options.js";
import { type FencedModules, fence_words, fenceModules, no_fence } from "./fence.js";
import { inheritedEnv } from "./fork.js";
import { type ProcessLog, ProcessPool } from "./pool.js";

export type ProcessesSettings = Pick<
  WorkerSettings,
  | "types"
  | "slots"
  | "memory_mb"
  | "too_large"
  | "abort_grace_s"
  | "scratch_dir"
  | "isolation_user"
  | "isolation_env"
  | "isolation_node_args"
>;

/** `clean` takes secrets out of what is logged. */
export async function openProcesses(
  handlers: Registry["handlers"],
  settings: ProcessesSettings,
  clean: (text: string) => string,
  log: ProcessLog,
): Promise<ProcessPool> {
  warnOfTooLarge(settings, log);
  return new ProcessPool({
    fenced: await fenced(handlers, settings, log),
    slots: settings.slots,
    memory_mb: settings.memory_mb,
    abort_grace_ms: settings.abort_grace_s * 1000,
    node_args: settings.isolation_node_args,
    env: { ...inheritedEnv(environmentForHandlers()), ...settings.isolation_env },
    log,
    clean,
  });
}

function warnOfTooLarge({ too_large, memory_mb }: ProcessesSettings, log: ProcessLog): void {
  if (Object.keys(too_large).length === 0) return;
  log.warn(
    { memory_mb, too_large },
    "handlers that declare more memory_mb than this worker may use are left to others; its memory_mb can be raised",
  );
}

/** It is logged once, so that the operator knows what holds on this machine. */
async function fenced(
  handlers: Registry["handlers"],
  { types, scratch_dir, isolation_user }: ProcessesSettings,
  log: ProcessLog,
): Promise<FencedModules> {
  const modules = new Set(types.flatMap((type) => handlers.get(type)?.options.module ?? []));
  if (modules.size === 0) return { fence: no_fence, others: new Map() };
  const found = await fenceModules(isolation_user, modules, scratch_dir);
  const { kind, why } = found.fence;
  if (modules.size > found.others.size) log.info({ fence: kind, why }, fence_words[kind]);
  for (const [module, other] of found.others) {
    log.warn({ module, fence: other.kind, why: other.why, fix: "chmod o+rX" }, fence_words[other.kind]);
  }
  return found;
}
