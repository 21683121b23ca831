// What the loops of one registered life of a worker share. Types only.
import type { Logger } from "pino";
import type { Database } from "../../engine/database/database.js";
import type { WorkerCommands } from "../../engine/work/commands.js";
import type { Holdings } from "../claim/held.js";
import type { MemoryBudget } from "../run/memory.js";
import type { Stats } from "../stats.js";
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
