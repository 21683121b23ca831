// The outbox of webhooks: written with the outcome or not at all, one authority about retries, nothing counted twice.
import { readFile } from "node:fs/promises";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Database, Queryable } from "../../src/engine/database/database.js";
import { openServer } from "../../src/engine/database/server_database.js";
import { bothDatabases, freshDatabase } from "../postgres.js";
import { claim, drain, finish, type Held, register, type StageData, submit } from "./floor.js";

const DELIVER = "connector.webhook.deliver";
const one_stage: StageData[] = [{ name: "only", task: "t.only" }];

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came
type Loose = any;

async function ask(db: Queryable, verb: string, request: object): Promise<Loose> {
  const text = JSON.stringify(request);
  const [row] =
    verb === "create"
      ? await db.sql`select app.create_webhook(${text}::text::json) as reply`
      : verb === "update"
        ? await db.sql`select app.update_webhook(${text}::text::json) as reply`
        : verb === "record"
          ? await db.sql`select app.record_delivery(${text}::text::json) as reply`
          : await db.sql`select app.replay_deliveries(${text}::text::json) as reply`;
  return row!.reply;
}

let made = 0;
async function endpoint(db: Queryable, more: object = {}): Promise<string> {
  const endpoint_id = `we_${String(++made).padStart(16, "0")}`;
  await ask(db, "create", { endpoint_id, url: "https://example.com/hook", secret: "secret://hook", ...more });
  return endpoint_id;
}

const deliveries = (db: Queryable) =>
  db.sql<Loose>`
    select d.*, d.payload::jsonb as told from app.webhook_deliveries d order by d.delivery_id`;

async function endpointRow(db: Queryable, endpoint_id: string): Promise<Loose> {
  const [row] = await db.sql<Loose>`
    select *, paused_until > now() as is_paused, extract(epoch from paused_until - now()) as pause_s
      from app.webhook_endpoints where endpoint_id = ${endpoint_id}`;
  return row;
}

/** The tasks that are due now, or (when everything is) all there are. */
async function due(db: Queryable, worker: string, all = false): Promise<Held[]> {
  if (all) await db.sql`update app.ready set run_at = now() where task_type = ${DELIVER}`;
  return claim(db, worker, [DELIVER]);
}

async function begin(db: Queryable, task: Held): Promise<Loose> {
  const { delivery_id, ticket } = task.parameters as { delivery_id: string; ticket: number };
  const [row] = await db.sql<Loose>`select app.begin_delivery(${delivery_id}::text, ${ticket}::integer) as reply`;
  return row.reply;
}

function record(db: Queryable, task: Held, outcome: object): Promise<Loose> {
  return ask(db, "record", { ...(task.parameters as object), ...outcome });
}

bothDatabases("the outbox of webhooks", (open) => {
  let db: Database;
  let worker: string;

  beforeEach(async () => {
    db = await open();
    worker = await register(db, ["t.only", DELIVER]);
  });

  test("a job's end is told to every endpoint that subscribed to it, and each has a task, in the same transaction", async () => {
    const all = await endpoint(db);
    const failures = await endpoint(db, { events: ["job.failed"] });
    await endpoint(db, { events: [] });
    await submit(db, one_stage, { n: 1 });
    await submit(db, one_stage, { n: 2 });
    const tasks = await claim(db, worker, ["t.only"]);
    await expect(
      db.transaction(async (tx) => {
        await finish(tx, worker, tasks);
        expect(await deliveries(tx)).toHaveLength(2);
        throw new Error("rolled back");
      }),
    ).rejects.toThrow("rolled back");
    expect(await deliveries(db)).toEqual([]);
    expect(await due(db, worker)).toEqual([]);

    await finish(db, worker, tasks, (task) =>
      task === tasks[0] ? { result: { ok: true } } : { category: "permanent" },
    );
    const written = await deliveries(db);
    expect(written.map(({ endpoint_id, event_type }) => [endpoint_id, event_type]).sort()).toEqual(
      [
        [all, "job.completed"],
        [all, "job.failed"],
        [failures, "job.failed"],
      ].sort(),
    );
    const queued = await due(db, worker);
    expect(queued.map(({ parameters }) => (parameters as Loose).delivery_id).sort()).toEqual(
      written.map(({ delivery_id }) => delivery_id).sort(),
    );
    for (const { delivery_id } of written) expect(delivery_id).toMatch(/^msg_[a-z0-9]+$/);
  });

  test("what ends no job, or another tenant's, is told to nobody", async () => {
    await db.sql`select app.create_tenant('acme')`;
    await endpoint(db, { tenant: "acme" });
    await submit(db, one_stage, { n: 1 });
    await submit(db, [...one_stage, { name: "next", task: "t.next" }], { n: 2 }, { tenant: "acme" });
    await finish(db, worker, await claim(db, worker, ["t.only"]));
    expect(await deliveries(db)).toEqual([]);
  });

  test("how a group of jobs ends, and an alert, is told to the endpoints that hear of that, and of nothing else", async () => {
    const hears_of_groups = await endpoint(db, { events: ["group.completed", "group.failed"] });
    const hears_of_alerts = await endpoint(db, { events: ["alert.raised"] });
    await db.sql`select app.create_tenant('acme')`;
    const acme = await endpoint(db, { tenant: "acme", events: ["group.completed", "alert.raised"] });
    const { job_id } = await submit(db, one_stage, {}, { options: { group_id: "night" } });
    await drain(db, worker, ["t.only"]);
    expect(await deliveries(db)).toEqual([]);
    await db.sql`select app.seal_group('night')`;
    await db.sql`select app.alert('default', 'deadline', 'job x', 'it is late', ${job_id}::text)`;
    // The same within the hour is one alert, however far the numbers of events have gone on; another tenant's is its own.
    await db.sql`select setval('app.events_event_id_seq', nextval('app.events_event_id_seq') + 200000)`;
    await db.sql`select app.note('default', 'job.noted', ${job_id}::text, null, 'late', '{}')`;
    await db.sql`select app.alert('default', 'deadline', 'job x', 'it is late', ${job_id}::text)`;
    await db.sql`select app.alert('acme', 'deadline', 'job x', 'it is late')`;
    const [hers, ...told] = (await deliveries(db)).toSorted((one) => (one.endpoint_id === acme ? -1 : 1));
    expect(hers).toMatchObject({ endpoint_id: acme, event_type: "alert.raised" });
    expect(told.map(({ endpoint_id, event_type }) => [endpoint_id, event_type])).toEqual([
      [hears_of_groups, "group.completed"],
      [hears_of_alerts, "alert.raised"],
    ]);
    const counts = { total: 1, completed: 1, partial_success: 0, failed: 0, cancelled: 0 };
    expect(told[0].told).toMatchObject({
      type: "group.completed",
      timestamp: expect.any(String),
      data: { group_id: "night", status: "completed", ...counts },
    });
    expect(told[1].told.data).toEqual({
      ...{ alert: "deadline", reason: "it is late", target: "job x" },
      ...{ job_id, stage_id: null },
    });
    expect(await due(db, worker)).toHaveLength(3);
  });

  test("cancelled and partly successful jobs are told as such, and a repaired job is told again in its new epoch", async () => {
    await endpoint(db);
    const cancelled = await submit(db, one_stage, { n: 1 });
    await db.sql`select app.cancel_job(${cancelled.job_id})`;
    const partial = await submit(
      db,
      [
        { name: "only", task: "t.only", importance: "important" },
        { name: "other", task: "t.other", after: [] },
      ],
      { n: 2 },
    );
    await drain(db, worker, ["t.only", "t.other"], ({ stage }) => (stage === "only" ? { category: "permanent" } : {}));
    await db.sql`select app.resume_job(${partial.job_id})`;
    await drain(db, worker, ["t.only", "t.other"]);
    expect((await deliveries(db)).map(({ event_type, job_id, epoch }) => [event_type, job_id, epoch])).toEqual([
      ["job.cancelled", cancelled.job_id, 1],
      ["job.partial_success", partial.job_id, 1],
      ["job.completed", partial.job_id, 2],
    ]);
  });

  test("the payload has the fields of the user's documents and of Standard Webhooks, and says how each stage went", async () => {
    await endpoint(db);
    const options = { labels: { team: "maps" }, correlation_id: "order-7" };
    const { job_id } = await submit(db, one_stage, { n: 1 }, { options });
    await drain(db, worker, ["t.only"], () => ({ result: { tiles: 3, note: "Zürich 😀" } }));
    const [{ told, payload }] = (await deliveries(db)) as [Loose];
    expect(Object.keys(JSON.parse(payload))).toEqual([
      "type",
      "timestamp",
      "job_id",
      "job_type",
      "status",
      "stage_results",
      "final_results",
      "data",
    ]);
    expect(told).toMatchObject({
      type: "job.completed",
      job_id,
      job_type: "test_job",
      status: "completed",
      stage_results: { only: { number: 1, status: "completed", total: 1, completed: 1, failed: 0, error: null } },
      final_results: { tiles: 3, note: "Zürich 😀" },
      data: {
        job_id,
        run: 1,
        epoch: 1,
        correlation_id: "order-7",
        labels: { team: "maps" },
        final_results_omitted: null,
      },
    });
    expect(told.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(told.timestamp).toBe(told.data.finished_at);
  });

  test("a payload stays under 20 KB: what is large is left out, and the payload says where it is", async () => {
    await endpoint(db);
    const { job_id } = await submit(db, one_stage, { n: 1 });
    await drain(db, worker, ["t.only"], () => ({ result: { text: "ü".repeat(15_000) } }));
    const many = Array.from({ length: 120 }, (_, n) => ({
      name: `stage_${n}_${"x".repeat(40)}`,
      task: "t.only",
      importance: "optional",
      after: [],
    }));
    const wide = await submit(db, many, { n: 2 }, { options: { labels: { long: "l".repeat(10_000) } } });
    await drain(db, worker, ["t.only"], () => ({ category: "permanent", message: "m".repeat(3000) }));
    const [large, stages] = (await deliveries(db)) as [Loose, Loose];
    expect(large.told).toMatchObject({ final_results: null, stage_results: { only: { completed: 1 } } });
    expect(large.told.data.final_results_omitted).toEqual({ bytes: 30_012, fetch: `/api/jobs/status/${job_id}` });
    expect(stages.told).toMatchObject({
      job_id: wide.job_id,
      stage_results: null,
      data: { stage_results_omitted: true },
    });
    for (const { payload } of [large, stages]) expect(Buffer.byteLength(payload)).toBeLessThanOrEqual(20_480);
  });

  test("a job names receivers of its own: several addresses, an endpoint, each for the events it wants, nobody twice", async () => {
    const subscribed = await endpoint(db);
    const named = await endpoint(db, { events: [] });
    const webhooks = [
      { url: "https://a.example/x", secret: "secret://a" },
      { url: "https://b.example/x", secret: "secret://b", events: ["job.failed"] },
      { endpoint: named },
      { endpoint: subscribed },
      { endpoint: named, events: ["job.failed"] },
    ];
    await submit(db, one_stage, { n: 1 }, { options: { webhooks } });
    await drain(db, worker, ["t.only"]);
    const told = await deliveries(db);
    expect(told.map(({ endpoint_id, url, secrets }) => ({ endpoint_id, url, secrets }))).toHaveLength(3);
    expect(told.map(({ endpoint_id, url }) => endpoint_id ?? url).sort()).toEqual(
      [subscribed, named, "https://a.example/x"].sort(),
    );
    expect(told.find(({ url }) => url !== null).secrets).toEqual(["secret://a"]);
  });

  test("of jobs that are submitted together only some name receivers", async () => {
    const webhooks = [{ url: "https://a.example/x", secret: "secret://a" }];
    const jobs = [{ parameters: '{"n":1}', webhooks }, { parameters: '{"n":2}' }];
    await db.sql`
      select app.submit_jobs(
        ${JSON.stringify({ type: "mixed", stages: one_stage })}::text::jsonb, ${JSON.stringify({ jobs })}::text::json)`;
    await drain(db, worker, ["t.only"]);
    expect((await deliveries(db)).map(({ url }) => url)).toEqual(["https://a.example/x"]);
  });

  test("receivers that could never be told are refused at submit, all problems at once", async () => {
    const webhooks = [
      { url: "ftp://a.example", secret: "secret://a" },
      { url: "https://a.example/", secret: "plain text" },
      { url: "https://a.example/" },
      { endpoint: "we_0000000000000000" },
      { url: "https://a.example/", secret: "secret://a", events: ["job.exploded"] },
      {},
      7,
    ];
    const refused = submit(db, one_stage, { n: 1 }, { options: { webhooks } });
    const { detail } = (await refused.catch((error: unknown) => error)) as Loose;
    expect(JSON.parse(detail).map(({ path }: Loose) => path.replace("$.jobs[0].webhooks", ""))).toEqual([
      "[0].url",
      "[1].secret",
      "[2].secret",
      "[3].endpoint",
      "[4].events",
      "[5]",
      "[6]",
    ]);
    for (const wrong of [[], {}, "x", Array.from({ length: 11 }, () => webhooks[0])]) {
      await expect(submit(db, one_stage, { n: 2 }, { options: { webhooks: wrong } })).rejects.toMatchObject({
        code: "FF002",
      });
    }
  });
});

describe("tries of a delivery", () => {
  let db: Database;
  let worker: string;
  let target: string;
  let url: string;

  beforeEach(async () => {
    const fresh = await freshDatabase();
    onTestFinished(fresh.drop);
    db = fresh.db;
    url = fresh.url;
    worker = await register(db, ["t.only", DELIVER]);
    target = await endpoint(db);
  });

  async function pinged(): Promise<Held> {
    await db.sql`select app.ping_webhook(${target})`;
    const tasks = await due(db, worker);
    return tasks[tasks.length - 1]!;
  }
  const row = async (task: Held): Promise<Loose> =>
    (await deliveries(db)).find(({ delivery_id }) => delivery_id === (task.parameters as Loose).delivery_id);

  test("2xx is delivered; the same try told twice is counted once, and a task that runs again sends nothing", async () => {
    const task = await pinged();
    expect(await begin(db, task)).toMatchObject({
      action: "send",
      url: "https://example.com/hook",
      secrets: ["secret://hook"],
      endpoint_id: target,
      attempt: 1,
    });
    expect(await record(db, task, { status: 204, duration_ms: 5 })).toMatchObject({
      recorded: true,
      status: "delivered",
    });
    expect(await record(db, task, { status: 204 })).toMatchObject({ recorded: false, status: "delivered" });
    expect(await begin(db, task)).toEqual({ action: "stop", why: "it is delivered" });
    expect(await row(task)).toMatchObject({ status: "delivered", attempts: 1, last_status: 204, next_at: null });
  });

  test("failures follow the schedule of Standard Webhooks to its end, under one id", async () => {
    const waits: number[] = [];
    const ids = new Set<string>();
    let task: Held | undefined = await pinged();
    for (let left = 100; task !== undefined && left > 0; left--) {
      ids.add((task.parameters as Loose).delivery_id);
      await db.sql`update app.webhook_endpoints set failure_streak = 0, paused_until = null`;
      expect(await begin(db, task)).toMatchObject({ action: "send", attempt: waits.length + 1 });
      const told: Loose = await record(db, task, { status: 500 });
      // A crash after the record: the task that runs again must not count a second failure.
      expect(await record(db, task, { status: 500 })).toMatchObject({ recorded: false });
      if (told.status === "pending") {
        const [{ s }] = (await db.sql<Loose>`select extract(epoch from ${told.next_at}::timestamptz - now()) as s`) as [
          Loose,
        ];
        waits.push(Number(s));
      } else expect(told).toMatchObject({ status: "failed", reason: "HTTP 500, and no try is left" });
      [task] = await due(db, worker, true);
    }
    const schedule = [5, 15, 60, 180, 600, 1800, ...Array<number>(71).fill(3600)];
    expect(waits).toHaveLength(schedule.length);
    for (const [at, wait] of waits.entries()) {
      expect(wait).toBeGreaterThan(schedule[at]! - 3);
      expect(wait).toBeLessThan(schedule[at]! * 1.1 + 1);
    }
    expect(ids.size).toBe(1);
    const [{ n }] = (await db.sql<Loose>`select count(*)::int as n from app.webhook_attempts`) as [Loose];
    expect(n).toBe(schedule.length + 1);
    expect(schedule.reduce((sum, wait) => sum + wait, 0)).toBeGreaterThan(2 * 86_400);
    // What docs/webhooks.md tells is what the code has.
    const docs = await readFile(new URL("../../docs/webhooks.md", import.meta.url), "utf8");
    const words = schedule.slice(0, 6).map((s) => (s < 60 ? `${s} s` : `${s / 60} min`));
    expect(docs).toContain(
      `tried again after ${words.join(", ")}, then every hour, ${schedule.length + 1} tries in all`,
    );
  });

  test("Retry-After moves the next try further away, never nearer, and never beyond a day", async () => {
    const wait = async (retry_after_s: number, task: Held) => {
      const { next_at } = await record(db, task, { status: 429, retry_after_s });
      const [{ s }] = (await db.sql<Loose>`select extract(epoch from ${next_at}::timestamptz - now()) as s`) as [Loose];
      return Number(s);
    };
    expect(await wait(120, await pinged())).toBeGreaterThan(115);
    expect(await wait(1, await pinged())).toBeGreaterThan(4);
    expect(await wait(1e9, await pinged())).toBeLessThan(86_401);
  });

  test("410 disables the endpoint with an alert, and discards whatever waits for it", async () => {
    const [first, second] = [await pinged(), await pinged()];
    expect(await record(db, first, { status: 410 })).toMatchObject({ status: "failed" });
    expect(await endpointRow(db, target)).toMatchObject({ disabled_reason: "it answered that it is gone (HTTP 410)" });
    expect(await row(second)).toMatchObject({ status: "discarded", reason: expect.stringContaining("disabled") });
    expect(await begin(db, second)).toMatchObject({ action: "stop" });
    expect(await db.sql`select from app.alerts where alert = 'webhook_disabled'`).toHaveLength(1);
    await submit(db, one_stage, { n: 1 });
    await drain(db, worker, ["t.only"]);
    expect(await deliveries(db)).toHaveLength(2);
    await ask(db, "update", { endpoint_id: target, enabled: true });
    expect(await endpointRow(db, target)).toMatchObject({ disabled_at: null, failure_streak: 0 });
  });

  test("failures in a row pause the endpoint; then one delivery at a time tries it, and a success lets all go on", async () => {
    for (let n = 0; n < 5; n++) await record(db, await pinged(), { error: "timeout: no answer" });
    expect(await endpointRow(db, target)).toMatchObject({ failure_streak: 5, is_paused: true });
    const [one, two] = [await pinged(), await pinged()];
    expect(await begin(db, one)).toEqual({ action: "stop", why: "its endpoint is paused after failures" });
    // Waiting for it costs no try.
    expect(await row(one)).toMatchObject({ status: "pending", attempts: 0, ticket: 2 });

    await db.sql`update app.webhook_endpoints set paused_until = now() - interval '1 s'`;
    expect(await begin(db, two)).toMatchObject({ action: "send" });
    // Its worker died: the same delivery may try again, another may not.
    expect(await begin(db, two)).toMatchObject({ action: "send" });
    const rest = (await due(db, worker, true)).filter((task) => (task.parameters as Loose).ticket === 2);
    const again = rest.find(
      (task) => (task.parameters as Loose).delivery_id === (one.parameters as Loose).delivery_id,
    )!;
    expect(await begin(db, again)).toMatchObject({ action: "stop", why: "its endpoint is paused after failures" });

    await record(db, two, { status: 503 });
    const longer = await endpointRow(db, target);
    expect(longer).toMatchObject({ failure_streak: 6, is_paused: true, probe_id: null });
    expect(Number(longer.pause_s)).toBeGreaterThan(100);

    await db.sql`update app.webhook_endpoints set paused_until = now() - interval '1 s'`;
    const [probe, ...others] = await due(db, worker, true);
    expect(await begin(db, probe!)).toMatchObject({ action: "send" });
    await record(db, probe!, { status: 200 });
    expect(await endpointRow(db, target)).toMatchObject({ failure_streak: 0, paused_until: null, failing_since: null });
    for (const other of others) expect(await begin(db, other)).toMatchObject({ action: "send" });
  });

  test("failures of sends begun before the pause do not lengthen it, nor take the place of the delivery that tries it", async () => {
    const tasks: Held[] = [];
    for (let n = 0; n < 9; n++) tasks.push(await pinged());
    for (const task of tasks) expect(await begin(db, task)).toMatchObject({ action: "send" });
    for (const task of tasks.slice(0, 7)) await record(db, task, { status: 503 });
    const paused = await endpointRow(db, target);
    expect(paused).toMatchObject({ failure_streak: 7, pause_count: 1, is_paused: true });
    expect(Number(paused.pause_s)).toBeLessThanOrEqual(60);

    await db.sql`update app.webhook_endpoints set paused_until = now() - interval '1 s'`;
    const probe = await pinged();
    expect(await begin(db, probe)).toMatchObject({ action: "send" });
    await record(db, tasks[7]!, { status: 503 });
    const { delivery_id } = probe.parameters as { delivery_id: string };
    expect(await endpointRow(db, target)).toMatchObject({ pause_count: 1, is_paused: false, probe_id: delivery_id });
    await record(db, probe, { status: 503 });
    expect(await endpointRow(db, target)).toMatchObject({ pause_count: 2, is_paused: true, probe_id: null });
    await record(db, tasks[8]!, { status: 503 });
    expect(await endpointRow(db, target)).toMatchObject({ pause_count: 2 });
  });

  test("days without a success disable the endpoint with an alert", async () => {
    await db.sql`update app.webhook_endpoints set failure_streak = 20, failing_since = now() - interval '6 days'`;
    await record(db, await pinged(), { status: 500 });
    expect(await endpointRow(db, target)).toMatchObject({
      disabled_reason: expect.stringContaining("it has failed since"),
    });
    expect(await db.sql`select from app.alerts where alert = 'webhook_disabled'`).toHaveLength(1);
  });

  test("a deleted endpoint discards what waits for it, and what was sent stays on record", async () => {
    const [sent, waiting] = [await pinged(), await pinged()];
    await record(db, sent, { status: 200 });
    await db.sql`select app.delete_webhook(${target})`;
    expect(await row(sent)).toMatchObject({ status: "delivered" });
    expect(await row(waiting)).toMatchObject({ status: "discarded", reason: "the endpoint was deleted" });
    expect(await begin(db, waiting)).toMatchObject({ action: "stop" });
  });

  test("deliveries discarded with their endpoint are counted as those discarded alone", async () => {
    for (let n = 0; n < 3; n++) await pinged();
    await db.sql`select app.delete_webhook(${target})`;
    expect(
      await db.sql`select sum(amount)::integer as n from app.tallies where name = 'webhooks_ended' and label = 'discarded'`,
    ).toEqual([{ n: 3 }]);
  });

  test("a replay is a new series of tries of the same id, and the task from before sends no more", async () => {
    const task = await pinged();
    await record(db, task, { status: 500 });
    await db.sql`select app.replay_delivery(${(task.parameters as Loose).delivery_id})`;
    expect(await row(task)).toMatchObject({ status: "pending", series: 2, attempts: 0, ticket: 3 });
    const tasks = await due(db, worker, true);
    const orders = await Promise.all(tasks.map((one) => begin(db, one)));
    expect(orders.map(({ action, why }) => why ?? action).sort()).toEqual(["a later task sends it", "send"]);
  });

  test("a range is counted first, then replayed oldest first and not all at once", async () => {
    const tasks = [await pinged(), await pinged(), await pinged()];
    for (const task of tasks) await record(db, task, { status: 500, final: true });
    await db.sql`update app.webhook_deliveries set created_at = now() - interval '2 days'
      where delivery_id = ${(tasks[0]!.parameters as Loose).delivery_id}`;
    const [{ day }] = (await db.sql<Loose>`select (now() - interval '1 day')::text as day`) as [Loose];
    const range = { endpoint_id: target, from: day };
    expect(await ask(db, "replay", { ...range, dry_run: true })).toMatchObject({
      deliveries: 2,
      dry_run: true,
      more: false,
    });
    expect((await deliveries(db)).map(({ status }) => status)).toEqual(["failed", "failed", "failed"]);
    expect(await ask(db, "replay", range)).toMatchObject({ deliveries: 2, dry_run: false });
    expect((await deliveries(db)).map(({ status, series }) => [status, series])).toEqual([
      ["failed", 1],
      ["pending", 2],
      ["pending", 2],
    ]);
    expect(await ask(db, "replay", { endpoint_id: target, statuses: ["delivered"], dry_run: true })).toMatchObject({
      deliveries: 0,
    });
    await expect(ask(db, "replay", { endpoint_id: target, from: "yesterday-ish" })).rejects.toMatchObject({
      code: "FF002",
    });
    await ask(db, "update", { endpoint_id: target, enabled: false });
    await expect(ask(db, "replay", range)).rejects.toMatchObject({ code: "FF006" });
  });

  test("the janitor gives a delivery another task when its own has ended without it", async () => {
    const lost = await pinged();
    const waiting = await pinged();
    await finish(db, worker, [lost], () => ({ category: "permanent" }));
    await db.sql`update app.webhook_deliveries set next_at = now() - interval '10 min'`;
    const sweep = async () => (await db.sql<Loose>`select app.sweep_deliveries() as reply`)[0].reply;
    expect(await sweep()).toMatchObject({ swept: 1, next: null });
    expect(await sweep()).toMatchObject({ swept: 0 });
    // It counts as a try: what takes every worker down must not be tried for ever.
    expect(await row(lost)).toMatchObject({
      status: "pending",
      attempts: 1,
      last_error: expect.stringContaining("task_lost"),
    });
    const [task, ...more] = await due(db, worker, true);
    expect(more).toEqual([]);
    expect(task!.parameters).toEqual({ delivery_id: (lost.parameters as Loose).delivery_id, ticket: 2 });
    expect(await begin(db, task!)).toMatchObject({ action: "send" });
    expect(await begin(db, waiting)).toMatchObject({ action: "send" });
    await finish(db, worker, [task!], () => ({ category: "permanent" }));
    await db.sql`update app.webhook_deliveries set attempts = 77, next_at = now() - interval '10 min' where ticket = 2`;
    expect(await sweep()).toMatchObject({ swept: 1 });
    expect(await row(lost)).toMatchObject({ status: "failed", attempts: 78 });
  });

  test("verbs that meet each other on the same endpoint wait in one direction and never in a circle", async () => {
    const sessions = Array.from({ length: 4 }, () => openServer(url, { max: 1 }));
    for (let n = 0; n < 12; n++) await db.sql`select app.ping_webhook(${target})`;
    const tasks = await due(db, worker);
    const all = tasks.map(({ parameters }) => parameters as { delivery_id: string; ticket: number });
    const verbs: ((session: Database, n: number) => Promise<unknown>)[] = [
      (session, n) => session.sql`select app.begin_delivery(${all[n]!.delivery_id}, ${all[n]!.ticket}::integer)`,
      (session, n) => ask(session, "record", { ...all[n]!, status: 500 }),
      (session, n) => ask(session, "record", { ...all[n]!, status: 200 }),
      (session, n) => session.sql`select app.replay_delivery(${all[n]!.delivery_id})`,
      (session) =>
        ask(session, "replay", { endpoint_id: target, statuses: ["pending", "failed", "discarded", "delivered"] }),
      (session, n) => ask(session, "update", { endpoint_id: target, enabled: n % 2 === 0 }),
      (session, n) => session.sql`select app.discard_delivery(${all[n]!.delivery_id})`,
      (session) => session.sql`select app.sweep_deliveries()`,
      (session, n) => session.sql`select app.rotate_webhook_secret(${target}, ${`secret://s${n}`})`,
    ];
    const codes = new Set<string>();
    await Promise.all(
      sessions.map(async (session, at) => {
        for (let n = 0; n < 60; n++) {
          await verbs[(n * 7 + at * 5) % verbs.length]!(session, (n * 5 + at) % all.length).catch((error: Loose) =>
            codes.add(error.code),
          );
        }
      }),
    );
    // Refusals are answers; anything else is not.
    expect([...codes].filter((code) => !/^FF00[126]$/.test(code))).toEqual([]);
    for (const session of sessions) await session.close();
  });

  test("a rotation signs with both secrets until the old one's time is up", async () => {
    const task = await pinged();
    await db.sql`select app.rotate_webhook_secret(${target}, 'secret://new', 3600)`;
    expect(await begin(db, task)).toMatchObject({ secrets: ["secret://new", "secret://hook"] });
    await db.sql`select app.rotate_webhook_secret(${target}, 'secret://newest', 0)`;
    expect(await begin(db, task)).toMatchObject({ secrets: ["secret://newest"] });
  });
});
