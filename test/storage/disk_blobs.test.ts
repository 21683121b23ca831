// Files in a folder: what every store does, and what only a file system can have: links, pipes, writers that died.
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { BlobStore } from "../../src/storage/blob_store.js";
import { openDiskBlobs, removeOldPartials } from "../../src/storage/disk_blobs.js";
import { conforms, manyKeys, readAll, text } from "./blob_conformance.js";

let dir: string;
let root: string;
let store: BlobStore;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "fanfold-disk-blobs-"));
});
afterAll(() => rm(dir, { recursive: true, force: true }));
beforeEach(async () => {
  root = await mkdtemp(join(dir, "zone-"));
  store = openDiskBlobs(root, { href_base: "fanfold://silver/" });
});

describe("a folder", () => {
  conforms(() => store);
  manyKeys(() => store);

  test("is made when the first file is written, and folders go with their last file", async () => {
    const later = openDiskBlobs(join(root, "later"));
    expect(await later.list("")).toEqual({ entries: [], next: null });
    expect(readdirSync(root)).toEqual([]);
    await later.write("a/b/c.txt", text("x"));
    await later.write("a/d.txt", text("x"));
    await later.remove("a/b/c.txt");
    expect(readdirSync(join(root, "later")).sort()).toEqual([".partial", "a"]);
    expect(readdirSync(join(root, "later", "a"))).toEqual(["d.txt"]);
  });

  test("a writer and a remover in one folder do not get in each other's way", async () => {
    const work = Array.from({ length: 60 }, async (_, n) => {
      await store.write(`busy/folder/${n}`, text("x"));
      await store.remove(`busy/folder/${n}`);
    });
    await Promise.all(work);
    expect((await store.list("busy/")).entries).toEqual([]);
  });

  test("names its files for a catalogue", () => {
    expect(store.href("a b/ü.tif")).toBe("fanfold://silver/a%20b/%C3%BC.tif");
  });

  test("has no signed URLs", async () => {
    expect(await store.signedUrl("a", { expires_s: 60 })).toBeNull();
    expect(await store.signedPut("a", { expires_s: 60 })).toBeNull();
  });
});

describe("a link", () => {
  beforeEach(() => {
    mkdirSync(join(dir, "outside"), { recursive: true });
    writeFileSync(join(dir, "outside", "secret.txt"), "secret");
  });
  const refused = { reason: "bad_key" };

  test("that leads out of the folder leads nowhere: neither a file nor a folder, for no verb", async () => {
    symlinkSync(join(dir, "outside", "secret.txt"), join(root, "file.txt"));
    symlinkSync(join(dir, "outside"), join(root, "folder"));
    symlinkSync("../outside", join(root, "relative"));
    for (const key of ["file.txt", "folder/secret.txt", "relative/secret.txt"]) {
      await expect(store.stat(key), key).rejects.toMatchObject(refused);
      await expect(readAll(store, key), key).rejects.toMatchObject(refused);
      await expect(store.copy(key, "copied"), key).rejects.toMatchObject(refused);
    }
    for (const key of ["folder/new.txt", "relative/new.txt", "folder/deep/new.txt", "folder/secret.txt"]) {
      await expect(store.write(key, text("x")), key).rejects.toMatchObject(refused);
    }
    await expect(store.remove("folder/secret.txt")).rejects.toMatchObject(refused);
    expect((await store.list("")).entries).toEqual([]);
    expect(readdirSync(join(dir, "outside"))).toEqual(["secret.txt"]);
    // The link itself may go.
    await store.remove("file.txt");
    expect(readdirSync(join(dir, "outside"))).toEqual(["secret.txt"]);
  });

  test("to another file of the folder is followed; circles and loose ends are not there", async () => {
    await store.write("real.txt", text("real"));
    symlinkSync("real.txt", join(root, "alias.txt"));
    symlinkSync("circle", join(root, "circle"));
    symlinkSync("nowhere", join(root, "loose"));
    symlinkSync(".", join(root, "self"));
    expect((await readAll(store, "alias.txt")).toString()).toBe("real");
    expect((await store.list("")).entries.map(({ key }) => key)).toEqual(["alias.txt", "real.txt"]);
    await expect(store.stat("circle")).rejects.toMatchObject(refused);
    expect(await store.stat("loose")).toBeNull();
    await expect(store.write("loose", text("x"))).rejects.toMatchObject(refused);
    expect(readdirSync(dir)).not.toContain("nowhere");
  });

  test("the folder itself may be one: that is the operator's choice", async () => {
    symlinkSync(root, `${root}-link`);
    const linked = openDiskBlobs(`${root}-link`);
    await linked.write("a/x.txt", text("x"));
    expect((await readAll(store, "a/x.txt")).toString()).toBe("x");
    expect((await linked.list("")).entries.map(({ key }) => key)).toEqual(["a/x.txt"]);
  });
});

test("a pipe, a socket or a device is no file", async () => {
  execFileSync("mkfifo", [join(root, "pipe")]);
  symlinkSync("/dev/zero", join(root, "zero"));
  for (const key of ["pipe", "zero"]) {
    await expect(store.stat(key)).rejects.toMatchObject({ reason: "bad_key" });
    await expect(readAll(store, key)).rejects.toMatchObject({ reason: "bad_key" });
    await expect(store.write(key, text("x"))).rejects.toMatchObject({ reason: "bad_key" });
  }
  expect((await store.list("")).entries).toEqual([]);
});

test("a file in the place of a folder is told, and stays", async () => {
  await store.write("a", text("file"));
  await expect(store.write("a/b", text("x"))).rejects.toMatchObject({ reason: "bad_key" });
  expect(await store.stat("a/b")).toBeNull();
  await store.write("f/x", text("x"));
  await expect(store.write("f", text("x"))).rejects.toMatchObject({ reason: "bad_key" });
});

test("what a writer that died left behind is never listed, and goes when it is old", async () => {
  mkdirSync(join(root, ".partial"));
  for (const name of ["old", "young"]) writeFileSync(join(root, ".partial", name), "half");
  utimesSync(join(root, ".partial", "old"), 0, 0);
  expect((await store.list("")).entries).toEqual([]);
  expect(await removeOldPartials(root, new Date(Date.now() - 60_000))).toBe(1);
  expect(readdirSync(join(root, ".partial"))).toEqual(["young"]);
});

test("a message names no folder of the machine", async () => {
  writeFileSync(join(root, "file"), "x");
  const error = await store.write("file/below", text("x")).catch((one: Error) => one);
  expect(String(error)).not.toContain(root);
});
