// Datasets and releases over HTTP and with the client: decided by whoever may, told to receivers, and nothing of it to another tenant.
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient } from "../../src/client/index.js";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { claim, finish, register } from "../engine/floor.js";
import { ask, recipe } from "../platform/floor.js";
import { openService, type TestService } from "./service.js";

let service: TestService;
let worker: string;
beforeAll(async () => {
  service = await openService({
    jobs: [defineJob({ type: "old", stages: [{ name: "only", task: "t.old" }] })],
    handlers: [defineHandler("t.old", {}, () => null)],
  });
  for (const tenant of ["a", "b"]) await service.key(tenant);
  await recipe(service.db, "reviewed", [{ name: "make" }, { name: "publish", gate: { message: "Publish it?" } }], {
    approval: true,
  });
  worker = await register(service.db, ["t.make", "t.publish"]);
});
afterAll(() => service.close());

const run = async (type: string) => finish(service.db, worker, await claim(service.db, worker, [type]));
const clientOf = async (tenant: string) =>
  createClient({ url: service.url, key: await service.key(tenant), retries: 0 });

test("a release is listed, approved, looked up, revoked and made again, and receivers hear of it", async () => {
  const client = await clientOf("a");
  const key = await service.key("a");
  const events = ["request.approval_wanted", "request.approved", "request.completed", "request.revoked"];
  const { request_id } = await ask(
    service.db,
    "reviewed",
    {
      dataset_id: "dem",
      resource_id: "alps",
      webhooks: [{ url: "https://example.com/hook", secret: "secret://hook" }],
    },
    "a",
  );
  const early = await service.call("POST", "/api/platform/approve", { key, body: { id: request_id } });
  expect([early.status, early.body]).toMatchObject([
    409,
    { detail: expect.stringContaining("its request is processing") },
  ]);
  await run("t.make");
  expect(await client.releases.datasets({ approval: "pending_review" }).all()).toMatchObject([
    { dataset_id: "dem", resource_id: "alps", releases: 1, newest: { approval: "pending_review" }, latest: null },
  ]);
  expect(await client.releases.approve("dem/alps/1", { dry_run: true })).toMatchObject({
    changed: false,
    after: "approved",
  });
  const approved = await client.releases.approve("dem/alps/1", {
    clearance: "public",
    reason: "checked",
    actor: "ann",
  });
  expect(approved).toMatchObject({
    changed: true,
    release: { approval: "approved", clearance: "public", reviewer: expect.stringContaining("(ann)") },
  });
  await run("t.publish");
  expect(await client.releases.lookup({ dataset_id: "dem", resource_id: "alps" })).toMatchObject({
    found: true,
    release: { version_id: "1", latest: true, status: "completed" },
  });
  expect(await client.releases.unpublish("dem/alps/1")).toMatchObject({
    dry_run: true,
    file_count: 0,
    files: [],
    items: [],
    changed: false,
  });
  const silent = await service.call("POST", "/api/platform/revoke", { key, body: { id: "dem/alps/1" } });
  expect([silent.status, silent.body.problems]).toMatchObject([400, [{ path: "body.reason" }]]);
  await client.releases.revoke("dem/alps/1", { reason: "wrong datum" });
  expect(await client.releases.lookup({ dataset_id: "dem", resource_id: "alps" })).toMatchObject({
    found: false,
    why: expect.stringContaining("revoked"),
  });
  const [release] = await client.releases.of("dem", "alps");
  expect(release).toMatchObject({
    approval: "revoked",
    reason: "wrong datum",
    decisions: [{ decision: "approved" }, { decision: "revoked", reason: "wrong datum" }],
  });
  const told = await service.db.sql<{
    event_type: string;
  }>`select event_type from app.webhook_deliveries where tenant_id = 'a' order by created_at, event_type`;
  expect(told.map(({ event_type }) => event_type).sort()).toEqual([...events].sort());
});

test("nothing of it is there for another tenant, and looking is not deciding", async () => {
  const other = await clientOf("b");
  const { request_id } = await ask(service.db, "reviewed", { dataset_id: "mine", resource_id: "r" }, "a");
  expect(await other.releases.datasets().all()).toEqual([]);
  await expect(other.releases.of("mine", "r")).rejects.toMatchObject({ code: "not_found" });
  expect(await other.releases.lookup({ dataset_id: "mine", resource_id: "r" })).toMatchObject({
    found: false,
    release: null,
  });
  for (const id of [request_id, "mine/r", "mine/r/1"]) {
    await expect(other.releases.approve(id)).rejects.toMatchObject({ code: "not_found" });
    await expect(other.releases.unpublish(id)).rejects.toMatchObject({ code: "not_found" });
  }
  const reader = await service.key("a", ["read"]);
  expect((await service.call("POST", "/api/platform/approve", { key: reader, body: { id: "mine/r" } })).status).toBe(
    403,
  );
  expect(
    (await service.call("GET", "/api/platform/releases?dataset_id=mine&resource_id=r", { key: reader })).status,
  ).toBe(200);
});

test("what older systems send at submit is understood, or told what to write instead", async () => {
  const key = await service.key("a");
  const submit = (body: object) => service.call("POST", "/api/jobs/submit/old", { key, body });
  expect(await submit({ n: 1 })).toMatchObject({ status: 201, body: { run: 1 } });
  expect(await submit({ n: 1, force_reprocess: true })).toMatchObject({ status: 201, body: { run: 2 } });
  expect(await submit({ n: 1, force_reprocess: false })).toMatchObject({ status: 200 });
  const old = await submit({
    n: 1,
    webhook_url: "https://example.com/x",
    webhook_secret: "whsec_1",
    force_reprocess: "yes",
  });
  expect(old).toMatchObject({ status: 400 });
  expect(old.body.problems.map(({ path }: { path: string }) => path).sort()).toEqual([
    "body.force_reprocess",
    "body.webhook_secret",
    "body.webhook_url",
  ]);
  expect(JSON.stringify(old.body)).not.toContain("whsec_1");
  const kept = await submit({ parameters: { webhook_secret: "whsec_1" } });
  expect(kept).toMatchObject({ status: 400 });
  expect(await service.db.sql`select from app.jobs where parameters::text like '%whsec_%'`).toEqual([]);
  const later = await submit({ n: 2, run_at: "2030-01-01T00:00:00Z", parameters: undefined });
  expect(later.status).toBe(201);
  const seen = await service.call("GET", `/api/jobs/${later.body.job_id}`, { key });
  expect(seen.body).toMatchObject({
    status: "queued",
    hint: expect.stringContaining("it waits for its time"),
    parameters: { n: 2 },
  });
  const changed = await service.call("POST", `/api/jobs/${later.body.job_id}/change`, {
    key,
    body: { priority: 3, run_at: "2031-01-01T00:00:00Z" },
  });
  expect(changed).toMatchObject({ status: 200, body: { changed: true, priority: 3 } });
});
