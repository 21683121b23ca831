// History goes by rule: what no rule keeps and nothing alive refers to disappears whole, its rows follow in pieces, and all else stays.
import { expect, test } from "vitest";
import type { Store } from "../../src/core/places/store.js";
import type { Database } from "../../src/engine/database/database.js";
import { Retention } from "../../src/engine/upkeep/retention.js";
import { Operator } from "../../src/engine/verbs/operator.js";
import { RetentionRules } from "../../src/engine/verbs/retention.js";
import { bothDatabases, freshDatabase } from "../postgres.js";
import { drain, expectSound, register, submit } from "./floor.js";

const day = 86_400;
const types = ["t.make", "t.fold", "t.lone"];
const stages = [
  { name: "make", task: "t.make", plan: { count: 3 }, max_attempts: 1 },
  { name: "fold", task: "t.fold", parallelism: "fan_in" },
];

/** Everything that has a time is so much older. */
async function age(db: Database, days: number): Promise<void> {
  const by = days * day;
  await db.script(`
    update app.jobs set created_at = created_at - make_interval(secs => ${by}), finished_at = finished_at - make_interval(secs => ${by});
    update app.results set finished_at = finished_at - make_interval(secs => ${by});
    update app.events set at = at - make_interval(secs => ${by});
    update app.idempotency_keys set created_at = created_at - make_interval(secs => ${by});
    update app.webhook_deliveries set created_at = created_at - make_interval(secs => ${by}), ended_at = ended_at - make_interval(secs => ${by})`);
}

/** Rows of each table of work. */
async function rows(db: Database): Promise<Record<string, number>> {
  const [row] = await db.sql<Record<string, number>>`
    select (select count(*)::int from app.jobs) as jobs, (select count(*)::int from app.stages where job_id is not null) as stages,
      (select count(*)::int from app.stage_progress) as progress, (select count(*)::int from app.tasks) as tasks,
      (select count(*)::int from app.results) as results, (select count(*)::int from app.attempts) as attempts,
      (select count(*)::int from app.idempotency_keys) as keys, (select count(*)::int from app.removed_stages) as left_over`;
  return row!;
}

bothDatabases("retention", (open) => {
  async function floor() {
    const db = (await open()) as Database;
    const worker = await register(db, [], 3600);
    const operate = new Operator(db, "default", {} as Store);
    const rules = new RetentionRules(db, "default");
    const ended = async (parameters: object, failing = false, type = "test_job") => {
      const { job_id } = await submit(db, stages, parameters, { type });
      await drain(db, worker, types, ({ stage, ordinal }) =>
        failing && stage === "make" && ordinal === 1 ? { category: "permanent" } : { result: { ordinal } },
      );
      return job_id;
    };
    const jobs = async () =>
      (await db.sql<{ job_id: string }>`select job_id from app.jobs order by 1`).map((one) => one.job_id);
    return { db, worker, operate, rules, ended, jobs };
  }

  test("completed jobs go after 90 days, failed ones stay longer, and nothing of a job that went is left but the audit", async () => {
    const { db, operate, rules, ended, jobs } = await floor();
    const good = await ended({ n: 1 });
    const bad = await ended({ n: 2 }, true);
    await operate.purge(good, { dry_run: true, actor: "key:ada" });
    await db.sql`select app.note('default', 'job.paused', ${good}, actor => 'key:ada')`;
    await age(db, 100);
    const young = await ended({ n: 3 });
    expect((await rules.get()).going).toEqual([
      expect.objectContaining({ kind: "jobs", type: "test_job", status: "completed", count: 1, at_least: false }),
    ]);
    expect(await Retention.now(db)).toMatchObject({ removed: 1, rows: 4 });
    expect(await jobs()).toEqual([bad, young].sort());
    expect(await rows(db)).toMatchObject({ jobs: 2, stages: 4, tasks: 7, left_over: 0 });
    expect(await db.sql`select kind from app.events where job_id = ${good} order by kind`).toEqual([
      { kind: "job.paused" },
    ]);
    const counted = await db.sql`select status::text, sum(amount)::int as n from app.job_tallies group by 1 order by 1`;
    expect(counted).toEqual([
      { status: "completed", n: 1 },
      { status: "failed", n: 1 },
    ]);
    await expectSound(db);
    await age(db, 300);
    await Retention.now(db);
    expect(await rows(db)).toMatchObject({
      jobs: 0,
      stages: 0,
      progress: 0,
      tasks: 0,
      results: 0,
      attempts: 0,
      left_over: 0,
    });
    // The same parameters are a new job, from the first run on.
    expect(await submit(db, stages, { n: 1 })).toMatchObject({ created: true, run: 1, job_id: good });
  });

  test("a rule of the tenant, the type and the status comes before a wider one, and the newest may be kept by number", async () => {
    const { db, rules, ended, jobs } = await floor();
    const nightly: string[] = [];
    for (let n = 0; n < 4; n++) {
      nightly.push(await ended({ n }, false, "nightly"));
      await age(db, 1);
    }
    const precious = await ended({ n: 9 }, false, "precious");
    await rules.change([
      { kind: "jobs", keep_s: 30 * day },
      { kind: "jobs", type: "nightly", keep_s: null, keep_count: 2 },
      { kind: "jobs", type: "precious", status: "completed", keep_s: null },
    ]);
    await Retention.now(db);
    expect(await jobs()).toEqual([nightly[2], nightly[3], precious].sort());
    await age(db, 400);
    const other = await ended({ n: 5 }, false, "other");
    await age(db, 31);
    await Retention.now(db);
    expect(await jobs()).toEqual([nightly[2], nightly[3], precious].sort());
    expect(await jobs()).not.toContain(other);
    await rules.change([{ kind: "jobs", type: "precious", status: "completed", remove: true }]);
    await Retention.now(db);
    expect(await jobs()).toEqual([nightly[2], nightly[3]].sort());
  });

  test("what something alive refers to stays: a job that another waits for, one of an open group, one with a webhook to deliver", async () => {
    const { db, operate, ended, jobs, worker } = await floor();
    const failed = await ended({ n: 1 }, true);
    const plain = await ended({ n: 2 });
    const { job_id: grouped } = await submit(db, stages, { n: 3 }, { options: { group_id: "open" } });
    await drain(db, worker, types);
    await db.sql`insert into app.webhook_deliveries (tenant_id, delivery_id, url, secrets, event_type, job_id, epoch, payload)
      values ('default', 'msg_00000000000000000001', 'https://receiver.example/x', '[]', 'job.completed', ${plain}, 1, '{}')`;
    const { job_id: waiting } = await submit(db, stages, { n: 4 });
    await db.sql`insert into app.job_dependencies (tenant_id, job_id, depends_on) values ('default', ${waiting}, ${failed})`;
    await age(db, 400);
    await Retention.now(db);
    expect(await jobs()).toEqual([failed, plain, grouped, waiting].sort());
    await expect(operate.purge(grouped)).rejects.toThrow(/its group "open" has not ended/);
    await expect(operate.purge(failed)).rejects.toThrow(/another job waits for it/);
    await expect(operate.purge(plain)).rejects.toThrow(/webhook about it is still to be delivered/);
    await expect(operate.purge(waiting)).rejects.toThrow(/not ended/);
    await db.sql`update app.webhook_deliveries set status = 'discarded', next_at = null, ended_at = now()`;
    expect(await operate.purge(plain, { reason: "a test", actor: "ada" })).toMatchObject({ changed: true, tasks: 4 });
    expect(await jobs()).not.toContain(plain);
    await expect(operate.purge(plain)).rejects.toThrow(/there is no job/);
    const noted =
      await db.sql`select actor, reason, data ->> 'status' as status from app.events where kind = 'job.purged'`;
    expect(noted).toEqual([{ actor: "ada", reason: "a test", status: "completed" }]);
  });

  test("lone tasks go with their keys, one that was queued again stays, and a wide stage goes in pieces", async () => {
    const { db, worker, jobs } = await floor();
    const enqueue = async (key: string) => {
      const [row] = await db.sql<{ reply: { task_id: string } }>`
        select app.enqueue('t.lone', '{}', idempotency_key => ${key}) as reply`;
      return row!.reply.task_id;
    };
    await enqueue("a");
    const again = await enqueue("b");
    await drain(db, worker, types);
    await age(db, 40);
    await enqueue("c");
    await drain(db, worker, types);
    await db.sql`select app.redo_task(${again})`;
    await submit(db, [{ name: "wide", task: "t.make", plan: { count: 1000 } }]);
    await drain(db, worker, ["t.make"]);
    await Retention.now(db);
    expect(await rows(db)).toMatchObject({ jobs: 1, tasks: 1002, keys: 2 });
    await age(db, 100);
    const [wide] = await jobs();
    await db.sql`select app.purge_job(${wide!})`;
    const pieces: number[] = [];
    for (;;) {
      const [row] = await db.sql<{ gone: number | null }>`select app.remove_rows(300)::int as gone`;
      if (row!.gone === null) break;
      pieces.push(row!.gone);
    }
    // Ordinal -1, the planning of the stage, is the first of the first piece.
    expect(pieces).toEqual([299, 300, 300, 101]);
    await expectSound(db);
  });

  test("rows of many small jobs go together, of as many as a piece may have", async () => {
    const { db, worker, jobs } = await floor();
    for (let n = 0; n < 30; n++) await submit(db, [{ name: "small", task: "t.wide", plan: { count: 4 } }], { n });
    await drain(db, worker, ["t.wide"]);
    const ended = await jobs();
    expect(ended).toHaveLength(30);
    for (const job_id of ended.slice(1)) await db.sql`select app.purge_job(${job_id})`;
    const piece = async (most: number) => {
      const [row] = await db.sql<{ gone: number | null }>`select app.remove_rows(${most}::integer)::int as gone`;
      return row!.gone;
    };
    // Each has an ordinal -1 of its planning, too.
    expect([await piece(14), await piece(15), await piece(5000), await piece(5000)]).toEqual([8, 12, 96, null]);
    expect(await rows(db)).toMatchObject({ jobs: 1, tasks: 4 });
    await expectSound(db);
  });

  test("everything that is wrong with rules is said at once", async () => {
    const { rules } = await floor();
    const wrong = [
      { kind: "jobs", status: "delivered", keep_s: -1 },
      { kind: "audit", type: "x", keep_count: 5 },
      { kind: "sand" },
    ] as never;
    await expect(rules.change(wrong)).rejects.toMatchObject({
      problems: [
        { path: "$.rules[0].keep_s" },
        { path: "$.rules[0].status" },
        { path: "$.rules[1].keep_count" },
        { path: "$.rules[1].type" },
        { path: "$.rules[2].kind" },
      ],
    });
  });
});

test("a repair and a purge of the same job come one after the other: one of them finds the job as the other left it", async () => {
  const { db, drop } = await freshDatabase();
  try {
    const worker = await register(db, [], 3600);
    const { job_id } = await submit(db, stages);
    await drain(db, worker, types, ({ ordinal, stage }) =>
      stage === "make" && ordinal === 0 ? { category: "permanent" } : {},
    );
    let purged: Promise<unknown> = Promise.resolve();
    await db.transaction(async (tx) => {
      await tx.sql`select app.resume_job(${job_id})`;
      purged = db.sql`select app.purge_job(${job_id})`.then(
        () => "purged",
        (error: Error) => error.message,
      );
      await expect
        .poll(async () => (await db.sql`select from pg_stat_activity where wait_event_type = 'Lock'`).length)
        .toBe(1);
    });
    expect(await purged).toMatch(/is processing, not ended|is queued, not ended/);
    await drain(db, worker, types);
    let resumed: Promise<unknown> = Promise.resolve();
    await db.transaction(async (tx) => {
      await tx.sql`select app.purge_job(${job_id})`;
      resumed = db.sql`select app.retry_stage(${job_id}, 'make')`.then(
        () => "resumed",
        (error: Error) => error.message,
      );
      await expect
        .poll(async () => (await db.sql`select from pg_stat_activity where wait_event_type = 'Lock'`).length)
        .toBe(1);
    });
    expect(await resumed).toMatch(/there is no job/);
    expect((await rows(db)).jobs).toBe(0);
    await expectSound(db);
  } finally {
    await drop();
  }
});

test("a tenant's open transaction keeps its own history and nobody else's", async () => {
  const { db, drop } = await freshDatabase();
  try {
    await db.sql`select app.create_tenant('acme')`;
    const worker = await register(db, [], 3600);
    const mine = await submit(db, stages);
    const theirs = await submit(db, stages, {}, { tenant: "acme" });
    await drain(db, worker, types);
    await age(db, 100);
    await db.transaction(async (tx) => {
      await tx.sql`select from app.jobs where job_id = ${theirs.job_id} for update`;
      await Retention.now(db);
      expect(await db.sql`select job_id from app.jobs`).toEqual([{ job_id: theirs.job_id }]);
    });
    await Retention.now(db);
    expect((await rows(db)).jobs).toBe(0);
    expect(mine.job_id).not.toBe(theirs.job_id);
  } finally {
    await drop();
  }
});

test("a job whose first run went by rule is still the one that is there: a repeat is its later run", async () => {
  const { db, drop } = await freshDatabase();
  try {
    const worker = await register(db, [], 3600);
    const first = await submit(db, stages, { n: 1 });
    await drain(db, worker, types);
    await age(db, 100);
    const second = await submit(db, stages, { n: 1 }, { mode: "force" });
    await drain(db, worker, types);
    await Retention.now(db);
    expect(await db.sql`select job_id from app.jobs`).toEqual([{ job_id: second.job_id }]);
    expect(await submit(db, stages, { n: 1 })).toMatchObject({ job_id: second.job_id, created: false, run: 2 });
    const [blueprint] = await db.sql<{ blueprint_hash: string }>`select blueprint_hash from app.jobs`;
    const [kept] = await db.sql`select app.submit_kept_job(${blueprint!.blueprint_hash}, '{"n":1}') as reply`;
    expect(kept).toEqual({ reply: null });
    expect(first.job_id).not.toBe(second.job_id);
  } finally {
    await drop();
  }
});
