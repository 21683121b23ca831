// The planning of a stage by a worker over HTTP: its tasks are checked here as those of a worker on the database are checked there.
import { checkedTask } from "../../core/declare/planned_task.js";
import { BadRequest } from "../../core/errors/errors.js";
import { max_problems, type Problem } from "../../core/errors/problems.js";
import type { Store } from "../../core/places/store.js";
import { worker_commands as commands } from "./commands.js";
import { planByData } from "./data_plan.js";
import type { TenantSession } from "./tenant_session.js";

/** What its verbs wait for a lock: the server's connections are everybody's. */
const LOCK_MS = 3_000;

export interface PlanEnd {
  claim_id: number;
  total?: number | undefined;
  skip: boolean;
  by_data: boolean;
  plan_hash?: string | undefined;
}

export class RemotePlans {
  constructor(
    private readonly session: TenantSession,
    private readonly store: Store,
  ) {}

  /** Throws BadRequest with everything that is wrong with the tasks. */
  page(
    worker_id: string,
    { claim_id, from, tasks }: { claim_id: number; from: number; tasks: readonly unknown[] },
  ): Promise<{ inserted: number }> {
    const problems: Problem[] = [];
    const texts = tasks.map((task, at) => {
      const { text, problems: found } = checkedTask(task);
      for (const { path, ...rest } of found) problems.push({ path: `body.tasks[${at}]${path.slice(1)}`, ...rest });
      return text;
    });
    if (problems.length > 0) {
      throw new BadRequest("these tasks cannot be planned", { problems: problems.slice(0, max_problems) });
    }
    const request = { worker_id, claim_id, from, tasks: `[${texts.join()}]`, lock_ms: LOCK_MS };
    return this.session.run((db) => commands.plan_tasks(db, request));
  }

  async done(
    worker_id: string,
    { claim_id, total = 0, skip, by_data, plan_hash = "" }: PlanEnd,
  ): Promise<{ total: number }> {
    if (by_data) return { total: await this.byData(worker_id, claim_id) };
    const why = skip ? { total: 0, skip: "when" } : { total };
    const request = { worker_id, claim_id, task_bytes: null, plan_hash, lock_ms: LOCK_MS, ...why };
    return this.session.run((db) => commands.plan_done(db, request));
  }

  /** Gives how many tasks there are. */
  byData(worker_id: string, claim_id: number): Promise<number> {
    const run = this.session.run.bind(this.session);
    return planByData({ commands, store: this.store, worker_id, run }, claim_id);
  }
}
