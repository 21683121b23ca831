import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { StorageError } from "../../src/core/errors/errors.js";
import { isOfTenant, isReadableBy, type Ref, type Store } from "../../src/core/places/store.js";
import { openFolderStore, storeOfTenant } from "../../src/storage/index.js";

let dir: string;
let all: Store;
let a: Store;
let b: Store;
beforeEach(async () => {
  dir = await mkdtemp(path.join(tmpdir(), "fanfold-tenant-store-"));
  all = openFolderStore(dir);
  a = storeOfTenant(all, "a");
  b = storeOfTenant(all, "b");
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function refusal(reading: () => Promise<unknown>): Promise<StorageError> {
  const error = await reading().catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(StorageError);
  return error as StorageError;
}

async function streamed(store: Store, ref: Ref): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of store.getStream(ref)) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

test("two tenants that choose the same name have a file each", async () => {
  const [of_a, of_b] = [await a.put("tiles/1", "a's"), await b.put("tiles/1", "b's")];
  expect([of_a.key, of_b.key]).toEqual(["tenant-a/tiles/1", "tenant-b/tiles/1"]);
  expect([(await a.get(of_a)).toString(), await streamed(b, of_b)]).toEqual(["a's", "b's"]);
});

test("the key of a reference is taken as it is, to write again and to remove", async () => {
  const ref = await a.put("tiles/1", "old");
  expect((await a.put(ref.key, "new")).key).toBe(ref.key);
  await a.remove(ref.key);
  expect((await refusal(() => a.get(ref))).reason).toBe("missing");
});

test("a tenant neither reads, replaces nor removes what is another's", async () => {
  const ref = await b.put("x", "b's");
  for (const reading of [() => a.get(ref), () => streamed(a, ref)]) {
    const error = await refusal(reading);
    expect(error).toMatchObject({ reason: "bad_key", category: "permanent" });
  }
  await a.put(ref.key, "a's");
  await a.remove(ref.key);
  expect((await b.get(ref)).toString()).toBe("b's");
});

test.each(["../tenant-b/x", "tenant-a/../tenant-b/x", "", "/x", "./x"])("no key leads out: %j", async (key) => {
  const ref = await b.put("x", "b's");
  expect((await refusal(() => a.put(key, "x"))).reason).toBe("bad_key");
  expect((await refusal(() => a.get({ ...ref, key }))).reason).toBe("bad_key");
});

test.each([undefined, null, 7, {}, { key: 7 }, { key: null }, "tenant-a/x"])(
  "what is no reference is refused: %j",
  async (ref) => {
    expect(isReadableBy(ref as never, "a")).toBe(false);
    expect((await refusal(() => a.get(ref as never))).reason).toBe("bad_key");
  },
);

test("a name that begins like the tenant's is not the tenant", () => {
  expect(isOfTenant({ key: "tenant-ab/x" }, "a")).toBe(false);
  expect(isOfTenant({ key: "tenant-a" }, "a")).toBe(false);
  expect(isOfTenant({ key: "x/tenant-a/x" }, "a")).toBe(false);
});

test("a name that Windows keeps for devices can be a tenant", async () => {
  const nul = storeOfTenant(all, "nul");
  expect((await nul.get(await nul.put("x", "1"))).toString()).toBe("1");
});

test("of what 0.2.0 wrote only results are read, by their exact keys, and nothing is written there", async () => {
  const id = "0f8fad5b-d9cb-469f-a165-70867728950e";
  const key = `results/17/3/1-42-${id}-${id}.json`;
  const ref = await all.put(key, "old");
  expect((await a.get(ref)).toString()).toBe("old");
  for (const other of [
    "results/17/3/1-42.json",
    "tiles/b/plan.json",
    `x/${key}`,
    `${key}.bak`,
    `results/17/../../${key}`,
  ]) {
    expect((await refusal(() => a.get({ ...ref, key: other }))).reason).toBe("bad_key");
  }
  await a.put(key, "new");
  await a.remove(key);
  expect((await all.get(ref)).toString()).toBe("old");
});
