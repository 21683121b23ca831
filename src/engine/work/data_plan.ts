// Plans a stage whose plan is data: SQL does it, for a worker or for the server on behalf of one. Only results that were spilled
// to storage have to be brought along.
import { Permanent } from "../../core/errors/errors.js";
import type { Store } from "../../core/places/store.js";
import { DatabaseError, type Queryable } from "../database/database.js";
import type { WorkerCommands } from "./commands.js";
import type { LockMs } from "./task_commands.js";

/** The most bytes of spilled results: they are all in memory at once, here and in the database. */
export const LOADED_BYTES = 64 * 1024 * 1024;

export interface DataPlanParts {
  commands: Pick<WorkerCommands, "plan_stage">;
  store: Store;
  worker_id: string;
  lock_ms?: LockMs;
  /** Runs one verb: on a connection, or in a transaction that names the tenant. */
  run<T>(verb: (db: Queryable) => Promise<T>): Promise<T>;
}

/** What the database says of a plan that will never do, by the name it gives. */
const lasting = new Set(["bad_condition", "plan_too_large"]);
/** Given up by the database: it took too long, or too much memory. The next attempt would, too. */
const given_up = new Set(["57014", "53200"]);

/** Gives how many tasks it made. */
export async function planByData(parts: DataPlanParts, claim_id: number): Promise<number> {
  try {
    return await plan(parts, claim_id);
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    const { code, constraint = "", message } = error;
    if (lasting.has(constraint)) throw new Permanent(message, { code: constraint, cause: error });
    if (!given_up.has(code)) throw error;
    const what = "making the plan took longer, or more memory, than one may";
    throw new Permanent(`${what}: make fewer tasks, or plan this stage with a function`, {
      code: "plan_too_large",
      cause: error,
    });
  }
}

async function plan(parts: DataPlanParts, claim_id: number): Promise<number> {
  const { commands, store, worker_id, lock_ms, run } = parts;
  const { needs, total = 0 } = await run((db) => commands.plan_stage(db, { worker_id, claim_id, lock_ms }));
  if (!needs) return total;
  const bytes = needs.reduce((sum, { s }) => sum + s.bytes, 0);
  if (bytes > LOADED_BYTES) {
    const size = `the results to plan from have ${bytes} bytes; the limit is ${LOADED_BYTES}`;
    throw new Permanent(`${size}: plan this stage with a function, which reads them page by page`, {
      code: "plan_too_large",
    });
  }
  const loaded: { o: number; r: unknown }[] = [];
  for (const { o, s } of needs) loaded.push({ o, r: JSON.parse((await store.get(s)).toString("utf8")) });
  const planned = await run((db) => commands.plan_stage(db, { worker_id, claim_id, loaded, lock_ms }));
  return planned.total ?? 0;
}
