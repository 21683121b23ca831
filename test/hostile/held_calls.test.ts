// A tenant holds rows of its own in an open transaction, and floods the HTTP API with calls that need them: they wait, each on a
// connection. The other tenant's calls find one that is free.
import { randomUUID } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { SERVER_POOL } from "../../src/cli/terminal/serving.js";
import { openServer } from "../../src/engine/database/server_database.js";
import { submit } from "../engine/floor.js";
import { realServer } from "../postgres.js";
import { openService } from "../server/service.js";

test("calls that wait for what their own tenant holds leave connections to the others", {
  timeout: 60_000,
}, async () => {
  const { connections } = SERVER_POOL;
  const service = await openService({}, {}, { connections });
  const { db } = service;
  const [acme, evil] = [await service.key("acme"), await service.key("evil")];
  const name = `ff_evil_${randomUUID().slice(0, 8)}`;
  await db.script(`create role ${name} login; grant fanfold_api, fanfold_worker to ${name}`);
  await db.sql`select app.map_role(${name}::text::name, 'evil')`;
  onTestFinished(async () => {
    await service.close();
    const admin = openServer((await realServer()).admin_url);
    await admin.script(`drop role if exists ${name}`);
    await admin.close();
  });
  const own = new URL(service.database_url);
  own.username = name;
  const login = openServer(own.href);
  const { job_id } = await submit(db, [{ name: "only", task: "t.none" }], {}, { tenant: "evil" });

  let release!: () => void;
  const over = new Promise<void>((resolve) => {
    release = resolve;
  });
  let holding!: Promise<void>;
  await new Promise<void>((held) => {
    holding = login.transaction(async (tx) => {
      await tx.sql`select app.pause_job(${job_id}), app.enqueue('t.first', '{}', 'a key')`;
      held();
      await over;
    });
  });
  const body = { parameters: {} };
  const flood = Array.from({ length: 20 }, (_, n) => [
    service.call("POST", `/api/jobs/${job_id}/cancel`, { key: evil, body: {} }),
    service.call("POST", `/api/jobs/${job_id}/pause`, { key: evil, body: {} }),
    service.call("POST", "/api/tasks/enqueue/t.first", {
      key: evil,
      body: { ...body, ...(n % 2 ? { idempotency_key: "a key" } : {}) },
    }),
  ]).flat();
  const waits = async () =>
    (await db.sql`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`).length;
  while ((await waits()) < 5);
  for (let n = 0; n < 20; n++) {
    expect((await service.call("GET", "/api/jobs", { key: acme })).status).toBe(200);
    expect((await service.call("POST", "/api/tasks/enqueue/t.first", { key: acme, body })).status).toBe(201);
  }
  expect(await waits()).toBeLessThan(connections);
  release();
  await holding;
  const answers = await Promise.all(flood);
  expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
  await login.close();
});
