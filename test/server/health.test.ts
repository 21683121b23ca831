// Is it alive, is it ready, is all as it should be; and what a stranger learns of it.
import { afterAll, beforeAll, expect, test } from "vitest";
import { openService, type TestService } from "./service.js";

let service: TestService;
beforeAll(async () => {
  service = await openService();
});
afterAll(() => service.close());

const ask = (path: string) => service.call("GET", path, { key: null });

/** Vitals are looked at once a second. */
async function eventually(path: string, status: number) {
  for (;;) {
    const answer = await ask(path);
    if (answer.status === status) return answer;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test("a schema of another version is not ready, and is when it is mended", async () => {
  await service.db.sql`update app.schema_functions set hash = 'old' where name = 'note'`;
  const { body } = await eventually("/api/health/ready", 503);
  expect(body).toMatchObject({ code: "unavailable", detail: expect.stringContaining("schema") });
  expect((await ask("/api/health")).body).toMatchObject({ status: "degraded", schema: { current: false } });
  const { readSchemaFolder, schema_folder } = await import("../../src/engine/schema/schema_folder.js");
  const { functions } = await readSchemaFolder(schema_folder);
  const hash = functions.find(({ path }) => path.endsWith("/note.sql"))?.hash ?? "";
  await service.db.sql`update app.schema_functions set hash = ${hash} where name = 'note'`;
  expect((await eventually("/api/health/ready", 200)).body).toMatchObject({ status: "ready" });
});

test("anybody may ask how it is, and learns nothing of tenants, roles or addresses", async () => {
  const worker = await service.worker();
  await service.db.sql`update app.janitor set last_success_at = now()`;
  for (let status = ""; status !== "ok"; ) {
    const { body } = await ask("/api/health");
    status = body.status;
    expect(Object.keys(body).sort()).toEqual(["database", "janitor", "schema", "status", "version", "workers"]);
    expect(JSON.stringify(body)).not.toMatch(/ff_|postgres|default|tenant/);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  expect((await ask("/api/health")).body).toMatchObject({ workers: { live: 1 }, janitor: { late: false } });
  await worker.stop();
});

test("the preflight is for operators, and says what the server itself sees", async () => {
  expect((await ask("/api/health/preflight")).status).toBe(401);
  expect((await service.call("GET", "/api/health/preflight")).status).toBe(403);
  const key = await service.key("default", ["admin"], { operator: true });
  const { status, body } = await service.call("GET", "/api/health/preflight", { key });
  expect(status).toBe(200);
  expect(body.ok).toBe(true);
  expect(body.findings.map(({ name }: { name: string }) => name)).toEqual(
    expect.arrayContaining([
      "node",
      "storage",
      "version",
      "clock",
      "roles",
      "schema",
      "row_security",
      "login",
      "workers",
      "janitor",
    ]),
  );
});

test("a process whose calls wait without end is neither ready nor alive", async () => {
  const { db } = service.engine;
  const { load } = db;
  db.load = () => ({ ...load!.call(db), stuck: true });
  for (const path of ["/api/health/live", "/api/health/ready"]) {
    expect(await ask(path)).toMatchObject({ status: 503, body: { detail: expect.stringContaining("wait") } });
  }
  db.load = load!;
  expect((await ask("/api/health/live")).status).toBe(200);
});

test("while the database is away it is alive and not ready; calls are told to come back; then it goes on by itself", async () => {
  const key = await service.key("default", ["admin", "read"], { operator: true });
  const name = new URL(service.database_url).pathname.slice(1);
  const { openServer } = await import("../../src/engine/database/server_database.js");
  const { realServer } = await import("../postgres.js");
  const admin = openServer((await realServer()).admin_url);
  await admin.script(`alter database ${name} allow_connections false`);
  await admin.sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${name}`;
  const { body, headers } = await eventually("/api/health/ready", 503);
  expect(body).toMatchObject({
    status: 503,
    detail: expect.stringContaining("database"),
    request_id: expect.any(String),
  });
  expect(headers.get("content-type")).toContain("application/problem+json");
  expect((await ask("/api/health/live")).status).toBe(200);
  expect((await ask("/api/health")).body).toMatchObject({ status: "degraded", database: { reachable: false } });
  const called = await service.call("GET", "/api/jobs", { key });
  expect(called).toMatchObject({ status: 503, body: { code: "unavailable" } });
  expect(JSON.stringify(called.body)).not.toContain(name);
  await admin.script(`alter database ${name} allow_connections true`);
  await admin.close();
  await eventually("/api/health/ready", 200);
  expect((await service.call("GET", "/api/jobs", { key })).status).toBe(200);
});
