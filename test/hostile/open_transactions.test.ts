// A tenant that speaks SQL itself opens a transaction, calls every verb it may call, and leaves it open. Whatever serves all tenants
// (a shared worker, its janitor, its scheduler, the outbox of webhooks) goes on with the work of the others.
import { randomUUID } from "node:crypto";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { openServer } from "../../src/engine/database/server_database.js";
import { webhookDeliver } from "../../src/handlers/connectors/webhook_deliver.js";
import { claim, expectSound, register, submit } from "../engine/floor.js";
import { listen } from "../handlers/connectors/listener.js";
import { ask, recipe, seen } from "../platform/floor.js";
import { realServer } from "../postgres.js";
import { eventually, gate, openShop, type TestShop } from "../worker/shop.js";
import { harmless, setEvilScene, verbsOf } from "./evil_scene.js";

const secret = `whsec_${Buffer.alloc(24, 5).toString("base64")}`;

async function evilLogin({ db, url }: TestShop) {
  const name = `ff_evil_${randomUUID().slice(0, 8)}`;
  await db.script(`create role ${name} login; grant fanfold_api, fanfold_worker to ${name}`);
  await db.sql`select app.map_role(${name}::text::name, 'evil')`;
  const own = new URL(url);
  own.username = name;
  onTestFinished(async () => {
    const admin = openServer((await realServer()).admin_url);
    await admin.script(`drop role if exists ${name}`);
    await admin.close();
  });
  const evil = openServer(own.href, { max: 2 });
  onTestFinished(() => evil.close());
  return { evil, name };
}

test("whatever a login's open transaction holds, the other tenants' jobs go on", { timeout: 120_000 }, async () => {
  const opened = gate();
  const quick = defineHandler("t.quick", {}, () => ({}));
  const gated = defineHandler("t.gated", {}, () => opened.passed.then(() => ({})));
  const nightly = defineJob({ type: "nightly", stages: [{ name: "only", task: "t.quick" }] });
  const shop = await openShop({ jobs: [nightly], handlers: [quick, gated, webhookDeliver] });
  const { db } = shop;
  await db.sql`select app.create_tenant('acme'), app.create_tenant('evil')`;
  const { evil, name } = await evilLogin(shop);
  const receiver = await listen((_, response) => void response.writeHead(204).end());
  onTestFinished(() => receiver.close());

  const lines: { level: number; msg: string }[] = [];
  const worker = await shop.worker({
    slots: 24,
    lease_s: 30,
    poll_s: 0.2,
    types: ["t.quick", "t.gated", "connector.webhook.deliver", "#plan"],
    secrets: () => secret,
    log: pino({ level: "info" }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
    outbound: { allow_http: true, allow_private: ["127.0.0.1"], ports: [receiver.port], refusal_ms: 0 },
  });
  const { running, calls } = await setEvilScene(db, evil);
  expect((await verbsOf(db, name)).filter((verb) => !(verb in calls) && !(verb in harmless))).toEqual([]);

  const acme = (task: string, parameters: object, options: object = {}, more: object = {}) =>
    submit(db, [{ name: "only", task, ...more }], parameters, { tenant: "acme", options });
  const beside = await acme("t.gated", { beside: 1 });
  await eventually(() => worker.stats().running === running.length + 1);
  // A worker that died with tasks of both in its hands, and deadlines of both that are over.
  const dead = await register(db, ["t.dead"], 5);
  await submit(evil, [{ name: "only", task: "t.dead" }], {}, { tenant: "evil" });
  const orphan = await acme("t.dead", {});
  expect(await claim(db, dead, ["t.dead"])).toHaveLength(2);
  const late = await acme("t.none", { late: 1 });

  const over = gate();
  const refused: string[] = [];
  const holding = evil.transaction(async (tx) => {
    for (const [verb, call] of Object.entries(calls)) {
      await tx.script("savepoint verb");
      await tx.script(`select ${call}`).catch(async (error: { code?: string; message: string }) => {
        refused.push(`${verb}: ${error.code} ${error.message}`);
        await tx.script("rollback to savepoint verb");
      });
    }
    await db.sql`update app.jobs set deadline_at = now() - interval '1 s' where job_id = ${late.job_id} and tenant_id = 'acme'`;
    await over.passed;
  });
  onTestFinished(() => over.open());
  await eventually(
    async () => (await db.sql`select from app.jobs where deadline_at < now() and tenant_id = 'acme'`).length === 1,
  );
  expect(refused).toEqual([]);
  await db.sql`update app.workers set heartbeat_at = pg_postmaster_start_time() - interval '1 hour' where worker_id = ${dead}::text::uuid`;

  // What the shared worker finishes now is evil's and acme's together.
  opened.open();
  const ended = (job_id: string, status: string) =>
    eventually(
      async () =>
        (await db.sql`select from app.jobs where job_id = ${job_id} and status::text = ${status}`).length === 1,
    );
  await ended(beside.job_id, "completed");
  await ended(late.job_id, "failed");

  const acme_engine = shop.engine.forTenant("acme");
  const hook = JSON.stringify({
    tenant: "acme",
    endpoint_id: "we_acme000000000000",
    url: `${receiver.url}/hook`,
    secret: "secret://named",
    events: ["job.completed"],
  });
  await db.sql`select app.create_webhook(${hook}::text::json)`;
  await acme_engine.schedules.put("nightly", { cron: "0 0 * * *", job_type: "nightly" });
  await db.sql`update app.schedules set next_at = date_trunc('day', now()) where tenant_id = 'acme'`;
  await eventually(
    async () => (await db.sql`select from app.jobs where job_type = 'nightly' and status = 'completed'`).length === 1,
  );
  const first = await acme("t.quick", { n: 1 }, {}, { plan: { count: 2000 } });
  const waits = await acme("t.quick", { n: 2 }, { depends_on: [first.job_id] });
  await ended(first.job_id, "completed");
  await ended(waits.job_id, "completed");
  await eventually(() => receiver.requests.length >= 3);

  // Requests of another tenant, with a dataset and a resource of the same names, are opened, reviewed and ended.
  await recipe(db, "reviewed", [{ name: "make", stages: [{ name: "only", task: "t.quick" }] }], { approval: true });
  await recipe(db, "direct", [{ name: "quick", stages: [{ name: "only", task: "t.quick" }] }]);
  const same = { dataset_id: "sent", resource_id: "r", version_id: "1" };
  const reviewed = await ask(db, "reviewed", { ...same, version_id: "2" }, "acme");
  const direct = await ask(db, "direct", same, "acme");
  await db.sql`select platform.decide_release(${reviewed.request_id}, 'approve', tenant => 'acme')`;
  for (const { request_id } of [reviewed, direct])
    await eventually(async () => (await seen(db, request_id, "acme")).status === "completed");

  // Taken back from the dead, and run by whoever comes.
  await eventually(
    async () => (await db.sql`select from app.ready where task_type = 't.dead' and tenant_id = 'acme'`).length === 1,
  );
  const heir = await shop.otherEngine({ handlers: [defineHandler("t.dead", {}, () => ({}))] });
  const { startWorker } = await import("../../src/worker/worker.js");
  const second = await startWorker(heir, { types: ["t.dead"], poll_s: 0.2, log: pino({ enabled: false }) });
  onTestFinished(() => second.kill());
  await ended(orphan.job_id, "completed");

  expect(worker.stats()).toMatchObject({ fenced: 0, dropped: 0 });
  expect(lines.filter(({ msg }) => msg === "tasks abandoned")).toEqual([]);
  over.open();
  await holding;
  // What was cancelled, paused or skipped meanwhile is; the rest of evil's jobs end by themselves.
  for (const job_id of running.slice(5)) await ended(job_id, "completed");
  await expectSound(db);
});
