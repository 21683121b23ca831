// Stages that are one plain task start and close in sets; all others one at a time. Both ways must leave the same rows.
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Queryable } from "../../src/engine/database/database.js";
import { worker_commands } from "../../src/engine/work/commands.js";
import { random } from "../core/random_values.js";
import { freshDatabase } from "../postgres.js";
import { claim, expectSound, finish, type Held, register } from "./floor.js";
import { groups, type RandomJob, RandomJobs, task_types } from "./random_jobs.js";

const seed = Number(process.env.FANFOLD_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));
const JOBS = 30;

type Snapshot = Record<string, unknown>;

/** Runs jobs step by step, and looks at all rows after each step. */
class Run {
  readonly steps: { name: string; rows: Snapshot }[] = [];
  readonly #began: number[] = [];
  #worker = "";
  #healthy = false;

  /** In sets: jobs of a blueprint are submitted together, and all that a claim gave is finished together. */
  constructor(
    readonly db: Queryable,
    readonly in_sets: boolean,
  ) {}

  async play(jobs: RandomJob[]): Promise<void> {
    this.#worker = await register(this.db, [], 3600);
    for (const [group_id, expected] of Object.entries(groups)) {
      await this.db.sql`select app.create_group(${JSON.stringify({ group_id, expected })}::text::json)`;
    }
    await this.#step("submit", () => this.#submit(jobs));
    await this.db.sql`select app.seal_group('counted')`;
    await this.#workOff();
    this.#healthy = true;
    await this.#step("resume", () => this.#resume());
    await this.#workOff();
    await expectSound(this.db);
  }

  async #submit(jobs: RandomJob[]): Promise<void> {
    const known: string[] = [];
    for (const { type, stages, items } of jobs) {
      const blueprint = JSON.stringify({ type, stages });
      const asked = items.map(({ parameters, options: { depends, ...options } }) => ({
        parameters: JSON.stringify(parameters),
        depends_on: depends === undefined ? undefined : dependencies(known, depends as number, options),
        ...options,
      }));
      for (const some of this.in_sets ? [asked] : asked.map((item) => [item])) {
        const request = JSON.stringify({ mode: "reuse", jobs: some });
        const [row] = this.in_sets
          ? await this.db.sql<{ reply: { job_id: string }[] }>`
              select app.submit_kept(app.save_blueprint('default', ${blueprint}::text::jsonb), ${request}::text::json) as reply`
          : await this.db.sql<{ reply: { job_id: string }[] }>`
              select app.submit_jobs(${blueprint}::text::jsonb, ${request}::text::json) as reply`;
        known.push(...row!.reply.map(({ job_id }) => job_id));
      }
    }
  }

  async #workOff(): Promise<void> {
    for (let round = 0; round < 50; round++) {
      const before = this.steps.length;
      const held = await claim(this.db, this.#worker, ["#plan", ...task_types], 10_000);
      if (held.length > 0) await this.#step("finish", () => this.#finish(held));
      const gates = await this.db.sql<{ job_id: string; name: string; n: number }>`
        select s.job_id, s.name, (j.parameters ->> 'n')::integer as n
          from app.stages s join app.jobs j on j.tenant_id = s.tenant_id and j.job_id = s.job_id
         where s.status = 'waiting_approval' order by s.stage_id`;
      if (gates.length > 0) await this.#step("decide", () => this.#decide(gates));
      if (this.steps.length === before) return;
    }
    throw new Error("the jobs do not come to an end");
  }

  async #finish(held: Held[]): Promise<void> {
    const rows = await this.db.sql<{ stage_id: number; n: number }>`
      select s.stage_id::integer, (j.parameters ->> 'n')::integer as n
        from app.stages s join app.jobs j on j.tenant_id = s.tenant_id and j.job_id = s.job_id`;
    const job_of = new Map(rows.map(({ stage_id, n }) => [stage_id, n]));
    for (const { claim_id, ordinal } of held) {
      if (ordinal === -1) await worker_commands.plan_stage(this.db, { worker_id: this.#worker, claim_id });
    }
    const tasks = held.filter(({ ordinal }) => ordinal >= 0);
    const jobs = [...new Set(tasks.map(({ stage_id }) => job_of.get(stage_id)!))].sort((a, b) => a - b);
    const parts = this.in_sets ? [tasks] : jobs.map((n) => tasks.filter(({ stage_id }) => job_of.get(stage_id) === n));
    for (const part of parts) {
      if (part.length === 0) continue;
      await finish(this.db, this.#worker, part, ({ stage_id, stage, ordinal }) =>
        RandomJobs.fate({ job: job_of.get(stage_id)!, stage, ordinal }, this.#healthy),
      );
    }
  }

  async #decide(gates: { job_id: string; name: string; n: number }[]): Promise<void> {
    for (const { job_id, name, n } of gates) {
      // One that an earlier decision cancelled waits no more.
      const [open] = await this.db.sql`
        select from app.stages where job_id = ${job_id} and name = ${name} and status = 'waiting_approval'`;
      const approved = this.#healthy || n % 3 > 0;
      if (open) await this.db.sql`select app.decide_gate(${job_id}, ${name}, ${approved}, 'seen')`;
    }
  }

  async #resume(): Promise<void> {
    const ended = await this.db.sql<{ job_id: string }>`
      select job_id from app.jobs where status in ('failed', 'partial_success', 'cancelled') order by parameters -> 'n'`;
    for (const { job_id } of ended) {
      // One whose dependency has to go on first refuses, in both ways alike.
      await this.db.sql`select app.resume_job(${job_id})`.catch(({ code }) => expect(code).toBe("FF006"));
    }
  }

  async #step(name: string, work: () => Promise<unknown>): Promise<void> {
    await sleep(3);
    this.#began.push(Date.now());
    await sleep(3);
    await work();
    this.steps.push({ name: `${this.steps.length} ${name}`, rows: await this.#rows() });
  }

  /** All rows by job, without numbers given out; a time is the step it lies in. */
  async #rows(): Promise<Snapshot> {
    const own =
      "{stage_id,event_id,ready_id,delivery_id,worker_id,attempt_id,task_stage,task_ordinal,lone_stage,lone_ordinal}";
    const [row] = await this.db.sql<{ rows: Snapshot }>`
      select jsonb_build_object(
        'groups', (select jsonb_agg(to_jsonb(g) order by g.group_id) from app.job_groups g),
        'tallies', (select jsonb_object_agg(t.key, t.n) from (
          select name || ' ' || label as key, sum(amount) as n from app.tallies group by 1
          union all select job_type || ' ' || status, sum(amount) from app.job_tallies group by 1) t),
        'outbox', (select sum(hi - lo) from app.ready where task_type = 'connector.webhook.deliver'),
        'jobs', (select jsonb_object_agg(j.job_type || ' ' || (j.parameters ->> 'n'), jsonb_build_object(
          'job', to_jsonb(j) || jsonb_build_object('deadline_left_s', j.deadline_left_s is not null),
          'stages', (select jsonb_agg(to_jsonb(s) - ${own}::text[] order by s.number) from app.stages s where s.tenant_id = j.tenant_id and s.job_id = j.job_id),
          'tasks', (select jsonb_agg(to_jsonb(t) - ${own}::text[] || jsonb_build_object('stage', s.number) order by s.number, t.ordinal)
                      from app.stages s join app.tasks t on t.stage_id = s.stage_id where s.tenant_id = j.tenant_id and s.job_id = j.job_id),
          'ledgers', (select jsonb_agg(to_jsonb(p) - ${own}::text[] || jsonb_build_object('stage', s.number) order by s.number)
                        from app.stages s join app.stage_progress p on p.stage_id = s.stage_id where s.tenant_id = j.tenant_id and s.job_id = j.job_id),
          'ready', (select jsonb_agg(to_jsonb(r) - ${own}::text[] || jsonb_build_object('stage', s.number,
                        'turn', width_bucket(r.turn, array[0, 1, 4503599627370496]::bigint[])) order by s.number, r.lo)
                      from app.stages s join app.ready r on r.stage_id = s.stage_id where s.tenant_id = j.tenant_id and s.job_id = j.job_id),
          'results', (select jsonb_agg(to_jsonb(r) - ${own}::text[] || jsonb_build_object('stage', s.number) order by s.number, r.ordinal)
                        from app.stages s join app.results r on r.stage_id = s.stage_id where s.tenant_id = j.tenant_id and s.job_id = j.job_id),
          'attempts', (select jsonb_agg(to_jsonb(a) - ${own}::text[] || jsonb_build_object('stage', s.number) order by s.number, a.ordinal, a.attempt_id)
                        from app.stages s join app.attempts a on a.stage_id = s.stage_id where s.tenant_id = j.tenant_id and s.job_id = j.job_id),
          'rates', (select jsonb_object_agg(r.number, r.n) from (
            select s.number, array[sum(u.c), sum(u.f)] as n
              from app.rate_notes q, unnest(q.stages, q.completed, q.failed) as u(stage_id, c, f)
              join app.stages s on s.stage_id = u.stage_id where s.tenant_id = j.tenant_id and s.job_id = j.job_id group by 1) r),
          'events', (select jsonb_agg(to_jsonb(e) - ${own}::text[] || jsonb_build_object('stage', s.number) order by e.event_id)
                       from app.events e left join app.stages s on s.stage_id = e.stage_id where e.tenant_id = j.tenant_id and e.job_id = j.job_id),
          'dependencies', (select jsonb_agg(to_jsonb(d) order by d.depends_on) from app.job_dependencies d where d.tenant_id = j.tenant_id and d.job_id = j.job_id),
          'deliveries', (select jsonb_agg(to_jsonb(d) - ${own}::text[] || jsonb_build_object('payload', d.payload::jsonb) order by d.epoch)
                           from app.webhook_deliveries d where d.tenant_id = j.tenant_id and d.job_id = j.job_id))) from app.jobs j)) as rows`;
    const text = JSON.stringify(row!.rows).replace(/"\d{4}-\d\d-\d\dT[^"]*"/g, (time) => {
      const at = Date.parse(time.slice(1, -1));
      return at > Date.now() + 60_000 ? '"later"' : `"step ${this.#began.filter((begin) => begin < at).length}"`;
    });
    return JSON.parse(text) as Snapshot;
  }
}

/** Several only where none of them can cancel the job: the reason would name the last one that ended, and jobs that end in sets end together. */
function dependencies(known: string[], depends: number, { on_dependency_failure }: Record<string, unknown>): string[] {
  return known.slice(-depends).slice(0, on_dependency_failure === "run" ? depends : 1);
}

test(`jobs that go the long way, one by one, leave what those leave that are plain, and go in sets (seed ${seed})`, async () => {
  const jobs = new RandomJobs(random(seed)).of(JOBS);
  const [short, long] = [await freshDatabase(), await freshDatabase()];
  try {
    await long.db.script(LONG_WAY);
    const runs = [new Run(short.db, true), new Run(long.db, false)] as const;
    for (const run of runs) await run.play(jobs);
    const [one, other] = runs;
    for (const [position, { name, rows }] of one.steps.entries()) {
      const { jobs: expected, ...shared } = other.steps[position]!.rows as { jobs: Record<string, unknown> };
      const { jobs: seen, ...seen_shared } = rows as { jobs: Record<string, unknown> };
      for (const [job, found] of Object.entries(seen)) {
        const { stages } = jobs.find(({ type }) => job.startsWith(`${type} `))!;
        expect(found, `step ${name}, ${job}, seed ${seed}: ${JSON.stringify(stages)}`).toEqual(expected[job]);
      }
      expect(seen_shared, `step ${name}, seed ${seed}`).toEqual(shared);
    }
    expect(one.steps).toHaveLength(other.steps.length);
    const [ended] = await short.db.sql<{
      n: number;
    }>`select count(*)::integer as n from app.jobs where status = 'completed'`;
    expect(ended!.n).toBeGreaterThan(JOBS / 3);
  } finally {
    await short.drop();
    await long.drop();
  }
}, 120_000);

/** No stage is plain: every one is opened by itself, and planned. */
const LONG_WAY = `
  create or replace function app.is_plain(parallelism app.parallelism, batch integer, plan jsonb, condition jsonb, gate jsonb)
  returns boolean language sql immutable as $$ select false $$`;
