// Files that clients bring into bronze: on a folder, in a bucket, in a container; broken off, killed and gone on with; seen by nobody before they
// are whole, and never by another tenant.
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Client, createClient } from "../../src/client/index.js";
import type { Engine } from "../../src/engine/engine.js";
import { openEngine } from "../../src/engine/open_engine.js";
import { FileSweep } from "../../src/engine/upkeep/file_sweep.js";
import { createApp } from "../../src/server/app.js";
import type { ZoneSettings } from "../../src/storage/zones.js";
import { build, spawnFanfold } from "../cli/built_program.js";
import { readAll, text } from "../storage/blob_conformance.js";
import { emulator, type ObjectService, startAzure, startS3 } from "../storage/object_services.js";
import { openService, type TestService } from "./service.js";

const PART = 10_000;
const uploads = { max_bytes: 1_000_000, tenant_bytes: 300_000, part_bytes: PART };
const content = randomBytes(45_678);
const sha256Of = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const sha256 = sha256Of(content);

let service: TestService;
let dir: string;
const opened: { engine: Engine; app: FastifyInstance }[] = [];

interface Place {
  engine: Engine;
  url: string;
  /** Calls for parts wait while it is a promise. */
  gate: { closed: Promise<void> | null; waiting: number };
}

/** A server of its own on the same database, with bronze somewhere. */
async function placeOf(zones: Partial<ZoneSettings>): Promise<Place> {
  const {
    server_url: database_url,
    storage_dir,
    engine: { registry },
  } = service;
  const secret_keys = [randomBytes(32)];
  const engine = await openEngine({ database_url, storage_dir, registry, zones, uploads, secret_keys, connections: 3 });
  const app = createApp({ engine, check_replies: true });
  const gate: Place["gate"] = { closed: null, waiting: 0 };
  app.addHook("preHandler", async (call) => {
    if (!/\/parts\/([4-9]|\d\d)$/.test(call.url) || gate.closed === null) return;
    gate.waiting++;
    await gate.closed;
  });
  await app.listen({ port: 0, host: "127.0.0.1" });
  opened.push({ engine, app });
  return { engine, url: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`, gate };
}

let disk: Place;
let s3: Place;
let azure: Place;
const services: ObjectService[] = [];

beforeAll(async () => {
  service = await openService();
  for (const tenant of ["a", "b"]) await service.key(tenant);
  dir = await mkdtemp(join(tmpdir(), "fanfold-uploads-"));
  const [bucket, container] = await Promise.all([startS3("bronze"), startAzure("bronze")]);
  services.push(bucket, container);
  disk = await placeOf({ bronze: join(dir, "bronze") });
  s3 = await placeOf({ bronze: "s3://bronze/zone", s3: { endpoint: bucket.endpoint, region: "us-east-1" } });
  azure = await placeOf({
    bronze: `az://${emulator.account}/bronze/zone`,
    azure: { endpoint: container.endpoint, credentials: () => ({ account_key: emulator.account_key }) },
  });
});
afterAll(async () => {
  for (const { app, engine } of opened) {
    await app.close();
    await engine.close();
  }
  await service.close();
  for (const one of services) await one.close();
  await rm(dir, { recursive: true, force: true });
});

const clientOf = async (place: Place, tenant = "a", more: object = {}): Promise<Client> =>
  createClient({ url: place.url, key: await service.key(tenant), retries: 0, ...more });
const filesOf = (place: Place, tenant = "a") => place.engine.zones.store("bronze", tenant);
const partsOf = (place: Place, tenant = "a") => place.engine.zones.parts("bronze", tenant);
const listed = async (place: Place) => (await filesOf(place).list("")).entries.map(({ key }) => key);

describe.each([
  ["a folder", () => disk],
  ["a bucket", () => s3],
  ["a container", () => azure],
] as const)("into %s", (name, placeNow) => {
  const key = (file: string) => `${name} ü/${file}`;

  test("a file comes in parts and is there, whole, once it is complete", async () => {
    const place = placeNow();
    const client = await clientOf(place);
    const told: number[] = [];
    const done = await client.upload(content, { key: key("scene 1.tif"), onProgress: (sent) => told.push(sent) });
    expect(done).toMatchObject({
      state: "completed",
      ref: `bronze:${key("scene 1.tif")}`,
      bytes: content.length,
      sha256,
      expires_at: null,
    });
    expect((await readAll(filesOf(place), key("scene 1.tif"))).equals(content)).toBe(true);
    expect(told).toEqual([...told].sort((a, b) => a - b));
    expect(told.at(-1)).toBe(content.length);
    expect((await partsOf(place).list("")).entries).toEqual([]);
    await client.uploads.remove(done.upload_id);
    expect(await filesOf(place).stat(key("scene 1.tif"))).toBeNull();
  });

  test("one that is broken off half-way shows nothing, and goes on with what is missing", async () => {
    const place = placeNow();
    let [puts, failing] = [0, true];
    const counting = (async (address: string, init: RequestInit) => {
      if (init.method === "PUT" && failing && ++puts > 2) throw new TypeError("the line is cut");
      if (init.method === "PUT" && !failing) puts++;
      return fetch(address, init);
    }) as typeof fetch;
    const client = await clientOf(place, "a", { fetch: counting });
    await expect(client.upload(content, { key: key("cut.tif"), parallel: 1 })).rejects.toMatchObject({
      code: "connection",
    });
    expect(await filesOf(place).stat(key("cut.tif"))).toBeNull();
    expect(await listed(place)).not.toContain(key("cut.tif"));
    const [open] = await client.uploads.list({ state: "open", prefix: key("cut.tif") }).all();
    expect(await client.uploads.get(open!.upload_id)).toMatchObject({ part_count: 5, missing: 3 });
    [puts, failing] = [0, false];
    const done = await client.upload(content, { key: key("cut.tif") });
    expect([done.upload_id, done.sha256, puts]).toEqual([open!.upload_id, sha256, 3]);
    await client.uploads.remove(done.upload_id);
  });

  test("what has arrived and is another file is not taken, and the upload is over", async () => {
    const place = placeNow();
    const client = await clientOf(place);
    const wrong = client.upload(content, { key: key("wrong.tif"), sha256: "0".repeat(64) });
    await expect(wrong).rejects.toThrow(`SHA-256 ${sha256}, and ${"0".repeat(64)} was announced`);
    expect(await filesOf(place).stat(key("wrong.tif"))).toBeNull();
    expect(await client.uploads.list({ prefix: key("wrong.tif") }).all()).toEqual([]);
    expect((await partsOf(place).list("")).entries).toEqual([]);
  });

  test("an empty file has one part of nothing", async () => {
    const client = await clientOf(placeNow());
    const done = await client.upload(new Uint8Array(), { key: key("empty") });
    expect(done).toMatchObject({ bytes: 0, sha256: sha256Of(new Uint8Array()) });
    await client.uploads.remove(done.upload_id);
  });

  test("two uploads of one key: the first that is complete has it, the other is told", async () => {
    const place = placeNow();
    const client = await clientOf(place);
    const bodies = [randomBytes(100), randomBytes(100)];
    const begun = await Promise.all(
      bodies.map(
        () => client.call(begin, { body: { key: key("same"), bytes: 100 } }) as Promise<{ upload_id: string }>,
      ),
    );
    const ends = await Promise.allSettled(
      bodies.map((body, at) => client.upload(body, { key: key("same"), upload_id: begun[at]!.upload_id })),
    );
    const won = ends.findIndex(({ status }) => status === "fulfilled");
    expect(ends.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect((ends[1 - won] as PromiseRejectedResult).reason).toMatchObject({ http_status: 409 });
    expect((await readAll(filesOf(place), key("same"))).equals(bodies[won]!)).toBe(true);
    // It may be put over the other when that is asked for.
    await expect(client.upload(bodies[0]!, { key: key("same") })).rejects.toMatchObject({ code: "conflict" });
    const over = await client.upload(bodies[1 - won]!, { key: key("same"), overwrite: true });
    expect((await readAll(filesOf(place), key("same"))).equals(bodies[1 - won]!)).toBe(true);
    expect(await client.uploads.list({ state: "completed", prefix: key("same") }).all()).toMatchObject([over]);
    await client.uploads.remove(over.upload_id);
    for (const { upload_id } of await client.uploads.list({ prefix: key("same") }).all())
      await client.uploads.remove(upload_id);
  });
});

const { begin } = await import("../../src/core/api/files/uploads.js").then(({ uploads_api }) => uploads_api);

test("with curl alone: announce, send, complete", async () => {
  const authorization = `Bearer ${await service.key("a")}`;
  const json = { authorization, "content-type": "application/json" };
  const body = JSON.stringify({ key: "curl.txt", bytes: 5 });
  const begun = (await (await fetch(`${disk.url}/api/files`, { method: "POST", headers: json, body })).json()) as {
    upload_id: string;
    parts: { url: string }[];
  };
  expect(begun.parts).toMatchObject([{ part: 1, offset: 0, bytes: 5, method: "PUT", headers: {} }]);
  // As curl -T sends it: without a type.
  const [{ url }] = begun.parts as [{ url: string }];
  const sent = await fetch(disk.url + url, { method: "PUT", headers: { authorization }, body: "hello" });
  expect([sent.status, await sent.json()]).toEqual([
    200,
    { part: 1, bytes: 5, sha256: sha256Of(Buffer.from("hello")) },
  ]);
  const done = await fetch(`${disk.url}/api/files/${begun.upload_id}/complete`, {
    method: "POST",
    headers: { authorization },
  });
  expect([done.status, await done.json()]).toMatchObject([200, { state: "completed", ref: "bronze:curl.txt" }]);
  // Asking again is safe, and it takes no more parts.
  const again = await fetch(`${disk.url}/api/files/${begun.upload_id}/complete`, {
    method: "POST",
    headers: { authorization },
  });
  expect(again.status).toBe(200);
  const late = await fetch(disk.url + url, { method: "PUT", headers: { authorization }, body: "HELLO" });
  expect(late.status).toBe(409);
  expect((await readAll(filesOf(disk), "curl.txt")).toString()).toBe("hello");
});

test("a part that ends early is not there, and neither is one of another size", async () => {
  const client = await clientOf(disk);
  const { upload_id } = (await client.call(begin, { body: { key: "early", bytes: 15_000 } })) as { upload_id: string };
  const { hostname, port } = new URL(disk.url);
  const headers = { authorization: `Bearer ${await service.key("a")}`, "content-length": String(PART) };
  const half = request({ hostname, port, method: "PUT", path: `/api/files/${upload_id}/parts/1`, headers });
  half.on("error", () => {});
  half.write(content.subarray(0, 5_000));
  const partial = join(partsOf(disk).place, ".partial");
  // The server has begun to write it when the line is cut.
  await expect.poll(() => existsSync(partial) && readdirSync(partial).length).toBe(1);
  half.destroy();
  await expect.poll(() => readdirSync(partial).length).toBe(0);
  expect(await client.uploads.get(upload_id)).toMatchObject({ missing: 2 });
  for (const [part, bytes, status] of [
    [1, 9_999, 400],
    [2, 5_001, 400],
    [3, 10, 400],
    [2, 5_000, 200],
  ] as const) {
    const sent = await fetch(`${disk.url}/api/files/${upload_id}/parts/${part}`, {
      method: "PUT",
      headers: { authorization: headers.authorization },
      body: content.subarray(0, bytes),
    });
    expect([part, bytes, sent.status]).toEqual([part, bytes, status]);
  }
  expect(await client.uploads.get(upload_id)).toMatchObject({ missing: 1, parts: [{ part: 1 }] });
  const early = fetch(`${disk.url}/api/files/${upload_id}/complete`, {
    method: "POST",
    headers: { authorization: headers.authorization },
  });
  expect(await (await early).json()).toMatchObject({ status: 409, detail: expect.stringContaining("1 of 2 parts") });
  await client.uploads.remove(upload_id);
  await expect(client.uploads.get(upload_id)).rejects.toMatchObject({ code: "not_found" });
});

test("the program is killed half-way, and the same command goes on where it was", async () => {
  await build();
  const file = join(dir, "big.tif");
  await writeFile(file, content);
  const env = { FANFOLD_KEY: await service.key("a") };
  const argv = ["files", "put", file, "bronze:killed/", "--url", disk.url];
  let open = () => {};
  disk.gate.closed = new Promise((resolve) => (open = resolve));
  const first = spawnFanfold(argv, { env });
  await expect.poll(() => disk.gate.waiting, { timeout: 30_000 }).toBeGreaterThan(0);
  first.child.kill("SIGKILL");
  await once(first.child, "close");
  disk.gate.closed = null;
  open();
  expect(await filesOf(disk).stat("killed/big.tif")).toBeNull();
  const again = await spawnFanfold([...argv, "--json"], { env }).ended;
  expect([again.code, again.err]).toEqual([0, ""]);
  expect(JSON.parse(again.out)).toMatchObject({
    files: [{ ref: "bronze:killed/big.tif", bytes: content.length, sha256 }],
  });
  expect((await readAll(filesOf(disk), "killed/big.tif")).equals(content)).toBe(true);
  const client = await clientOf(disk);
  expect(await client.uploads.list({ prefix: "killed/" }).all()).toHaveLength(1);
  const there = await spawnFanfold(argv, { env }).ended;
  expect([there.code === 0, there.err]).toEqual([false, expect.stringContaining("is there already")]);
});

test("a server that dies between the key and the end is taken up by whoever asks again", async () => {
  const client = await clientOf(disk);
  const { upload_id } = (await client.call(begin, { body: { key: "between", bytes: 3 } })) as { upload_id: string };
  await partsOf(disk).write(`${upload_id}/00001`, text("abc"));
  await service.db.sql`select app.take_upload_key(${upload_id}::uuid, 'a')`;
  await filesOf(disk).write("between", text("abc"));
  expect(await client.upload(Buffer.from("abc"), { key: "between", upload_id })).toMatchObject({ state: "completed" });
});

test("what is too large, over the tenant's sum or of a bad name is refused before anything is sent, with what to do", async () => {
  const post = (body: object, tenant = "a") =>
    service.key(tenant).then((key) =>
      fetch(`${disk.url}/api/files`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      }).then((answer) => answer.json() as Promise<{ status: number }>),
    );
  expect(await post({ key: "x", bytes: 1_000_001 })).toMatchObject({
    status: 413,
    hint: expect.stringContaining("FANFOLD_UPLOAD_MAX_MB"),
  });
  for (const key of ["../x", "/x", ".hidden", "a//b", "C:/x", "a\\b"])
    expect([key, await post({ key, bytes: 1 })]).toEqual([key, expect.objectContaining({ status: 400 })]);
  expect(await post({ key: "x", bytes: -1, sha256: "abc", media_type: "tiff", what: 1 })).toMatchObject({
    status: 400,
    problems: expect.arrayContaining(
      ["body.what", "body.bytes", "body.sha256", "body.media_type"].map((path) => expect.objectContaining({ path })),
    ),
  });
  // Ten at a time, of which three have room.
  const all = await Promise.all(
    Array.from({ length: 10 }, (_, at) => post({ key: `full/${at}`, bytes: 100_000 }, "b")),
  );
  expect(all.filter(({ status }) => status === 422)).toHaveLength(7);
  expect(all.find(({ status }) => status === 422)).toMatchObject({
    code: "beyond_limit",
    hint: expect.stringContaining("DELETE /api/files"),
  });
});

test("nothing of a tenant's uploads is there for another, over HTTP or by SQL", async () => {
  const [own, other] = [await clientOf(disk), await clientOf(disk, "b")];
  const { upload_id } = (await own.call(begin, { body: { key: "mine", bytes: 3 } })) as { upload_id: string };
  const authorization = `Bearer ${await service.key("b")}`;
  const sent = await fetch(`${disk.url}/api/files/${upload_id}/parts/1`, {
    method: "PUT",
    headers: { authorization },
    body: "abc",
  });
  expect(sent.status).toBe(404);
  await expect(other.uploads.get(upload_id)).rejects.toMatchObject({ code: "not_found" });
  await expect(other.upload(Buffer.from("abc"), { key: "mine", upload_id })).rejects.toMatchObject({
    code: "not_found",
  });
  await expect(other.uploads.remove(upload_id)).rejects.toMatchObject({ code: "not_found" });
  expect((await other.uploads.list().all()).map(({ key }) => key)).not.toContain("mine");
  await service.db.script("create role ff_uploads_b login; grant fanfold_api to ff_uploads_b");
  await service.db.sql`select app.map_role('ff_uploads_b', 'b')`;
  const login = new URL(service.database_url);
  login.username = "ff_uploads_b";
  const { openServer } = await import("../../src/engine/database/server_database.js");
  const db = openServer(login.href);
  try {
    expect(await db.sql`select * from app.uploads where tenant_id = 'a'`).toEqual([]);
    await expect(db.sql`select app.get_upload(${upload_id}::uuid)`).rejects.toThrow("there is no upload");
    await expect(db.sql`select app.forget_upload(${upload_id}::uuid, tenant => 'a')`).rejects.toThrow(
      'acts for tenant "b" and no other',
    );
  } finally {
    await db.close();
    await service.db.script("drop role ff_uploads_b");
  }
  await own.uploads.remove(upload_id);
});

test("an upload that nobody goes on with is swept with its parts; one under way and people's files stay", async () => {
  const client = await clientOf(disk);
  const start = async (key: string) => {
    const { upload_id } = (await client.call(begin, { body: { key, bytes: 15_000 } })) as { upload_id: string };
    await partsOf(disk).write(`${upload_id}/00001`, text("x".repeat(PART)));
    return upload_id;
  };
  const [left, kept] = [await start("left"), await start("kept")];
  await service.db.sql`update app.uploads set expires_at = now() - interval '1 second' where upload_id = ${left}::uuid`;
  const { db, zones } = disk.engine;
  // A day from now.
  const sweep = new FileSweep({ db, zones, log: pino({ level: "silent" }), now: () => Date.now() + 25 * 3_600_000 });
  const before = await listed(disk);
  expect((await sweep.uploads("a", { dry_run: true })).found).toMatchObject([
    { key: `${left}/00001`, why: "abandoned_upload" },
  ]);
  expect((await sweep.uploads("a")).found).toMatchObject([{ key: `${left}/00001`, bytes: PART }]);
  expect((await sweep.uploads("a")).found).toEqual([]);
  await expect(client.uploads.get(left)).rejects.toMatchObject({ code: "not_found" });
  expect(await client.uploads.get(kept)).toMatchObject({ missing: 1 });
  expect(await listed(disk)).toEqual(before);
  await client.uploads.remove(kept);
});
