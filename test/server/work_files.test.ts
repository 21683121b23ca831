// Files, large results and declared effects of workers over HTTP: nobody sees anything of them before the finish that names them, and nobody ever sees
// what no finish has named.
import { createHash, randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { FileSweep } from "../../src/engine/upkeep/file_sweep.js";
import { openService, type TestService } from "./service.js";

let service: TestService;
beforeAll(async () => {
  service = await openService(
    {
      jobs: [
        defineJob({
          type: "two",
          stages: [
            { name: "make", task: "f.make" },
            { name: "read", task: "f.read", parallelism: "fan_in" },
          ],
        }),
      ],
      handlers: ["f.make", "f.read", "f.lone"].map((name) => defineHandler(name, {}, () => null)),
    },
    { catalog: "auto" },
    { variant: "stac" },
  );
});
afterAll(() => service.close());

const sha256 = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");

async function registered(tenant: string, types = ["f.make", "f.read", "f.lone"]) {
  const key = await service.key(tenant);
  const told = await service.call("POST", "/api/workers/register", { key, body: { types, lease_s: 30 } });
  const { worker_id } = told.body as { worker_id: string };
  const base = `/api/workers/${worker_id}`;
  const say = async (verb: string, body: unknown = undefined, status = 200) => {
    const answer = await service.call("POST", `${base}/${verb}`, { key, body });
    expect([verb, answer.status, answer.body]).toEqual([verb, status, expect.anything()]);
    return answer.body;
  };
  const get = (path: string, headers = {}) =>
    service.call("GET", path.startsWith("/") ? path : `${base}/${path}`, { key, headers });
  const put = async (url: string, bytes: Uint8Array, headers: Record<string, string> = {}) => {
    const answer = await fetch(service.url + url, {
      method: "PUT",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/octet-stream", ...headers },
      body: bytes as never,
    });
    return { status: answer.status, body: await answer.json() };
  };
  const engine = service.engine.forTenant(tenant);
  const claim = async (parameters = {}) => {
    await engine.enqueue("f.lone", parameters as never, { max_attempts: 2 });
    const [task] = (await say("claim", { limit: 1 })).tasks;
    const { task_id, claim_id, attempt } = task;
    return { task_id, claim_id, attempt };
  };
  return { worker_id, key, say, get, put, engine, claim };
}

const cog = { zone: "silver", prefix: "dem/tile-1", name: "cog.tif", media_type: "image/tiff" };

test("a file comes in parts, goes on after an interruption, and is seen with the finish and not before", async () => {
  const { say, get, put, engine, claim } = await registered("parts");
  const held = await claim();
  const bytes = randomBytes(300_000);
  const asked = { ...held, ...cog, bytes: bytes.length, sha256: sha256(bytes) };
  const { key, ref, upload } = await say("files", asked, 201);
  expect(ref).toBe(`silver:${key}`);
  expect(upload).toMatchObject({ resumable: true, part_bytes: 8 * 1024 * 1024 });
  expect(upload.url.startsWith("/api/workers/")).toBe(true);
  const part = (from: number, to: number) =>
    put(upload.url, bytes.subarray(from, to), { "content-range": `bytes ${from}-${to - 1}/${bytes.length}` });
  expect(await part(0, 100_000)).toMatchObject({ status: 200, body: { received: 100_000, complete: false } });
  // The worker does not know whether it arrived.
  expect((await part(0, 100_000)).status).toBe(409);
  expect((await get(upload.url)).body).toMatchObject({ received: 100_000, complete: false });
  expect((await part(100_000, 300_000)).body).toEqual({ received: 300_000, complete: true, sha256: sha256(bytes) });
  expect((await get(upload.url)).body).toMatchObject({ received: 300_000, complete: true });
  expect((await part(100_000, 300_000)).body).toMatchObject({ complete: true });
  const path = `/assets/silver/${key}`;
  expect((await get(path)).status).toBe(404);

  const effect = {
    effect: "publish",
    zone: "silver",
    key,
    bytes: bytes.length,
    sha256: sha256(bytes),
    media_type: "image/tiff",
  };
  const wrong = [
    { ...effect, bytes: 5 },
    { ...effect, key: key.replace("tile-1", "tile-2") },
    { effect: "retract", zone: "silver", key: "../x" },
  ];
  const other = await claim();
  const refused = await say("finish", { tasks: [{ ...other, effects: wrong }] });
  expect(refused).toMatchObject({ accepted: 1, unstorable: [{ task_id: other.task_id }] });
  expect((await engine.task(other.task_id)).error).toMatchObject({ category: "contract", code: "bad_effect" });
  expect((await engine.task(other.task_id)).error?.message).toMatch(
    /no file of this attempt[\s\S]*no file of this attempt[\s\S]*key that none can be/,
  );

  expect(await say("finish", { tasks: [{ ...held, result: { ref }, effects: [effect] }] })).toMatchObject({
    accepted: 1,
  });
  const seen = await fetch(service.url + path, { headers: { authorization: `Bearer ${await service.key("parts")}` } });
  expect(Buffer.from(await seen.arrayBuffer()).equals(bytes)).toBe(true);
  expect(await engine.assets.find({ zone: "silver", key })).toMatchObject({ name: "cog.tif", task_id: held.task_id });
  // Its answer was lost.
  expect(await say("finish", { tasks: [{ ...held, result: { ref }, effects: [effect] }] })).toMatchObject({
    accepted: 1,
  });
});

test("a task reads what lies in the zones, whole, by range, and page by page", async () => {
  const { get, engine } = await registered("reads");
  const store = engine.zones.store("bronze", "reads");
  async function* pieces() {
    yield Buffer.from("0123456789");
  }
  for (const key of ["in/a b.txt", "in/c.txt", "out.txt"]) await store.write(key, pieces());
  const page = (await get("files?zone=bronze&prefix=in/&limit=1")).body;
  expect(page.entries).toMatchObject([{ key: "in/a b.txt", bytes: 10 }]);
  const rest = await get(`files?zone=bronze&prefix=in/&after=${encodeURIComponent(page.next)}`);
  expect(rest.body).toMatchObject({ entries: [{ key: "in/c.txt" }], next: null });
  expect((await get("files/stat?zone=bronze&key=in/c.txt")).body).toMatchObject({ stat: { bytes: 10 } });
  expect((await get("files/stat?zone=bronze&key=no")).body).toEqual({ stat: null });
  expect((await get("files/content?zone=bronze&key=in/a%20b.txt")).body).toBe("0123456789");
  const part = await get("files/content?zone=bronze&key=in/c.txt", { range: "bytes=2-4" });
  expect([part.status, part.body, part.headers.get("content-range")]).toEqual([206, "234", "bytes 2-4/10"]);
  expect((await get("files/content?zone=bronze&key=in/c.txt", { range: "bytes=99-" })).status).toBe(416);
  expect((await get("files/content?zone=bronze&key=no")).status).toBe(404);
  for (const path of [
    "files/stat?zone=bronze&key=../x",
    "files/content?zone=bronze&key=../x",
    "files?zone=bronze&prefix=../",
  ])
    expect((await get(path)).status).toBe(400);
});

test("a zombie's file is never visible, and the sweep removes it", async () => {
  const { say, get, put, engine, claim, worker_id } = await registered("zombie");
  const held = await claim();
  const bytes = Buffer.from("made by a zombie");
  const { key, upload } = await say("files", { ...held, ...cog, bytes: bytes.length }, 201);
  expect((await put(upload.url, bytes)).body).toMatchObject({ complete: true });
  const late = await say("files", { ...held, ...cog, bytes: 5 }, 201);
  // Declared lost between the upload and the finish: another worker has the task now.
  await service.db
    .sql`update app.workers set heartbeat_at = now() - interval '1 hour' where worker_id = ${worker_id}::text::uuid`;
  await service.engine.worker_commands.reap_workers(service.db);
  const effect = {
    effect: "publish",
    zone: "silver",
    key,
    bytes: bytes.length,
    sha256: sha256(bytes),
    media_type: "x/y",
  };
  const told = await service.call("POST", `/api/workers/${worker_id}/finish`, {
    key: await service.key("zombie"),
    body: {
      tasks: [
        {
          ...held,
          effects: [effect, { effect: "enqueue", task_type: "f.lone", tasks: [{ parameters: { by: "zombie" } }] }],
        },
      ],
    },
  });
  expect(told.body).toMatchObject({ accepted: 0, refused: [{ reason: "not_held" }] });
  expect((await put(late.upload.url, Buffer.from("12345"))).status).toBe(409);
  expect((await get(`/assets/silver/${key}`)).status).toBe(404);
  expect(await engine.assets.find({ zone: "silver", key })).toBeNull();
  const store = engine.zones.store("silver", "zombie");
  expect(await store.stat(key)).not.toBeNull();
  const next = await registered("zombie");
  const again = (await next.say("claim", { limit: 10 })).tasks;
  expect(again.map(({ task_id }: { task_id: string }) => task_id)).toEqual([held.task_id]);
  await next.say("finish", {
    tasks: [{ task_id: held.task_id, claim_id: again[0].claim_id, attempt: again[0].attempt }],
  });
  const now = () => Date.now() + 25 * 3_600_000;
  const sweep = new FileSweep({ db: service.engine.db, zones: engine.zones, log: engine.log, now });
  expect((await sweep.zone("zombie", "silver")).found).toMatchObject([{ key, why: "unfinished" }]);
  expect(await store.stat(key)).toBeNull();
});

test("a file of a failed attempt is removed at once where the worker names it; a file of others is not", async () => {
  const { say, put, engine, claim } = await registered("discards");
  const good = await claim();
  const bytes = Buffer.from("kept");
  const kept = await say("files", { ...good, ...cog, bytes: bytes.length }, 201);
  await put(kept.upload.url, bytes);
  const effect = {
    effect: "publish",
    zone: "silver",
    key: kept.key,
    bytes: 4,
    sha256: sha256(bytes),
    media_type: "x/y",
  };
  await say("finish", { tasks: [{ ...good, effects: [effect] }] });
  const bad = await claim();
  const gone = await say("files", { ...bad, ...cog, bytes: bytes.length }, 201);
  await put(gone.upload.url, bytes);
  const discard = [kept, gone].map(({ key }) => ({ zone: "silver", key }));
  await say("finish", { tasks: [{ ...bad, error: { message: "no", category: "permanent" }, discard }] });
  const store = engine.zones.store("silver", "discards");
  expect([await store.stat(kept.key), await store.stat(gone.key)]).toEqual([expect.anything(), null]);
});

test("a large result goes to storage and is read by the stage after, in its page or by its own address", async () => {
  const { say, get, put, engine } = await registered("spills");
  const { job_id } = await engine.submit("two", {});
  const [task] = (await say("claim", { limit: 1 })).tasks;
  const { task_id, claim_id, attempt } = task;
  const held = { task_id, claim_id, attempt };
  const text = JSON.stringify({ all: "x".repeat(9_000_000) });
  const { key, upload, zone } = await say("files", { ...held, spill: true, bytes: text.length }, 201);
  expect(zone).toBeNull();
  const spill = { key, bytes: text.length, sha256: sha256(text) };
  const half = Buffer.from(text).subarray(0, 8_000_000);
  const rest = Buffer.from(text).subarray(8_000_000);
  await put(upload.url, half, { "content-range": `bytes 0-7999999/${text.length}` });
  await put(upload.url, rest, { "content-range": `bytes 8000000-${text.length - 1}/${text.length}` });
  expect(await say("finish", { tasks: [{ ...held, spill }] })).toMatchObject({ accepted: 1, unstorable: [] });
  const next = await say("claim", { limit: 1 });
  const { stage_id } = next.stages[0].previous[0];
  const { items } = (await get(`results?stage_id=${stage_id}`)).body;
  expect(items).toMatchObject([{ result: null, left_out: { bytes: text.length } }]);
  expect((await get(items[0].left_out.url)).body).toEqual(JSON.parse(text));
  const [fold] = next.tasks;
  const end = { task_id: fold.task_id, claim_id: fold.claim_id, attempt: fold.attempt };
  const small = '{"n": 1}';
  const second = await say("files", { ...end, spill: true, bytes: small.length }, 201);
  await put(second.upload.url, Buffer.from(small));
  const told = { key: second.key, bytes: small.length, sha256: sha256("other") };
  const bad = [{ ...told, key }, { ...told, bytes: 3 }, told];
  for (const one of bad.slice(0, 1)) {
    const answer = await say("finish", { tasks: [{ ...end, spill: one }] });
    expect(answer.unstorable).toMatchObject([{ message: expect.stringContaining("this attempt was given a key for") }]);
  }
  expect(await engine.status(job_id)).toMatchObject({ status: "failed" });
});

test("effects stay or go together, with the finish: assets, items, tasks", async () => {
  const { say, engine, claim } = await registered("effects");
  const collection = {
    type: "Collection",
    stac_version: "1.0.0",
    id: "dem",
    description: "heights",
    license: "CC0-1.0",
    extent: { spatial: { bbox: [[-180, -90, 180, 90]] }, temporal: { interval: [[null, null]] } },
    links: [],
  };
  const item = (id: string) => ({
    type: "Feature",
    stac_version: "1.0.0",
    id,
    collection: "dem",
    geometry: { type: "Point", coordinates: [7, 47] },
    bbox: [7, 47, 7, 47],
    properties: { datetime: "2026-01-01T00:00:00Z" },
    links: [],
    assets: {},
  });
  const made = await claim();
  const effects = [
    { effect: "put_collection", collection },
    { effect: "put_items", collection: "dem", items: [item("a"), item("b")] },
    {
      effect: "enqueue",
      task_type: "f.lone",
      tasks: [{ parameters: { n: 1 }, key: "once" }, { parameters: { n: 2 } }],
    },
  ];
  expect(await say("finish", { tasks: [{ ...made, effects }] })).toMatchObject({ accepted: 1, unstorable: [] });
  const key = await service.key("effects");
  const items = await service.call("GET", "/stac/collections/dem/items", { key });
  expect(items.body.features.map(({ id }: { id: string }) => id).sort()).toEqual(["a", "b"]);
  const enqueued = (await say("claim", { limit: 10 })).tasks;
  expect(enqueued).toHaveLength(2);

  // The last of them cannot be: none is written, and the task fails in words.
  const [first] = enqueued;
  const end = { task_id: first.task_id, claim_id: first.claim_id, attempt: first.attempt };
  const half = [
    { effect: "delete_items", collection: "dem", ids: ["a"] },
    { effect: "put_items", collection: "dem", items: [{ id: "c" }] },
  ];
  const told = await say("finish", { tasks: [{ ...end, effects: half }] });
  expect(told.unstorable).toHaveLength(1);
  expect((await engine.task(first.task_id)).error).toMatchObject({ code: "bad_effect", category: "contract" });
  const still = await service.call("GET", "/stac/collections/dem/items/a", { key });
  expect(still.status).toBe(200);
});
