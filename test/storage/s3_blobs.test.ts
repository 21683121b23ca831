// Objects in S3: what every store does, against s3rver.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { BlobStore } from "../../src/storage/blob_store.js";
import { openS3Blobs } from "../../src/storage/s3_blobs.js";
import { conforms, manyKeys, readAll, text } from "./blob_conformance.js";
import { type ObjectService, startS3 } from "./object_services.js";

let service: ObjectService;
let store: BlobStore;
let made = 0;
const open = (prefix: string) =>
  openS3Blobs({ kind: "s3", bucket: "rasters", prefix }, { endpoint: service.endpoint, region: "us-east-1" });

beforeAll(async () => {
  service = await startS3("rasters");
});
afterAll(() => service.close());
beforeEach(() => {
  store = open(`zone/${++made}/tenant-a/`);
});

describe("a bucket", () => {
  conforms(() => store, { odd_order: true });
  manyKeys(() => store, {
    put: (_, key) => {
      const file = service.fileOf!(`zone/${made}/tenant-a/${key}`);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, "");
    },
  });

  test("keeps the files of one prefix from those of another that begins the same", async () => {
    await open("p/tenant-a/").write("x", text("a"));
    await open("p/tenant-ab/").write("x", text("ab"));
    expect((await open("p/tenant-a/").list("")).entries.map(({ key }) => key)).toEqual(["x"]);
  });

  test("gives URLs with which anybody may read one object for a while, as the type it was said to be", async () => {
    await store.write("a b/ü.tif", text("0123456789"), { media_type: "image/tiff" });
    const url = await store.signedUrl("a b/ü.tif", { expires_s: 60, media_type: "image/tiff" });
    const answer = await fetch(url!, { headers: { range: "bytes=2-4" } });
    expect([answer.status, await answer.text(), answer.headers.get("content-type")]).toEqual([
      206,
      "234",
      "image/tiff",
    ]);
    expect(new URL(url!).searchParams.get("X-Amz-Expires")).toBe("60");
  });

  test("gives addresses with which anybody may write one object for a while", async () => {
    const { url, headers } = (await store.signedPut("in/ä b.tif", { expires_s: 60, media_type: "image/tiff" }))!;
    const sent = await fetch(url, { method: "PUT", headers, body: "0123456789" });
    expect([sent.status, await sent.text()]).toEqual([200, ""]);
    expect((await readAll(store, "in/ä b.tif")).toString()).toBe("0123456789");
    const signed = new URL(url).searchParams;
    expect(signed.get("X-Amz-SignedHeaders")).toBe("content-type;host");
    // Of a body that the signer has not seen.
    expect([...signed.keys()].filter((name) => name.includes("checksum"))).toEqual([]);
  });

  test("names its objects for a catalogue", () => {
    expect(open("zone/").href("a b.tif")).toBe("s3://rasters/zone/a%20b.tif");
  });

  test("that is not there is told, and is not the same as an object that is not there", async () => {
    const none = openS3Blobs({ kind: "s3", bucket: "none", prefix: "" }, { endpoint: service.endpoint, region: "x" });
    await expect(none.list("")).rejects.toMatchObject({
      reason: "unavailable",
      message: expect.stringContaining("NoSuchBucket"),
    });
    await expect(none.write("a", text("x"))).rejects.toMatchObject({ reason: "unavailable" });
  });

  test("that cannot be reached is told without its credentials", async () => {
    const away = openS3Blobs({ kind: "s3", bucket: "b", prefix: "" }, { endpoint: "http://127.0.0.1:1", region: "x" });
    const error = (await away.stat("a").catch((one: unknown) => one)) as Error;
    expect(error).toMatchObject({ reason: "unavailable", category: "transient" });
    expect(JSON.stringify([error.message, (error as { hint?: string }).hint])).not.toContain("S3RVER");
  });
});
