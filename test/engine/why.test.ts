// The first blocking reason of open jobs and tasks, each from the rows that prove it. What has to be long ago is moved into the
// past in the rows; nothing sleeps.
import { expect, test } from "vitest";
import { worker_commands } from "../../src/engine/work/commands.js";
import { bothDatabases } from "../postgres.js";
import { claim, drain, finish, one, register, type StageData, submit } from "./floor.js";
import { beat, bound, idOf, longAgo, silence, swept } from "./past.js";

const fan = (n: number, extra: object = {}): StageData => ({
  name: "cog",
  task: "raster.cog",
  plan: { count: n, index: "t{ordinal}" },
  ...extra,
});
const last: StageData = { name: "publish", task: "raster.publish" };

bothDatabases("why an open job or task does not move", (open, kind) => {
  test("RUNNING: tasks that run as usual are no blocker, and the answer counts them", async () => {
    const db = await open();
    const { why } = bound(db);
    const { job_id } = await submit(db, [fan(10), last]);
    const worker = await register(db, ["raster.cog"]);
    const tasks = await claim(db, worker, ["raster.cog"], 3);
    await beat(db, worker, tasks);
    await longAgo(db, 60);
    const reply = await why(job_id.slice(0, 10));
    expect(reply).toMatchObject({
      id: job_id,
      status: "processing",
      code: "RUNNING",
      evidence: { stages: [{ stage: "cog", total: 10, held: 3, running: 3, queued: 7 }], waiting: ["publish"] },
      command: null,
    });
    expect(reply.evidence.slowest).toHaveLength(3);
    expect(await why(idOf(tasks[0]!))).toMatchObject({ code: "RUNNING", status: "processing" });
  });

  test("RUNNING: a task that finished within half a minute is progress, and one long ago is not", async () => {
    const db = await open();
    const { why } = bound(db);
    const { job_id } = await submit(db, [fan(10)]);
    const worker = await register(db, ["raster.cog"]);
    await finish(db, worker, await claim(db, worker, ["raster.cog"], 3));
    await worker_commands.stop_worker(db, { worker_id: worker });
    expect(await why(job_id)).toMatchObject({ code: "RUNNING", evidence: { last_finished_at: expect.any(String) } });
    await longAgo(db, 31);
    expect(await why(job_id)).toMatchObject({ code: "NO_WORKER_FOR_TYPE" });
  });

  test("JOB_PAUSED: who, why and how to go on, for the job and for its queued tasks, put aside or not", async () => {
    const db = await open();
    const { why, operate } = bound(db);
    const { job_id } = await submit(db, [fan(3)]);
    await operate.pause(job_id, { reason: "wrong\u001b[31m data", actor: "ada" });
    const paused = {
      code: "JOB_PAUSED",
      reason: expect.stringContaining("paused by ada: wrong\u001b[31m data"),
      evidence: { paused_by: "ada", queued: 3, held: 0 },
      since: expect.any(String),
      heals_at: null,
      command: `fanfold continue ${job_id.slice(0, 12)}`,
    };
    expect(await why(job_id)).toMatchObject(paused);
    // A claim puts the row aside, under a type of its own.
    const worker = await register(db, ["raster.cog"]);
    expect(await claim(db, worker, ["raster.cog"])).toEqual([]);
    const [row] = await db.sql<{
      task_type: string;
      stage_id: number;
    }>`select task_type, stage_id::integer from app.ready`;
    expect(row!.task_type).toBe("#paused:raster.cog");
    expect(await why(`${row!.stage_id}-1`)).toMatchObject({ ...paused, status: "queued" });
    await operate.continue(job_id);
    expect((await why(job_id)).code).toBe("STARTING");
  });

  test("JOB_PAUSED: a task that runs on is not what the pause keeps", async () => {
    const db = await open();
    const { why, operate } = bound(db);
    const { job_id } = await submit(db, [fan(3)]);
    const worker = await register(db, ["raster.cog"]);
    const tasks = await claim(db, worker, ["raster.cog"], 1);
    await beat(db, worker, tasks);
    await operate.pause(job_id);
    expect(await why(idOf(tasks[0]!))).toMatchObject({ code: "RUNNING" });
    expect(await why(job_id)).toMatchObject({ code: "JOB_PAUSED", evidence: { queued: 2, held: 1 } });
  });

  test("QUEUE_PAUSED: a paused task type is told with who and why, for jobs and for lone tasks", async () => {
    const db = await open();
    const { why, operate } = bound(db);
    const { job_id } = await submit(db, [fan(3)]);
    const lone = await one(db.sql<{ reply: { task_id: string } }>`select app.enqueue('raster.cog', '{}') as reply`);
    await operate.pauseType("raster.cog", { reason: "licence ran out", actor: "bob" });
    const paused = {
      code: "QUEUE_PAUSED",
      reason: expect.stringContaining("paused by bob: licence ran out"),
      evidence: { task_type: "raster.cog" },
      since: expect.any(String),
      command: "fanfold continue --type raster.cog",
    };
    expect(await why(job_id)).toMatchObject(paused);
    expect(await why(lone.reply.task_id)).toMatchObject(paused);
  });

  test("WAITING_APPROVAL: the gate's message and the command", async () => {
    const db = await open();
    const { why } = bound(db);
    const { job_id } = await submit(db, [{ ...last, gate: { message: "look at the map first" } }]);
    expect(await why(job_id)).toMatchObject({
      code: "WAITING_APPROVAL",
      reason: expect.stringContaining("look at the map first"),
      evidence: { stage: "publish", message: "look at the map first" },
      since: expect.any(String),
      command: `fanfold approve ${job_id.slice(0, 12)}`,
    });
  });

  test("WAITING_APPROVAL: with two gates the command names the stage", async () => {
    const db = await open();
    const { why } = bound(db);
    const gate = { message: "yes?" };
    const stages = [
      { name: "one", task: "t.one", after: [], gate },
      { name: "two", task: "t.two", after: [], gate },
    ];
    const { job_id } = await submit(db, stages);
    expect((await why(job_id)).command).toBe(`fanfold approve ${job_id.slice(0, 12)} --stage two`);
  });

  test("LEASE_EXPIRED_PENDING_SWEEP: says since when no heartbeat came, and never that the worker died", async () => {
    const db = await open();
    const { why } = bound(db);
    const { job_id } = await submit(db, [fan(1)]);
    const worker = await register(db, ["raster.cog"], 30);
    const [task] = await claim(db, worker, ["raster.cog"]);
    await swept(db);
    await silence(db, worker, 40);
    const reply = await why(job_id);
    expect(reply).toMatchObject({
      code: "LEASE_EXPIRED_PENDING_SWEEP",
      evidence: { worker: { worker_id: worker, status: "live" }, held: 1 },
      heals_at: null,
      heals: expect.stringContaining("no worker is live that would sweep"),
      command: "fanfold sweep",
    });
    expect(reply.reason).toContain(`worker ${worker}, which has sent no heartbeat since`);
    expect(reply.reason).not.toMatch(/died|dead|crash/);
    const ended = await one(db.sql<{ at: string }>`
      select to_json(heartbeat_at + make_interval(secs => lease_s)) #>> '{}' as at from app.workers`);
    expect(Date.parse(reply.since!)).toBe(Date.parse(ended.at));
    // With another worker alive, it heals within a sweep's period.
    await register(db, ["other.type"]);
    const healing = await why(idOf(task!));
    expect(healing).toMatchObject({
      code: "LEASE_EXPIRED_PENDING_SWEEP",
      heals: expect.stringContaining("five seconds"),
    });
    expect(Date.parse(healing.heals_at!)).toBeLessThan(Date.parse(healing.since!) + 60_000);
    await silence(db, worker, 4000);
    await db.sql`select app.reap_workers()`;
    expect((await why(job_id)).code).not.toBe("LEASE_EXPIRED_PENDING_SWEEP");
  });

  test("JANITOR_LATE: told only when a sweep is what would help, with what it would help", async () => {
    const db = await open();
    const { why } = bound(db);
    const { job_id } = await submit(db, [fan(1)]);
    await swept(db);
    await db.sql`update app.janitor set last_success_at = now() - interval '10 minutes'`;
    // Late or not, nobody needs a sweep here.
    expect((await why(job_id)).code).toBe("NO_WORKER_FOR_TYPE");
    const worker = await register(db, ["raster.cog"]);
    await claim(db, worker, ["raster.cog"]);
    await silence(db, worker, 40);
    const told = await why(job_id);
    expect(told).toMatchObject({
      code: "JANITOR_LATE",
      reason: expect.stringContaining("no sweep has ended well since"),
      evidence: { janitor: { late: true }, blocked: { code: "LEASE_EXPIRED_PENDING_SWEEP" } },
      heals_at: null,
      command: "fanfold sweep",
    });
    expect((told.evidence.janitor as { age_s: number }).age_s).toBeGreaterThanOrEqual(600);
  });

  test("CLAIMED, then CLAIMED_NOT_STARTED: until a heartbeat came, rows do not say whether it runs", async () => {
    const db = await open();
    const { why } = bound(db);
    const { job_id } = await submit(db, [fan(2)]);
    const worker = await register(db, ["raster.cog"], 30);
    const tasks = await claim(db, worker, ["raster.cog"]);
    expect(await why(idOf(tasks[0]!))).toMatchObject({
      code: "CLAIMED",
      reason: expect.stringContaining("its next heartbeat will say"),
      evidence: { worker: { worker_id: worker }, slots: 4, worker_holds: 2 },
    });
    expect((await why(job_id)).code).toBe("RUNNING");
    // A heartbeat from before the claim cannot have named it, however late the next one is.
    await silence(db, worker, 14);
    await longAgo(db, 10);
    expect((await why(idOf(tasks[0]!))).code).toBe("CLAIMED");
    await worker_commands.heartbeat(db, { worker_id: worker, running: [], claims: [tasks[0]!.claim_id] });
    const held = {
      code: "CLAIMED_NOT_STARTED",
      reason: expect.stringContaining("does not name it as running"),
      evidence: { worker_runs: 0, worker_holds: 2 },
      heals: expect.stringContaining("lease ends"),
    };
    expect(await why(job_id)).toMatchObject(held);
    expect(await why(idOf(tasks[1]!))).toMatchObject(held);
    // One that runs as usual speaks for those claimed ahead.
    await beat(db, worker, [tasks[0]!]);
    expect((await why(job_id)).code).toBe("RUNNING");
    expect((await why(idOf(tasks[1]!))).code).toBe("CLAIMED_NOT_STARTED");
  });

  test("HEARTBEAT_NO_PROGRESS: only when the heartbeat itself says how long progress stood still", async () => {
    const db = await open();
    const { why } = bound(db);
    const { job_id } = await submit(db, [fan(1, { timeout_s: 600 })]);
    const worker = await register(db, ["raster.cog"]);
    const tasks = await claim(db, worker, ["raster.cog"]);
    const progress = { done: 3, total: 7, message: "tiles" };
    await beat(db, worker, tasks, { elapsed_s: 300, progress });
    expect(await why(job_id)).toMatchObject({ code: "RUNNING" });
    expect((await why(idOf(tasks[0]!))).reason).toContain("last progress 3 of 7 tiles");
    await beat(db, worker, tasks, { elapsed_s: 300, progress, progress_age_s: 59 });
    expect((await why(job_id)).code).toBe("RUNNING");
    await beat(db, worker, tasks, { elapsed_s: 300, progress, progress_age_s: 120 });
    const reply = await why(job_id);
    expect(reply).toMatchObject({
      code: "HEARTBEAT_NO_PROGRESS",
      reason: expect.stringContaining("the same progress (3 of 7 tiles) for 120 s"),
      evidence: { elapsed_s: 300, timeout_s: 600, progress, progress_age_s: 120 },
      heals: expect.stringContaining("time-out"),
    });
    expect(Date.parse(reply.heals_at!) - Date.parse(reply.since!)).toBe(420_000);
    // A short time-out asks for a minute all the same, a long one for a tenth of it.
    await db.sql`update app.stages set timeout_s = 400`;
    await beat(db, worker, tasks, { elapsed_s: 300, progress, progress_age_s: 59 });
    expect((await why(job_id)).code).toBe("RUNNING");
    await db.sql`update app.stages set timeout_s = 3000`;
    await beat(db, worker, tasks, { elapsed_s: 300, progress, progress_age_s: 299 });
    expect((await why(job_id)).code).toBe("RUNNING");
  });

  test("STRAGGLER: more than three times the p95 of at least twenty, and not of nineteen", async () => {
    const db = await open();
    const { why } = bound(db);
    const { job_id } = await submit(db, [fan(21)]);
    const worker = await register(db, ["raster.cog"]);
    const tasks = await claim(db, worker, ["raster.cog"], 19);
    await finish(db, worker, tasks);
    const [twentieth, slow] = await claim(db, worker, ["raster.cog"], 2);
    await db.sql`update app.results set duration_ms = 10000`;
    await beat(db, worker, [slow!], { elapsed_s: 31 });
    await longAgo(db, 60);
    expect((await why(job_id)).code).toBe("RUNNING");
    await finish(db, worker, [twentieth!]);
    await db.sql`update app.results set duration_ms = 10000, finished_at = now() - interval '1 minute'`;
    expect(await why(job_id)).toMatchObject({
      code: "STRAGGLER",
      reason: expect.stringContaining("31 s, more than three times"),
      evidence: { elapsed_s: 31, p95_s: 10 },
      since: expect.any(String),
    });
    await beat(db, worker, [slow!], { elapsed_s: 30 });
    expect((await why(job_id)).code).toBe("RUNNING");
    // Three times a few milliseconds is nothing to talk about.
    await db.sql`update app.results set duration_ms = 5`;
    await beat(db, worker, [slow!], { elapsed_s: 2 });
    expect((await why(job_id)).code).toBe("RUNNING");
  });

  test("TIMEOUT_PENDING_SWEEP: a minute past its time-out a sweep fails the attempt, unless nobody sweeps", async () => {
    const db = await open();
    const { why } = bound(db);
    const { job_id } = await submit(db, [fan(1, { timeout_s: 100 })]);
    const worker = await register(db, ["raster.cog"]);
    await beat(db, worker, await claim(db, worker, ["raster.cog"]), { elapsed_s: 161 });
    await swept(db);
    expect(await why(job_id)).toMatchObject({
      code: "TIMEOUT_PENDING_SWEEP",
      reason: expect.stringContaining("had run 161 s"),
      heals_at: expect.any(String),
      command: "fanfold sweep",
    });
    await db.sql`update app.janitor set last_success_at = now() - interval '10 minutes'`;
    expect(await why(job_id)).toMatchObject({
      code: "JANITOR_LATE",
      evidence: { blocked: { code: "TIMEOUT_PENDING_SWEEP" } },
      heals: expect.stringContaining("their sweeps do not end well"),
    });
  });

  test("NO_WORKER_FOR_TYPE: what the live workers do register, and nothing of other tenants' workers", async () => {
    const db = await open();
    const { why } = bound(db);
    const { job_id } = await submit(db, [fan(5)]);
    expect(await why(job_id)).toMatchObject({
      code: "NO_WORKER_FOR_TYPE",
      reason: expect.stringContaining("no live worker serves"),
      evidence: { stage: "cog", task_type: "raster.cog", live_workers: 0, queued: 5 },
      since: expect.any(String),
      command: "fanfold up",
    });
    await register(db, ["mail.send", "#plan"]);
    const silent = await register(db, ["raster.cog"]);
    await silence(db, silent, 31);
    await db.sql`insert into app.tenants (tenant_id) values ('globex')`;
    const theirs = await register(db, ["raster.cog", "globex.secret"]);
    await db.sql`update app.workers set tenant_id = 'globex' where worker_id = ${theirs}::text::uuid`;
    const reply = await why(job_id);
    expect(reply).toMatchObject({
      code: "NO_WORKER_FOR_TYPE",
      reason: expect.stringMatching(/^no live worker registers raster\.cog, .* serve this tenant: 1$/),
      evidence: { live_workers: 1, registered_types: ["#plan", "mail.send"] },
    });
    expect(JSON.stringify(reply)).not.toContain("globex");
  });

  test("NO_WORKER_FOR_TYPE: a stage that needs a planner names the planning and its type", async () => {
    const db = await open();
    const { why } = bound(db);
    const blueprint = { type: "coded", stages: [{ name: "plan", task: "t.x", plan: { function: "hash" } }] };
    const [row] = await db.sql<{ reply: { job_id: string }[] }>`select app.submit_jobs(
      ${JSON.stringify(blueprint)}::text::jsonb, '{"jobs":[{"parameters":"{}"}]}') as reply`;
    const { job_id } = row!.reply[0]!;
    await register(db, ["t.x", "#plan"]);
    expect(await why(job_id)).toMatchObject({
      code: "NO_WORKER_FOR_TYPE",
      reason: expect.stringMatching(/registers #plan:coded, which the planning of stage "plan" needs/),
      evidence: { task_type: "#plan:coded" },
    });
    const planner = await register(db, ["#plan:coded"]);
    expect((await why(job_id)).code).toBe("STARTING");
    await claim(db, planner, ["#plan:coded"]);
    expect(await why(job_id)).toMatchObject({ code: "RUNNING", reason: expect.stringContaining("being planned") });
  });

  test("TENANT_LIMIT: the limit and who holds it", async () => {
    const db = await open();
    const { why } = bound(db);
    await db.sql`select app.set_limits('default', 2)`;
    const holder = await submit(db, [fan(2)], { first: true });
    const worker = await register(db, ["raster.cog"]);
    const held = await claim(db, worker, ["raster.cog"]);
    const { job_id } = await submit(db, [fan(3)]);
    expect(await why(job_id)).toMatchObject({
      code: "TENANT_LIMIT",
      reason: expect.stringContaining("may have 2 tasks in hand at once, and has 2"),
      evidence: { concurrent_tasks: 2, held: 2, holders: [{ job_id: holder.job_id, stage: "cog", held: 2 }] },
      heals: expect.stringContaining("when one of them ends"),
    });
    await finish(db, worker, held.slice(1));
    expect((await why(job_id)).code).toBe("STARTING");
  });

  test("STAGE_LIMIT: a queued task behind max_parallel", async () => {
    const db = await open();
    const { why } = bound(db);
    const { job_id } = await submit(db, [fan(5, { max_parallel: 2 })]);
    const worker = await register(db, ["raster.cog"]);
    const tasks = await claim(db, worker, ["raster.cog"]);
    expect(tasks).toHaveLength(2);
    await beat(db, worker, tasks);
    expect(await why(`${tasks[0]!.stage_id}-4`)).toMatchObject({
      code: "STAGE_LIMIT",
      status: "queued",
      evidence: { max_parallel: 2, held: 2, slowest: [{ elapsed_s: 5 }, { elapsed_s: 5 }] },
    });
    expect((await why(job_id)).code).toBe("RUNNING");
  });

  test("SCHEDULED_LATER: when it is due, and how a lone task is run now", async () => {
    const db = await open();
    const { why } = bound(db);
    const { reply } = await one(db.sql<{ reply: { task_id: string } }>`
      select app.enqueue('mail.send', '{}', run_at => '2099-01-01T00:00Z') as reply`);
    expect(await why(reply.task_id)).toMatchObject({
      code: "NO_WORKER_FOR_TYPE",
      reason: expect.stringContaining("not due before 2099-01-01 00:00:00Z"),
    });
    await register(db, ["mail.send"]);
    const answer = await why(reply.task_id);
    expect(answer).toMatchObject({ code: "SCHEDULED_LATER", status: "queued", since: expect.any(String) });
    expect(Date.parse(answer.heals_at!)).toBe(Date.parse("2099-01-01T00:00Z"));
    const [, at] = answer.command!.match(new RegExp(`^fanfold tasks reschedule ${reply.task_id} (.+Z)$`))!;
    await db.sql`select app.reschedule_task(${reply.task_id}, ${at!}::text::timestamptz)`;
    expect((await why(reply.task_id)).code).toBe("STARTING");
  });

  test("BACKOFF: the next attempt, of how many, and the last error", async () => {
    const db = await open();
    const { why } = bound(db);
    const { job_id } = await submit(db, [fan(1, { max_attempts: 5 })]);
    const worker = await register(db, ["raster.cog"]);
    const tasks = await claim(db, worker, ["raster.cog"]);
    await finish(db, worker, tasks, () => ({ category: "transient", message: "the disk is full", retry_after_s: 600 }));
    const backoff = {
      code: "BACKOFF",
      reason: expect.stringMatching(/attempt 2 of 5; the last error: the disk is full/),
      evidence: { attempt: 2, of: 5, last_error: { category: "transient", message: "the disk is full" } },
      command: null,
    };
    const reply = await why(job_id);
    expect(reply).toMatchObject(backoff);
    expect(Date.parse(reply.heals_at!) - Date.parse(reply.since!)).toBeGreaterThanOrEqual(600_000);
    expect(await why(idOf(tasks[0]!))).toMatchObject(backoff);
  });

  test("BACKOFF: a throttled first attempt is no schedule", async () => {
    const db = await open();
    const { why } = bound(db);
    const { reply } = await one(db.sql<{ reply: { task_id: string } }>`select app.enqueue('mail.send', '{}') as reply`);
    const worker = await register(db, ["mail.send"]);
    const tasks = await claim(db, worker, ["mail.send"]);
    await finish(db, worker, tasks, () => ({ category: "throttled", message: "429", retry_after_s: 60 }));
    expect(await why(reply.task_id)).toMatchObject({
      code: "BACKOFF",
      evidence: { attempt: 1, throttles: 1, last_error: { message: "429" } },
      command: expect.stringContaining(`fanfold tasks reschedule ${reply.task_id}`),
    });
    await db.sql`select app.reschedule_task(${reply.task_id}, '2099-01-01T00:00Z')`;
    expect((await why(reply.task_id)).code).toBe("SCHEDULED_LATER");
  });

  test("WORKERS_BUSY: who has the slots, the position by priority and turns, and no forecast without a pace", async () => {
    const db = await open();
    const { why } = bound(db);
    const worker = await register(db, ["raster.cog"]);
    const before = await submit(db, [fan(14)], { first: true });
    const held = await claim(db, worker, ["raster.cog"], 4);
    await beat(db, worker, held);
    const { job_id } = await submit(db, [fan(3)]);
    const { stage_id } = await one(
      db.sql<{ stage_id: number }>`select max(stage_id)::integer as stage_id from app.stages`,
    );
    expect(await why(`${stage_id}-2`)).toMatchObject({
      code: "WORKERS_BUSY",
      reason: `4 slots of the live workers (1) that register raster.cog are taken by test_job ${before.job_id.slice(0, 12)} (14 tasks to go); jobs take turns, 5 tasks before task ${stage_id}-2`,
      // Two of its own, and of the job before it three: it had the first turn.
      evidence: {
        live_workers: 1,
        slots: 4,
        held: 4,
        before: 5,
        ahead: [{ job_id: before.job_id, job_type: "test_job", task_type: "raster.cog", held: 4, left: 14 }],
      },
      heals_at: null,
    });
    await db.sql`update app.ready set priority = 5 where stage_id = ${stage_id}::bigint`;
    expect(await why(`${stage_id}-2`)).toMatchObject({ code: "WORKERS_BUSY", evidence: { before: 2 } });
    expect(await why(job_id)).toMatchObject({ code: "WORKERS_BUSY", evidence: { before: 0 } });
    await db.sql`update app.ready set priority = 9 where stage_id <> ${stage_id}::bigint`;
    expect(await why(`${stage_id}-2`)).toMatchObject({ evidence: { before: 12 } });
    await db.sql`update app.ready set run_at = now() + interval '1 hour' where stage_id <> ${stage_id}::bigint`;
    expect(await why(`${stage_id}-2`)).toMatchObject({ evidence: { before: 2 } });
    expect((await why(before.job_id)).code).toBe("RUNNING");
    // A slot that is free: it starts.
    await finish(db, worker, held.slice(3));
    expect((await why(job_id)).code).toBe("STARTING");
  });

  test("WORKERS_BUSY: with a pace there is a forecast", async () => {
    const db = await open();
    const { why } = bound(db);
    const worker = await register(db, ["raster.cog"]);
    await submit(db, [fan(24)], { first: true });
    await finish(db, worker, await claim(db, worker, ["raster.cog"], 10));
    await db.sql`update app.results set finished_at = now() - interval '20 seconds'`;
    await claim(db, worker, ["raster.cog"], 4);
    await submit(db, [fan(1)]);
    const { stage_id } = await one(
      db.sql<{ stage_id: number }>`select max(stage_id)::integer as stage_id from app.stages`,
    );
    const reply = await why(`${stage_id}-0`);
    expect(reply).toMatchObject({ code: "WORKERS_BUSY", evidence: { before: 1 }, heals_at: expect.any(String) });
    expect(reply.reason).toMatch(/1 task before task \d+-0, about \d+ s$/);
    // Ten in twenty seconds, give or take what the test itself takes.
    expect(reply.evidence.per_s as number).toBeGreaterThan(0.1);
    expect(reply.evidence.per_s as number).toBeLessThanOrEqual(0.5);
  });

  test("STARTING: due with a free slot; after half a minute it is UNKNOWN, our bug", async () => {
    const db = await open();
    const { why } = bound(db);
    const { job_id } = await submit(db, [fan(1)]);
    await register(db, ["raster.cog"]);
    expect(await why(job_id)).toMatchObject({ code: "STARTING", heals_at: expect.any(String) });
    await longAgo(db, 31);
    expect(await why(job_id)).toMatchObject({ code: "UNKNOWN", reason: expect.stringContaining("should not happen") });
  });

  test("WAITING_STAGE: what is left in the stage before, its slowest tasks, and why that one does not move", async () => {
    const db = await open();
    const { why, operate } = bound(db);
    const { job_id } = await submit(db, [fan(7), { name: "middle", task: "t.middle", parallelism: "fan_in" }, last]);
    const worker = await register(db, ["raster.cog", "t.middle", "raster.publish"]);
    const ran = await drain(db, worker, ["raster.cog", "t.middle", "raster.publish"], ({ stage }) =>
      stage === "publish" ? { category: "permanent" } : {},
    );
    const publish = ran.find(({ stage }) => stage === "publish")!;
    expect((await why(job_id)).code).toBe("UPSTREAM_FAILED");
    await operate.retryStage(job_id, "cog");
    const tasks = await claim(db, worker, ["raster.cog"], 6);
    const running = tasks.map(({ claim_id, stage_id, ordinal }, position) => {
      return { claim_id, stage_id, ordinal, elapsed_s: position + 1, progress: null };
    });
    await worker_commands.heartbeat(db, { worker_id: worker, running, claims: [tasks[0]!.claim_id] });
    const reply = await why(idOf(publish));
    expect(reply).toMatchObject({
      code: "WAITING_STAGE",
      reason: expect.stringContaining('waits for stage "cog": 7 of 7 tasks are left there'),
      evidence: { before: "cog", left: 7, total: 7, there: { code: "RUNNING" } },
    });
    expect((reply.evidence.slowest as { elapsed_s: number }[]).map((task) => task.elapsed_s)).toEqual([6, 5, 4, 3, 2]);
    await worker_commands.stop_worker(db, { worker_id: worker });
    expect(await why(idOf(publish))).toMatchObject({
      code: "WAITING_STAGE",
      evidence: { there: { code: "NO_WORKER_FOR_TYPE" } },
      command: "fanfold up",
    });
  });

  test("a failed task that a repair of another leaves alone is failed, though its stage waits", async () => {
    const db = await open();
    const { why, operate } = bound(db);
    const follow = { name: "follow", task: "t.follow", parallelism: "match_previous", failure_budget: { count: 1 } };
    const { job_id } = await submit(db, [{ ...fan(2), failure_budget: { count: 1 } }, follow]);
    const worker = await register(db);
    const ran = await drain(db, worker, ["raster.cog", "t.follow"], ({ stage, ordinal }) =>
      ordinal === (stage === "follow" ? 0 : 1) ? { category: "permanent" } : {},
    );
    const of = (stage: string, ordinal: number) =>
      idOf(ran.find((task) => task.stage === stage && task.ordinal === ordinal)!);
    await operate.retryTask(of("cog", 1));
    expect((await why(job_id)).code).toBe("RUNNING");
    expect(await why(of("follow", 0))).toMatchObject({ code: "FAILED", command: null });
  });

  test("UNKNOWN: a state that cannot be is told with what the janitor's check says of it", async () => {
    const db = await open();
    const { why } = bound(db);
    const { job_id } = await submit(db, [fan(3), last]);
    const { stage_id } = await one(db.sql<{ stage_id: number }>`delete from app.ready returning stage_id::integer`);
    expect(await why(job_id)).toMatchObject({
      code: "UNKNOWN",
      evidence: { trouble: "its tasks are nowhere", stage: "cog", stages: [{ stage: "cog" }, { stage: "publish" }] },
      command: "fanfold sweep",
    });
    expect(await why(`${stage_id}-1`)).toMatchObject({
      code: "UNKNOWN",
      reason: expect.stringContaining("neither queued nor held nor done"),
      evidence: { trouble: "its tasks are nowhere" },
      command: "fanfold sweep",
    });
  });

  test("UNKNOWN: a stage that cannot be as it is is told although another runs", async () => {
    const db = await open();
    const { why } = bound(db);
    const { job_id } = await submit(db, [
      { name: "left", task: "t.left", after: [] },
      { name: "right", task: "t.right", after: [] },
    ]);
    const worker = await register(db, ["t.left", "t.right"]);
    await beat(db, worker, await claim(db, worker, ["t.right"]));
    await db.sql`delete from app.ready`;
    expect(await why(job_id)).toMatchObject({ code: "UNKNOWN", evidence: { stage: "left" } });
  });

  test("UNKNOWN: a row put aside although its job is not paused", async () => {
    const db = await open();
    const { why } = bound(db);
    const { job_id } = await submit(db, [fan(3)]);
    await db.sql`update app.ready set task_type = '#paused:' || task_type`;
    await register(db, ["raster.cog"]);
    expect(await why(job_id)).toMatchObject({ code: "UNKNOWN", command: "fanfold sweep" });
    await db.sql`select app.sweep_ready()`;
    expect((await why(job_id)).code).toBe("STARTING");
  });

  test("of several open stages the most advanced that is blocked is told", async () => {
    const db = await open();
    const { why } = bound(db);
    const { job_id } = await submit(db, [
      { name: "left", task: "t.left", after: [] },
      { name: "right", task: "t.right", after: [] },
      { name: "gated", task: "t.gated", after: [1], gate: { message: "ok?" } },
    ]);
    const worker = await register(db, ["t.left", "t.right"]);
    await finish(db, worker, await claim(db, worker, ["t.left"]));
    await beat(db, worker, await claim(db, worker, ["t.right"]));
    const gated = { code: "WAITING_APPROVAL", evidence: { stage: "gated" } };
    expect(await why(job_id)).toMatchObject(gated);
    await worker_commands.stop_worker(db, { worker_id: worker });
    expect(await why(job_id)).toMatchObject(gated);
    await bound(db).operate.approve(job_id);
    expect(await why(job_id)).toMatchObject({ code: "NO_WORKER_FOR_TYPE", evidence: { stage: "gated" } });
  });

  test("of several held tasks that go no further the first reason is told: lease, start, progress, pace", async () => {
    const db = await open();
    const { why } = bound(db);
    const { job_id } = await submit(db, [fan(24, { timeout_s: 600 })]);
    const [slow, still, idle, silent] = await Promise.all([1, 2, 3, 4].map(() => register(db, ["raster.cog"])));
    await finish(db, slow!, await claim(db, slow!, ["raster.cog"], 20));
    await beat(db, slow!, await claim(db, slow!, ["raster.cog"], 1), { elapsed_s: 100 });
    const progress = { share: 0.5 };
    await beat(db, still!, await claim(db, still!, ["raster.cog"], 1), {
      elapsed_s: 100,
      progress,
      progress_age_s: 90,
    });
    const [waiting] = await claim(db, idle!, ["raster.cog"], 1);
    await claim(db, silent!, ["raster.cog"], 1);
    await longAgo(db, 60);
    await worker_commands.heartbeat(db, { worker_id: idle!, running: [], claims: [waiting!.claim_id] });
    await silence(db, silent!, 31);
    await swept(db);
    const codes = [(await why(job_id)).code];
    for (const worker of [silent!, idle!, still!, slow!]) {
      await db.sql`delete from app.claims where worker_id = ${worker}::text::uuid`;
      codes.push((await why(job_id)).code);
    }
    expect(codes).toEqual([
      "LEASE_EXPIRED_PENDING_SWEEP",
      "CLAIMED_NOT_STARTED",
      "HEARTBEAT_NO_PROGRESS",
      "STRAGGLER",
      "UNKNOWN",
    ]);
  });

  test("what a worker writes about itself may be anything: the answer stands", async () => {
    const db = await open();
    const { why } = bound(db);
    const { job_id } = await submit(db, [fan(2)]);
    const worker = await register(db, ["raster.cog"]);
    const tasks = await claim(db, worker, ["raster.cog"]);
    for (const running of [
      '"x"',
      "{}",
      "[1, null, []]",
      `[{"claim_id": ${tasks[0]!.claim_id}, "ordinal": "0", "elapsed_s": "x"}]`,
      `[{"claim_id": ${tasks[0]!.claim_id}, "ordinal": 1e300, "elapsed_s": 1e300, "progress_age_s": "x"}]`,
      `[{"claim_id": ${tasks[0]!.claim_id}, "ordinal": 0, "elapsed_s": 5, "progress": 5, "progress_age_s": 1e300}]`,
    ]) {
      await db.sql`update app.workers set running = ${running}::text::jsonb`;
      expect((await why(job_id)).code).toMatch(/^[A-Z_]+$/);
      expect((await why(idOf(tasks[0]!))).code).toMatch(/^[A-Z_]+$/);
    }
  });

  test.runIf(kind === "server")("it writes nothing and waits for nobody, whoever holds the rows", async () => {
    const db = await open();
    const { job_id } = await submit(db, [fan(30, { max_parallel: 25 })]);
    const worker = await register(db, ["raster.cog"]);
    await finish(db, worker, await claim(db, worker, ["raster.cog"], 20));
    const tasks = await claim(db, worker, ["raster.cog"], 2);
    await beat(db, worker, tasks, { elapsed_s: 100 });
    await db.transaction(async (holder) => {
      for (const table of [
        "jobs",
        "stages",
        "stage_progress",
        "tasks",
        "ready",
        "claims",
        "results",
        "workers",
        "janitor",
      ])
        await holder.script(`lock table app.${table} in exclusive mode`);
      await db.transaction(async (tx) => {
        await tx.script("set transaction read only; set local lock_timeout = '1s'");
        for (const id of [job_id, idOf(tasks[0]!), `${tasks[0]!.stage_id}-0`, `${tasks[0]!.stage_id}-29`]) {
          const { reply } = await one(tx.sql<{ reply: { code: string } }>`select app.why(${id}) as reply`);
          expect(reply.code).toMatch(/^[A-Z_]+$/);
        }
      });
    });
  });

  test("an id that is none is refused as everywhere", async () => {
    const db = await open();
    const { why } = bound(db);
    await expect(why("nonsense")).rejects.toMatchObject({ code: "not_found", message: 'there is no job "nonsense"' });
    await expect(why("1-1")).rejects.toMatchObject({ code: "not_found", message: 'there is no task "1-1"' });
    await expect(why("abc")).rejects.toMatchObject({ code: "not_found" });
  });
});
