// Plans a stage for the database: a plan that is data is carried out by SQL, a function runs here and its tasks are sent
// in pages. Planning is a claim like any other, so a planner that dies midway is simply run again from the start.

import type { Job, PlannedTask } from "../../core/declare/declare.js";
import type { Registry } from "../../core/declare/registry.js";
import { Throttled, Transient } from "../../core/errors/errors.js";
import type { JobFacts, PlanContext } from "../../core/task/context.js";
import { sourceHash } from "../../core/values/ids.js";
import type { Database } from "../../engine/database/database.js";
import { planByData } from "../../engine/work/data_plan.js";
import { fault } from "../../fault.js";
import { sendTrouble } from "../finish/trouble.js";
import type { Plans } from "../life/connections.js";
import type { Registration } from "../life/registration.js";
import type { TaskContext } from "../run/context.js";
import { PlanPages } from "./plan_pages.js";

export { LOADED_BYTES } from "../../engine/work/data_plan.js";

export interface PlanningParts extends Registration {
  registry: Registry;
  plans: Plans;
  /** Tasks may have become runnable. */
  onPlanned(): void;
}

/** What its verbs wait for a lock: they share a connection with everybody's claims and finishes. */
const LOCK_MS = 300;
const HELD_S = 5;

export async function planStage(parts: PlanningParts, ctx: TaskContext): Promise<void> {
  const { stage } = ctx.claim;
  try {
    if (stage.planner === "function") await planByFunction(parts, ctx);
    else await planFromData(parts, ctx);
  } catch (error) {
    if (sendTrouble(error) !== "held") throw error;
    throw new Throttled(HELD_S, "an open transaction holds rows of its job", { code: "held", cause: error });
  }
  parts.onPlanned();
}

async function planFromData(parts: PlanningParts, ctx: TaskContext): Promise<void> {
  const { worker_id, commands, plans, holdings, onPlanned } = parts;
  const { storage: store, claim, tenant_id } = ctx;
  const began = performance.now();
  const run = <T>(verb: (db: Database) => Promise<T>) => plans.take(tenant_id, verb);
  try {
    await planByData({ worker_id, commands, store, lock_ms: LOCK_MS, run }, claim.claim_id);
  } finally {
    if (holdings.is_shared) plans.rest(tenant_id, performance.now() - began, onPlanned);
  }
}

async function planByFunction(parts: PlanningParts, ctx: TaskContext): Promise<void> {
  const { commands, db, worker_id } = parts;
  const { stage, claim_id } = ctx.claim;
  const job = jobOf(parts.registry, stage.job_type);
  const planner = job.planners.get(stage.stage);
  const condition = job.conditions.get(stage.stage);
  if (planner === undefined && condition === undefined) {
    // Another version of the blueprint made this job; a worker that has it will come, or the attempts will run out.
    const message = `this worker's "${stage.job_type}" has no function that plans stage "${stage.stage}"`;
    throw new Transient(message, { code: "no_planner" });
  }
  const facts: JobFacts = ctx.job!;
  const given: PlanContext = { parameters: facts.parameters, previous: ctx.previous, job: facts };
  if (condition !== undefined && !(await condition(given))) {
    const plan_hash = sourceHash(condition);
    await commands.plan_done(db, {
      worker_id,
      claim_id,
      total: 0,
      task_bytes: 0,
      plan_hash,
      skip: "when",
      lock_ms: LOCK_MS,
    });
    return;
  }
  if (planner === undefined) {
    await planFromData(parts, ctx);
    return;
  }
  const pages = new PlanPages(stage.stage, async (from, tasks) => {
    ctx.signal.throwIfAborted();
    await commands.plan_tasks(db, { worker_id, claim_id, from, tasks, lock_ms: LOCK_MS });
    await fault("mid-plan");
  });
  for await (const task of tasksOf(await planner(given))) {
    const sending = pages.add(task);
    if (sending !== null) await sending;
  }
  await pages.flush();
  const { total, task_bytes } = pages;
  const plan_hash = sourceHash(planner);
  await commands.plan_done(db, { worker_id, claim_id, total, task_bytes, plan_hash, lock_ms: LOCK_MS });
}

function jobOf(registry: Registry, job_type: string | null): Job {
  const job = job_type === null ? undefined : registry.jobs.get(job_type);
  if (job !== undefined) return job;
  throw new Transient(`this worker does not know the job type "${job_type}"`, { code: "no_planner" });
}

type Planned = Iterable<PlannedTask> | AsyncIterable<PlannedTask>;

function tasksOf(planned: Planned): Planned {
  if (typeof planned === "object" && planned !== null) {
    if (Symbol.asyncIterator in planned || Symbol.iterator in planned) return planned;
  }
  throw new TypeError("a planner returns an array, an iterable or an async iterable of tasks");
}
