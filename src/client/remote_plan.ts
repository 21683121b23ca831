// The tasks of a stage, made by a function of this worker and sent page by page; the service checks them. A planner that dies is run again from the
// start: its first page removes what was there.
import { largest_plan_page, most_planned } from "../core/api/work/limits.js";
import { work_api } from "../core/api/work.js";
import type { Job, PlannedTask } from "../core/declare/declare.js";
import { ContractViolation, isFanfoldError, Transient } from "../core/errors/errors.js";
import type { JobFacts, PlanContext } from "../core/task/context.js";
import { sourceHash } from "../core/values/ids.js";
import type { Caller } from "./call.js";
import type { RemoteContext } from "./remote_context.js";

/** Half of what a page may have: its JSON is measured in characters here, and in bytes there. */
const PAGE_CHARACTERS = largest_plan_page / 4;
const PAGE_TASKS = Math.min(most_planned, 1000);

export interface RemotePlanParts {
  worker_id: string;
  call: Caller;
  jobs: ReadonlyMap<string, Job>;
}

export async function planRemotely({ worker_id, call, jobs }: RemotePlanParts, ctx: RemoteContext): Promise<void> {
  const { stage, job_type } = ctx.facts;
  const { task_id, claim_id } = ctx.given;
  const job = jobs.get(job_type ?? "");
  const planner = job?.planners.get(stage);
  const condition = job?.conditions.get(stage);
  if (planner === undefined && condition === undefined) {
    const message = `this worker's "${job_type}" has no function that plans stage "${stage}"`;
    throw new Transient(message, { code: "no_planner" });
  }
  const facts = ctx.job as JobFacts;
  const given: PlanContext = { parameters: facts.parameters, previous: ctx.previous, job: facts };
  const held = { task_id, claim_id };
  const options = { params: { worker_id }, signal: ctx.signal };
  const done = (how: { total: number } | { skip: true } | { by_data: true }, code: (given: never) => unknown) =>
    call(work_api.plan_done, { ...options, body: { ...held, ...how, plan_hash: sourceHash(code) } });
  if (condition !== undefined && !(await condition(given))) {
    await done({ skip: true }, condition);
    return;
  }
  if (planner === undefined) {
    await done({ by_data: true }, condition!);
    return;
  }
  let from = 0;
  let page: PlannedTask[] = [];
  let size = 0;
  const send = async () => {
    const tasks = page;
    page = [];
    size = 0;
    await call(work_api.plan, { ...options, body: { ...held, from, tasks } }).catch((error: unknown) => {
      // What is wrong with the tasks will be wrong again.
      if (!isFanfoldError(error) || error.code !== "bad_request") throw error;
      throw new ContractViolation(`tasks of stage "${stage}" cannot be planned`, { problems: error.problems });
    });
    from += tasks.length;
  };
  for await (const task of tasksOf(await planner(given))) {
    page.push(task);
    size += JSON.stringify(task)?.length ?? 0;
    if (page.length >= PAGE_TASKS || size >= PAGE_CHARACTERS) await send();
  }
  if (page.length > 0 || from === 0) await send();
  await done({ total: from }, planner);
}

type Planned = Iterable<PlannedTask> | AsyncIterable<PlannedTask>;

function tasksOf(planned: Planned): Planned {
  if (typeof planned === "object" && planned !== null) {
    if (Symbol.asyncIterator in planned || Symbol.iterator in planned) return planned;
  }
  throw new TypeError("a planner returns an array, an iterable or an async iterable of tasks");
}
