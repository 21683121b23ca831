// What a reviewer looks at over HTTP: the story of a request, and what it makes beside what stood before; found by text; never another tenant's.
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient } from "../../src/client/index.js";
import { claim, finish, register } from "../engine/floor.js";
import { ask, recipe } from "../platform/floor.js";
import { openService, type TestService } from "./service.js";

let service: TestService;
let worker: string;
beforeAll(async () => {
  service = await openService({});
  for (const tenant of ["a", "b"]) await service.key(tenant);
  await recipe(service.db, "reviewed", [{ name: "make" }, { name: "publish", gate: { message: "Publish it?" } }], {
    approval: true,
  });
  const takes_down = [{ type: "unpublish_raster", stages: [{ name: "only", task: "t.gone" }] }];
  await service.db.sql`select app.register_blueprints(${JSON.stringify(takes_down)}::text::jsonb)`;
  worker = await register(service.db, ["t.make", "t.publish"]);
});
afterAll(() => service.close());

const run = async (type: string) => finish(service.db, worker, await claim(service.db, worker, [type]));
const clientOf = async (tenant: string) =>
  createClient({ url: service.url, key: await service.key(tenant), retries: 0 });
const version = (version_id: string, more: object = {}) =>
  ask(service.db, "reviewed", { dataset_id: "Dem", resource_id: "alps", version_id, ...more }, "a");

test("a request is reviewed beside the version that was approved before, else beside its run before", async () => {
  const client = await clientOf("a");
  const first = await version("1", { files: ["bronze:old.tif"] });
  await run("t.make");
  expect(await client.requests.review(first.request_id)).toMatchObject({
    release: { ordinal: 1, approval: "pending_review" },
    makes_it_now: true,
    now: { tasks: { total: 1, completed: 1 }, made: [], extent: null, items: null },
    before: null,
    before_is: null,
  });
  await client.releases.approve("Dem/alps/1", { reason: "first" });
  await run("t.publish");
  await service.db.sql`
    insert into app.assets (tenant_id, zone, key, name, bytes, sha256, media_type, job_id)
    select 'a', 'silver', 'x/' || n || '.tif', n || '.tif', 100 * n, repeat('0', 64), 'image/tiff', j.job_id
      from generate_series(1, 2) n, app.jobs j where j.request_id = ${first.request_id} and j.job_type = 'j_make'`;
  await service.db.sql`
    update app.tasks t set bbox = '{6,45,8,47}' from app.stages s, app.jobs j
     where t.stage_id = s.stage_id and s.job_id = j.job_id and j.request_id = ${first.request_id} and j.job_type = 'j_make'`;

  const second = await version("2", { files: ["bronze:new.tif"], parameters: { approval: true } });
  await run("t.make");
  const review = await client.requests.review("Dem/alps/2");
  expect(review).toMatchObject({
    request_id: second.request_id,
    before_is: "approved",
    now: { version_id: "2", files: ["bronze:new.tif"], parameters: { approval: true } },
    before: {
      request_id: first.request_id,
      files: ["bronze:old.tif"],
      tasks: { total: 2, completed: 2 },
      made: [{ media_type: "image/tiff", files: 2, bytes: 300 }],
      extent: [6, 45, 8, 47],
      release: { version_id: "1", approval: "approved", reason: "first" },
    },
  });

  // Revoked, version 1 does not count as what was approved; there is no run before: it is the version before all the same.
  await client.releases.revoke("Dem/alps/1", { reason: "wrong datum" });
  expect(await client.requests.review(second.request_id)).toMatchObject({ before_is: "version_before" });
  await client.releases.reject("Dem/alps/2", { reason: "blurred" });
  const again = await version("2", { files: ["bronze:newer.tif"], mode: "force" });
  expect(again.run).toBe(2);
  expect(await client.requests.review(again.request_id)).toMatchObject({
    before_is: "run_before",
    makes_it_now: true,
    now: { run: 2, release: { revision: 2 } },
    before: { run: 1, request_id: second.request_id, release: null },
  });
  expect(await client.requests.review(second.request_id)).toMatchObject({ makes_it_now: false });
});

test("its story is told newest first, page by page, with its release's and its jobs'", async () => {
  const client = await clientOf("a");
  const { request_id } = await client.requests.get("Dem/alps/1");
  const events = await client.requests.events(request_id).all();
  expect(events.map(({ kind, job }) => (job === null ? kind : `${kind} ${job}`))).toEqual([
    "release.revoked",
    "request.completed",
    "job.completed publish",
    "job.submitted publish",
    "request.approved",
    "release.approved",
    "request.approval_wanted",
    "job.completed make",
    "job.submitted make",
    "request.submitted",
  ]);
  expect(events[0]).toMatchObject({ reason: "wrong datum", data: { clearance: "uncleared" } });
  expect(await client.requests.events(request_id, { limit: 3 }).all()).toEqual(events);
  const key = await service.key("a");
  const wrong = await service.call("GET", `/api/platform/requests/${request_id}/events?cursor=x`, { key });
  expect(wrong.status).toBe(400);
});

test("requests are found by part of what they are called, or by how their id begins", async () => {
  const client = await clientOf("a");
  const { request_id } = await ask(service.db, "reviewed", { dataset_id: "soil_100%", resource_id: "x" }, "a");
  const found = async (text: string) =>
    (await client.requests.list({ text }).all()).map(({ dataset_id, version_id }) => `${dataset_id} ${version_id}`);
  expect(await found("EM/ALPS/2")).toEqual(["Dem 2", "Dem 2"]);
  expect(await found("_100%")).toEqual(["soil_100% 1"]);
  expect(await found(request_id.slice(0, 10))).toEqual(["soil_100% 1"]);
  expect(await found("%")).toEqual(["soil_100% 1"]);
});

test("another tenant finds nothing of it", async () => {
  const other = await clientOf("b");
  for (const id of ["Dem/alps/1", (await (await clientOf("a")).requests.get("Dem/alps/1")).request_id]) {
    await expect(other.requests.review(id)).rejects.toMatchObject({ code: "not_found" });
    await expect(other.requests.events(id).all()).rejects.toMatchObject({ code: "not_found" });
  }
  expect(await other.requests.list({ text: "alps" }).all()).toEqual([]);
});
