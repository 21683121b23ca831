// F20–F23: wide stages (of a hundred thousand tasks in the soak run; worker/wide.test.ts always has one), stages of none, of one, and of
// two that end at the same moment.
import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { PAGE_TASKS } from "../../src/worker/plan/plan_pages.js";
import { submit } from "../engine/floor.js";
import { eventually } from "../worker/shop.js";
import { fault } from "./fault.js";
import { pairs_job, wide_job } from "./shapes.js";
import type { WorkerProcess } from "./worker_process.js";

const is_soak = Boolean(process.env.FANFOLD_TEST_SOAK);
const wide = is_soak ? 100_000 : 15_000;
/** How many pairs of tasks end together. */
const jobs = is_soak ? 1_000 : 300;
const most_mb = 300;

/** The most memory the process ever had. */
function peakMb({ pid }: WorkerProcess): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024;
}

fault(`F20 the planner of ${wide} tasks is killed half-way`, async (scene) => {
  const killed_at = is_soak ? 8 : 1;
  // Only planning: what is planned stays as it is until it has been counted.
  const options = { types: ["#plan:wide"] };
  const { job_id } = await scene.engine.submit(wide_job, { n: wide });
  const doomed = await scene.worker({ options, faults: `mid-plan:kill9@${killed_at}` });
  expect(await doomed.exited).toMatchObject({ signal: "SIGKILL" });
  const count = async () => {
    const [row] = await scene.db.sql<{ tasks: number; ordinals: number; names: number; last: number }>`
      select count(*) as tasks, count(distinct ordinal) as ordinals, count(distinct index) as names, max(ordinal) as last
        from app.tasks`;
    return row!;
  };
  expect(await count()).toMatchObject({ tasks: killed_at * PAGE_TASKS });
  expect((await scene.engine.status(job_id)).stages[0]!.status).toBe("planning");
  const planner = await scene.worker({ options });
  await eventually(async () => (await scene.engine.status(job_id)).stages[0]!.status === "processing");
  expect(await count()).toEqual({ tasks: wide, ordinals: wide, names: wide, last: wide - 1 });
  const ready = await scene.db.sql`select lo, hi from app.ready`;
  expect(ready).toEqual([{ lo: 0, hi: wide }]);
  const [plans] = await scene.db.sql<{ n: number }>`select count(*) as n from app.events where kind = 'stage.planned'`;
  expect(plans!.n).toBe(1);
  const peak = peakMb(planner);
  scene.notes.push(`planner's peak ${peak.toFixed(0)} MB`);
  expect(peak).toBeLessThan(most_mb);
  await scene.engine.cancelJob(job_id);
});

fault(
  `F21 one task folds ${wide} results`,
  async (scene) => {
    const fleet = await scene.fleet();
    const { job_id } = await scene.engine.submit(wide_job, { n: wide });
    const [job] = await scene.ended([job_id]);
    expect(job!.status).toBe("completed");
    expect(job!.result).toMatchObject({ count: wide, value: (wide * (wide - 1)) / 2 });
    expect((job!.result as { parameter_bytes: number }).parameter_bytes).toBeLessThan(1024);
    const [folded] = await scene.db.sql<{ bytes: number }>`
      select coalesce(octet_length(t.parameters::text), 0) as bytes
        from app.tasks t join app.stages s using (stage_id) where s.name = 'fold'`;
    expect(folded!.bytes).toBeLessThan(1024);
    const peaks = fleet.working.map(peakMb);
    scene.notes.push(`peaks ${peaks.map((mb) => mb.toFixed(0)).join(", ")} MB`);
    expect(peaks).toHaveLength(3);
    for (const peak of peaks) expect(peak).toBeLessThan(most_mb);
  },
  { limit_s: 240 },
);

const budgets = [undefined, { count: 1 }, { percent: 50 }] as const;
type Budget = (typeof budgets)[number];

/** Rule 5, in words of its own: how the fanned stage, the stage after it, and the job should end. */
function expected(total: number, fails: number, budget: Budget, importance: string): [string, string, string] {
  const forgiven =
    budget === undefined ? 0 : "count" in budget ? budget.count : Math.floor(total * (budget.percent / 100));
  if (fails === 0) return ["completed", "completed", "completed"];
  if (fails <= forgiven)
    return ["partial_success", "completed", importance === "optional" ? "completed" : "partial_success"];
  if (importance === "critical") return ["failed", "cancelled", "failed"];
  if (importance === "important") return ["failed", "skipped", "partial_success"];
  return ["failed", "completed", "completed"];
}

fault("F22 stages of 0, 1 and 2 tasks, under every policy and with every number of failures", async (scene) => {
  const cases: { job_id: string; what: string; should: [string, string, string] }[] = [];
  for (const total of [0, 1, 2]) {
    for (let fails = 0; fails <= total; fails++) {
      for (const failure_budget of budgets) {
        for (const importance of ["critical", "important", "optional"]) {
          for (const on_task_failure of ["finish_stage", "fail_fast"]) {
            const task = "policy.work";
            const fan = { plan: { count: total }, max_attempts: 1, failure_budget, importance, on_task_failure };
            const stages = [
              { name: "fan", task, ...fan },
              { name: "after", task, parallelism: "match_previous" },
              { name: "fold", task, parallelism: "fan_in" },
            ];
            const facts = { total, fails, failure_budget, importance, on_task_failure };
            const { job_id } = await submit(scene.db, stages, facts, { type: "policy" });
            const should = expected(total, fails, failure_budget, importance);
            cases.push({ job_id, what: JSON.stringify(facts), should });
          }
        }
      }
    }
  }
  expect(cases.length).toBe(108);
  await scene.fleet({ size: 2 });
  const ended = await scene.ended(cases.map(({ job_id }) => job_id));
  const found = ended.map(({ status, stages }, k) => [cases[k]!.what, stages[0]!.status, stages[1]!.status, status]);
  expect(found).toEqual(cases.map(({ what, should }) => [what, ...should]));
});

fault(`F23 the last two tasks of a stage end at the same moment, ${jobs} times`, async (scene) => {
  const replies = await scene.engine.submitMany(
    pairs_job,
    Array.from({ length: jobs }, (_, n) => ({ parameters: { n } })),
  );
  // One task a claim, so that the two of a pair mostly go to two workers.
  await scene.fleet({ size: 3, options: { slots: 16, batch_max: 1 } });
  const ended = await scene.ended(replies.map(({ job_id }) => job_id));
  expect(ended.filter(({ status }) => status !== "completed")).toEqual([]);
  const [apart] = await scene.db.sql<{ pairs: number; close: number }>`
    select count(*) filter (where workers = 2) as pairs, count(*) filter (where workers = 2 and apart < interval '5 ms') as close
      from (
        select count(distinct worker_id) as workers, max(finished_at) - min(finished_at) as apart
          from app.results r join app.stages s using (stage_id) where s.name = 'pair' group by stage_id) p`;
  scene.notes.push(`${apart!.pairs} pairs ended by two workers, ${apart!.close} of them within 5 ms`);
  expect(apart!.pairs).toBeGreaterThan(jobs / 10);
  // The stage after each pair was opened, planned and run once.
  const [next] = await scene.db.sql`
    select count(*) as tasks, count(distinct t.stage_id) as stages
      from app.tasks t join app.stages s using (stage_id) where s.name = 'next'`;
  expect(next).toEqual({ tasks: jobs, stages: jobs });
  const runs = scene.effects().filter(({ what, stage }) => what === "start" && stage === "next");
  expect([runs.length, new Set(runs.map(({ job_id }) => job_id)).size]).toEqual([jobs, jobs]);
});
