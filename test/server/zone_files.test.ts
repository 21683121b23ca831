// Files of zones over HTTP: for whoever may, with ranges, and nothing that is not recorded.
import { randomBytes } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ZoneName } from "../../src/core/places/zones.js";
import type { Engine } from "../../src/engine/engine.js";
import { openEngine } from "../../src/engine/open_engine.js";
import { Sealer } from "../../src/engine/sealing.js";
import { createApp } from "../../src/server/app.js";
import { assetAddress, assetUrl, signedAssetUrl } from "../../src/server/files/asset_urls.js";
import { wantedBytes } from "../../src/server/files/byte_range.js";
import { pieces, text } from "../storage/blob_conformance.js";
import { startS3 } from "../storage/object_services.js";
import { openService, type TestService } from "./service.js";

let service: TestService;
let engine: Engine;
let key: string;
const content = randomBytes(100_000);
const cog = { zone: "silver" as ZoneName, key: "dem/tile-1/ff-1-0-1-0123456789ab-0123456789ab/cog.tif" };
const named = { zone: "bronze" as ZoneName, key: "Szene 1 (Kopie) #2?.tif" };

beforeAll(async () => {
  service = await openService({}, { cors_origins: ["https://maps.example.com"] });
  key = await service.key("a", ["read"]);
  await service.key("b");
  engine = service.engine.forTenant("a");
  await put(cog, content);
  await put(named, Buffer.from("0123456789"));
});
afterAll(() => service.close());

async function put(ref: { zone: ZoneName; key: string }, bytes: Buffer, of = engine): Promise<void> {
  const { sha256 } = await of.zones.store(ref.zone, of.tenant).write(ref.key, pieces(bytes));
  const media_type = "image/tiff; application=geotiff; profile=cloud-optimized";
  await of.assets.publish({ ...ref, name: "cog.tif", bytes: bytes.length, sha256, media_type });
}

const url = (ref: { zone: ZoneName; key: string }) => assetUrl(service.url, ref);
async function get(address: string, headers: Record<string, string> = {}, method = "GET") {
  const answer = await fetch(address, { method, headers, redirect: "manual" });
  return { status: answer.status, headers: answer.headers, body: Buffer.from(await answer.arrayBuffer()) };
}
const bearer = () => ({ authorization: `Bearer ${key}` });

describe("with an API key", () => {
  test("a file comes whole, with its type, its checksum and headers that keep a browser from running it", async () => {
    const { status, headers, body } = await get(url(cog), bearer());
    expect(status).toBe(200);
    expect(body.equals(content)).toBe(true);
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-type": "image/tiff; application=geotiff; profile=cloud-optimized",
      "content-length": "100000",
      "accept-ranges": "bytes",
      etag: `"${(await engine.assets.get(cog)).sha256}"`,
      "x-content-type-options": "nosniff",
      "content-security-policy": "sandbox; default-src 'none'",
    });
    expect(headers.get("x-request-id")).not.toBeNull();
  });

  test("names with spaces, brackets and signs are found as they are encoded", async () => {
    const { status, body } = await get(url(named), bearer());
    expect([status, body.toString()]).toEqual([200, "0123456789"]);
  });

  test("HEAD tells the same and sends nothing", async () => {
    const { status, headers, body } = await get(url(cog), bearer(), "HEAD");
    expect([status, headers.get("content-length"), body.length]).toEqual([200, "100000", 0]);
    const part = await get(url(cog), { ...bearer(), range: "bytes=0-9" }, "HEAD");
    expect([part.status, part.headers.get("content-length")]).toEqual([200, "100000"]);
  });

  test("conditions are looked at in the order of the standard: what must be, then what need not be", async () => {
    const { headers: known } = await get(url(cog), bearer(), "HEAD");
    const [etag, modified] = [known.get("etag")!, known.get("last-modified")!];
    const [before, after] = [-1, 1].map((day) => new Date(Date.parse(modified) + day * 86_400_000).toUTCString());
    const answers: [Record<string, string>, number][] = [
      [{ "if-match": '"another"' }, 412],
      [{ "if-match": `W/${etag}` }, 412],
      [{ "if-match": `"another", ${etag}` }, 200],
      [{ "if-match": "*" }, 200],
      [{ "if-modified-since": modified }, 304],
      [{ "if-modified-since": after! }, 304],
      [{ "if-modified-since": before! }, 200],
      [{ "if-modified-since": "a while ago" }, 200],
      [{ "if-modified-since": modified, "if-none-match": '"another"' }, 200],
      [{ "if-modified-since": before!, "if-none-match": etag }, 304],
      [{ "if-unmodified-since": before! }, 412],
      [{ "if-unmodified-since": modified }, 200],
      [{ "if-unmodified-since": before!, "if-match": etag }, 200],
      [{ "if-match": '"another"', "if-none-match": etag }, 412],
      [{ "if-match": etag, range: "bytes=0-9" }, 206],
      [{ "if-match": '"another"', range: "bytes=0-9" }, 412],
    ];
    for (const [conditions, status] of answers) {
      const answer = await get(url(cog), { ...bearer(), ...conditions });
      expect([conditions, answer.status]).toEqual([conditions, status]);
      if (status === 412 || status === 304) expect(answer.body).toHaveLength(0);
    }
  });

  test.each([
    ["bytes=0-0", "0", "0-0"],
    ["bytes=2-4", "234", "2-4"],
    ["bytes=7-", "789", "7-9"],
    ["bytes=8-100", "89", "8-9"],
    ["bytes=-3", "789", "7-9"],
    ["bytes=-100", "0123456789", "0-9"],
  ])("%s is a part", async (range, part, told) => {
    const { status, headers, body } = await get(url(named), { ...bearer(), range });
    expect([status, body.toString(), headers.get("content-range")]).toEqual([206, part, `bytes ${told}/10`]);
    expect(headers.get("content-length")).toBe(String(part.length));
  });

  test.each(["bytes=10-", "bytes=10-20", "bytes=-0"])("%s cannot be had", async (range) => {
    const { status, headers, body } = await get(url(named), { ...bearer(), range });
    expect([status, headers.get("content-range"), body.length]).toEqual([416, "bytes */10", 0]);
  });

  test.each(["bytes=0-1,3-4", "bytes=5-2", "lines=1-2", "bytes=x-", "bytes=-", "bytes=99999999999999999999-"])(
    "%s is answered with the whole",
    async (range) => {
      expect((await get(url(named), { ...bearer(), range })).status).toBe(200);
    },
  );

  test("what the caller has already is not sent again, and a part only of the same file", async () => {
    const etag = `"${(await engine.assets.get(named)).sha256}"`;
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const { status, body } = await get(url(named), { ...bearer(), "if-none-match": known });
      expect([known, status, body.length]).toEqual([known, 304, 0]);
    }
    expect((await get(url(named), { ...bearer(), "if-none-match": '"other"' })).status).toBe(200);
    const range = { ...bearer(), range: "bytes=0-1" };
    expect((await get(url(named), { ...range, "if-range": etag })).status).toBe(206);
    expect((await get(url(named), { ...range, "if-range": '"other"' })).status).toBe(200);
  });

  test("folders, unknown, unrecorded, retracted and other tenants' files are not there, and all answers are alike", async () => {
    await engine.zones.store("silver", "a").write("unrecorded.tif", text("x"));
    const gone = { zone: "gold" as const, key: "gone.tif" };
    await put(gone, Buffer.from("x"));
    await engine.assets.retract(gone);
    const foreign = { zone: "silver" as const, key: "b/only.tif" };
    await put(foreign, Buffer.from("b"), service.engine.forTenant("b"));
    const paths = [
      "/assets/silver/dem",
      "/assets/silver/dem/",
      "/assets/silver/",
      "/assets/silver",
      "/assets/",
      "/assets/lead/x",
      "/assets/silver/none.tif",
      "/assets/silver/unrecorded.tif",
      "/assets/gold/gone.tif",
      "/assets/silver/b/only.tif",
      "/assets/silver/..%2f..%2fx",
      "/assets/silver/%2e%2e/x",
      "/assets/silver/a%00b",
      "/assets/silver/.partial/x",
      "/assets/silver/..%5cx",
      "/assets/silver//x",
      `/assets/silver/${"x".repeat(1200)}`,
      "/assets/silver/a%0ab",
    ];
    for (const path of paths) {
      const { status, body } = await get(service.url + path, bearer());
      expect([path, status, JSON.parse(body.toString()).code]).toEqual([path, 404, "not_found"]);
    }
    expect((await get(`${service.url}/assets/silver/%ff`, bearer())).status).toBe(400);
    // It is there for its own tenant.
    const theirs = { authorization: `Bearer ${await service.key("b")}` };
    expect((await get(url(foreign), theirs)).status).toBe(200);
  });

  test("a file that was changed or removed behind the record is not there", async () => {
    const ref = { zone: "silver" as const, key: "changed/x.tif" };
    await put(ref, Buffer.from("12345"));
    const file = join(service.storage_dir, "zones", "silver", "tenant-a", "changed", "x.tif");
    await writeFile(file, "123456");
    for (const method of ["GET", "HEAD"]) expect((await get(url(ref), bearer(), method)).status).toBe(404);
    await rm(file);
    const { status, body } = await get(url(ref), bearer());
    expect(status).toBe(404);
    expect(body.toString()).not.toContain(service.storage_dir);
  });

  test("without a key, with a wrong one or without the scope nothing is told", async () => {
    expect((await get(url(cog))).status).toBe(401);
    expect((await get(url({ zone: "silver", key: "none" }))).status).toBe(401);
    expect((await get(url(cog), { authorization: "Bearer ff_live_x_y" })).status).toBe(401);
    const submit = { authorization: `Bearer ${await service.key("a", ["submit"])}` };
    expect((await get(url(cog), submit)).status).toBe(403);
  });

  test("other methods are refused by name", async () => {
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      const { status, headers } = await get(url(cog), bearer(), method);
      expect([method, status, headers.get("allow")]).toEqual([method, 405, "GET, HEAD, OPTIONS"]);
    }
  });

  test("a key of a thousand bytes is found", async () => {
    const ref = { zone: "silver" as const, key: `${Array.from({ length: 10 }, () => "x".repeat(99)).join("/")}` };
    await put(ref, Buffer.from("long"));
    expect((await get(url(ref), bearer())).status).toBe(200);
  });
});

describe("with a signed address", () => {
  const sign = (ref = cog, options = {}) => signedAssetUrl(engine.sealer, service.url, "a", ref, options);

  test("anybody may read the one file, with ranges", async () => {
    expect((await get(sign(cog))).body.equals(content)).toBe(true);
    const { status, body } = await get(sign(named), { range: "bytes=2-4" });
    expect([status, body.toString()]).toEqual([206, "234"]);
  });

  test("it stays the same for a while, so that caches find it again", () => {
    const at = Date.parse("2030-01-01T00:10:00Z");
    expect(sign(cog, { now_ms: at })).toBe(sign(cog, { now_ms: at + 60_000 }));
    expect(sign(cog, { now_ms: at })).not.toBe(sign(cog, { now_ms: at + 7_200_000 }));
  });

  test.each<[string, (address: URL) => void]>([
    ["another file", (address) => (address.pathname = new URL(url(named)).pathname)],
    ["another zone", (address) => (address.pathname = address.pathname.replace("silver", "gold"))],
    ["another tenant", (address) => address.searchParams.set("tenant", "b")],
    ["a tenant that is none", (address) => address.searchParams.set("tenant", "no'body")],
    ["a later end", (address) => address.searchParams.set("expires", "99999999999")],
    ["no end", (address) => address.searchParams.delete("expires")],
    ["two ends", (address) => address.searchParams.append("expires", "99999999999")],
    ["an empty signature", (address) => address.searchParams.set("signature", "")],
    [
      "half a signature",
      (address) => address.searchParams.set("signature", address.searchParams.get("signature")!.slice(0, 20)),
    ],
    ["a very long signature", (address) => address.searchParams.set("signature", "A".repeat(5000))],
  ])("with %s is refused", async (_, change) => {
    const address = new URL(sign(cog));
    change(address);
    const { status, body } = await get(address.href);
    expect([status, JSON.parse(body.toString()).code]).toEqual([401, "unauthenticated"]);
  });

  test("that has expired is refused", async () => {
    const past = sign(cog, { now_ms: Date.now() - 24 * 3_600_000, expires_s: 3_600 });
    expect((await get(past)).status).toBe(401);
  });

  test("of another server's key is refused; of an older key of ours it is good", async () => {
    const [old, young] = [randomBytes(32), randomBytes(32)];
    expect((await get(signedAssetUrl(new Sealer([old]), service.url, "a", cog))).status).toBe(401);
    const signature = new Sealer([old]).sign("x", "asset url")!;
    expect(new Sealer([young, old]).isSigned("x", "asset url", signature)).toBe(true);
    expect(new Sealer([young]).isSigned("x", "asset url", signature)).toBe(false);
    expect(new Sealer([old]).isSigned("x", "another purpose", signature)).toBe(false);
  });

  test("cannot be made without a key: then it is the plain one", () => {
    expect(signedAssetUrl(new Sealer(), "", "a", cog)).toBe(`/assets/silver/${cog.key}`);
  });

  test("stands in catalogues for what an item says of our files, and for nothing else", async () => {
    const address = assetAddress(engine, service.url);
    const href = engine.zones.store("bronze", "a").href(named.key);
    expect(href).toBe("fanfold://bronze/Szene%201%20(Kopie)%20%232%3F.tif");
    expect((await get(address(href))).body.toString()).toBe("0123456789");
    for (const other of [
      "https://example.com/x.tif",
      "fanfold://lead/x",
      "fanfold://silver/",
      "./x.tif",
      "fanfold://silver/%ff",
      "fanfold://silver/a%0Abronze:b",
      "fanfold://silver/../x",
    ]) {
      expect(address(other)).toBe(other);
    }
  });
});

describe("for web pages", () => {
  const from = (origin: string) => ({ ...bearer(), origin });

  test("of an origin that may, answers and errors can be read", async () => {
    const good = await get(url(cog), { ...from("https://maps.example.com"), range: "bytes=0-9" });
    expect(Object.fromEntries(good.headers)).toMatchObject({
      "access-control-allow-origin": "https://maps.example.com",
      "access-control-expose-headers": expect.stringContaining("content-range"),
      "cross-origin-resource-policy": "cross-origin",
      vary: "Origin, authorization, cookie",
    });
    const none = await get(`${service.url}/assets/silver/none`, from("https://maps.example.com"));
    expect([none.status, none.headers.get("access-control-allow-origin")]).toEqual([404, "https://maps.example.com"]);
    const asked = await get(
      url(cog),
      { origin: "https://maps.example.com", "access-control-request-method": "GET" },
      "OPTIONS",
    );
    expect([asked.status, asked.headers.get("access-control-allow-methods")]).toEqual([204, "GET, HEAD, OPTIONS"]);
    expect(asked.headers.get("access-control-allow-headers")).toContain("range");
  });

  test("of any other origin, they cannot", async () => {
    const { headers } = await get(url(cog), from("https://evil.example"));
    expect(headers.get("access-control-allow-origin")).toBeNull();
    const asked = await get(url(cog), { origin: "https://evil.example" }, "OPTIONS");
    expect(asked.headers.get("access-control-allow-origin")).toBeNull();
  });
});

test("of a bucket, the caller is sent to the store with an address of its own", async () => {
  const s3 = await startS3("silver");
  const remote = await openEngine({
    database_url: service.server_url,
    storage_dir: service.storage_dir,
    registry: service.engine.registry,
    zones: { silver: "s3://silver/zone", s3: { endpoint: s3.endpoint, region: "us-east-1" } },
    secret_keys: [randomBytes(32)],
  });
  const app = createApp({ engine: remote });
  try {
    await app.listen({ port: 0, host: "127.0.0.1" });
    const own = remote.forTenant("a");
    const ref = { zone: "silver" as const, key: "remote/x.tif" };
    await put(ref, Buffer.from("0123456789"), own);
    const base = `http://127.0.0.1:${(app.server.address() as { port: number }).port}`;
    const address = signedAssetUrl(remote.sealer, base, "a", ref);
    const sent = await get(address);
    expect([
      sent.status,
      sent.headers.get("location")?.startsWith(`${s3.endpoint}/silver/zone/tenant-a/remote/x.tif?`),
    ]).toEqual([302, true]);
    const answer = await fetch(address, { headers: { range: "bytes=2-4" } });
    expect([answer.status, await answer.text(), answer.headers.get("content-type")]).toEqual([
      206,
      "234",
      expect.stringContaining("geotiff"),
    ]);
    // The dashboard's page may load nothing from there: to its browser it is carried.
    const cookie = `fanfold_session_${new URL(base).port}=ffs_${"A".repeat(43)}`;
    const carried = await get(address, { cookie, "sec-fetch-site": "same-origin" });
    expect([carried.status, carried.body.toString()]).toEqual([200, "0123456789"]);
    // What is known from the record is told here.
    const head = await get(address, {}, "HEAD");
    expect([head.status, head.headers.get("content-length")]).toEqual([200, "10"]);
    expect(assetAddress(own, base)(own.zones.store("silver", "a").href(ref.key))).toBe(address);
  } finally {
    await app.close();
    await remote.close();
    await s3.close();
  }
});

test("a range is read as the standard says", () => {
  expect(wantedBytes(undefined, 10)).toEqual({ kind: "whole" });
  expect(wantedBytes("bytes=0-", 0)).toEqual({ kind: "unsatisfiable" });
  expect(wantedBytes("bytes=-5", 0)).toEqual({ kind: "unsatisfiable" });
  expect(wantedBytes(" bytes = 1-2 ", 10)).toEqual({ kind: "part", from: 1, to: 2 });
});
