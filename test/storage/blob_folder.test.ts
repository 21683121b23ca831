// Large things in a bucket: what a folder promises holds there too.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Store } from "../../src/core/places/store.js";
import { parseZonePlace, type ZonePlace } from "../../src/core/places/zone_place.js";
import { blobsOf, openLargeStore } from "../../src/storage/open_blobs.js";
import { storeOfTenant } from "../../src/storage/tenant_store.js";
import { emulator, type ObjectService, startAzure, startS3 } from "./object_services.js";

let s3: ObjectService;
let azure: ObjectService;
let dir: string;
beforeAll(async () => {
  [s3, azure, dir] = await Promise.all([
    startS3("large"),
    startAzure("large"),
    mkdtemp(join(tmpdir(), "fanfold-large-")),
  ]);
});
afterAll(async () => {
  await s3?.close();
  await azure?.close();
  await rm(dir, { recursive: true, force: true });
});

function open(kind: string, zones: readonly ZonePlace[] = []): Store {
  const places = { s3: "s3://large/results", azure: `az://${emulator.account}/large/results`, disk: dir };
  const settings = {
    s3: { endpoint: s3.endpoint, region: "us-east-1" },
    azure: { endpoint: azure.endpoint, credentials: () => ({ account_key: emulator.account_key }) },
  };
  return openLargeStore(places[kind as keyof typeof places], settings, zones);
}

test.each(["s3", "azure", "disk"])(
  "in %s a large thing is read back whole, and only if it is what was written",
  async (kind) => {
    const store = storeOfTenant(open(kind), "acme");
    const content = Buffer.alloc(1_500_000, "ä");
    const ref = await store.put("results/1/0/a.json", content);
    expect(ref).toMatchObject({ store: "file", key: "tenant-acme/results/1/0/a.json", bytes: 1_500_000 });
    expect((await store.get(ref)).equals(content)).toBe(true);
    await expect(store.get({ ...ref, bytes: 7 })).rejects.toMatchObject({ code: "storage", reason: "altered" });
    await expect(store.get({ ...ref, sha256: "0".repeat(64) })).rejects.toMatchObject({ reason: "altered" });
    await expect(store.get({ ...ref, key: "tenant-globex/x" })).rejects.toMatchObject({ reason: "bad_key" });
    const found = await blobsOf(store)!.list("tenant-acme/results/");
    expect(found.entries.map(({ key, bytes }) => [key, bytes])).toEqual([[ref.key, 1_500_000]]);
    await store.remove(ref.key);
    await store.remove(ref.key);
    await expect(store.get(ref)).rejects.toMatchObject({ reason: "missing" });
  },
);

test.each(["s3", "azure", "disk"])("in %s nothing is there when the writer fails half-way", async (kind) => {
  const store = storeOfTenant(open(kind), "acme");
  async function* pieces() {
    yield "begun";
    throw new Error("the source is gone");
  }
  await expect(store.putStream("half.json", pieces())).rejects.toThrow("the source is gone");
  expect(await blobsOf(store)!.stat("tenant-acme/half.json")).toBeNull();
});

test("results lie in no zone, and in one place for all tenants", () => {
  const zone = (text: string) => (parseZonePlace(text) as { place: ZonePlace }).place;
  expect(() => open("s3", [zone("s3://large")])).toThrow("lies inside the zone s3://large");
  expect(() => open("disk", [zone(dir)])).toThrow("lies inside the zone");
  expect(() => open("disk", [zone(join(dir, "silver"))])).not.toThrow();
  expect(() => openLargeStore("s3://x-{tenant}/y", {}, [])).toThrow("has {tenant} in it");
  expect(() => openLargeStore("ftp://x/y", {}, [])).toThrow("FANFOLD_STORAGE_DIR");
});
