// How a worker registers, and what the loops of one registered life share.
import { hostname } from "node:os";
import type { Logger } from "pino";
import type { Database } from "../../engine/database/database.js";
import type { Engine } from "../../engine/engine.js";
import type { WorkerCommands } from "../../engine/work/commands.js";
import type { Holdings } from "../claim/held.js";
import type { WorkerSettings } from "../options.js";
import type { MemoryBudget } from "../run/memory.js";
import type { Stats } from "../stats.js";
import type { Connections } from "./connections.js";
import type { Lease } from "./heartbeat.js";

export interface Registration {
  worker_id: string;
  /** For claims and finishes. */
  db: Database;
  commands: WorkerCommands;
  holdings: Holdings;
  lease: Lease;
  memory: MemoryBudget;
  stats: Stats;
  log: Logger;
  /** The database no longer knows this worker, or (`why`) answers everything but what it is sent. */
  onStale(why?: string): void;
  /** What was sent has not been answered for as long as a lease lasts. */
  onSilent(what: string): void;
}

/** Makes the worker known under this id, with what it can do and the jobs and recipes its program declares. */
export async function register(
  { worker_commands, registry }: Engine,
  settings: WorkerSettings,
  connections: Connections,
  worker_id: string,
): Promise<{ lease_s: number }> {
  const { types, slots, lease_s, version, memory_mb, too_large } = settings;
  const process_facts = { host: hostname(), pid: process.pid, version, connections: connections.counted(settings) };
  const facts = { worker_id, types, slots, lease_s, memory_mb, too_large, ...process_facts };
  const db = connections.heartbeat;
  const registered = await worker_commands.register_worker(db, facts);
  const blueprints = Array.from(registry.jobs.values(), ({ blueprint }) => blueprint);
  await worker_commands.register_blueprints(db, { blueprints });
  const recipes = Array.from(registry.recipes.values(), ({ recipe }) => recipe);
  if (recipes.length > 0) await worker_commands.register_recipes(db, { recipes });
  return registered;
}
