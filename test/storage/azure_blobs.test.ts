// Objects in Azure Blob Storage: what every store does, against azurite.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openAzureBlobs } from "../../src/storage/azure_blobs.js";
import type { BlobStore } from "../../src/storage/blob_store.js";
import { conforms, manyKeys, readAll, text } from "./blob_conformance.js";
import { emulator, type ObjectService, startAzure } from "./object_services.js";

let service: ObjectService;
let store: BlobStore;
let made = 0;
const { account, account_key } = emulator;
const open = (prefix: string, container = "rasters") =>
  openAzureBlobs(
    { kind: "azure", account, container, prefix },
    { endpoint: service.endpoint, credentials: () => ({ account_key }) },
  );

beforeAll(async () => {
  service = await startAzure("rasters");
});
afterAll(() => service.close());
beforeEach(() => {
  store = open(`zone/${++made}/tenant-a/`);
});

describe("a container", () => {
  conforms(() => store);
  manyKeys(() => store, { keys: 250, limit: 100 });

  test("goes on after a key that somebody names", async () => {
    for (const key of ["k/1", "k/2", "k/3", "k/4"]) await store.write(key, text(key));
    const page = await store.list("k/", { after: "k/2", limit: 1 });
    expect(page.entries.map(({ key }) => key)).toEqual(["k/3"]);
    expect((await store.list("k/", { after: page.next! })).entries.map(({ key }) => key)).toEqual(["k/4"]);
  });

  test("gives URLs with which anybody may read one object for a while, as the type it was said to be", async () => {
    await store.write("a b/ü.tif", text("0123456789"));
    const url = await store.signedUrl("a b/ü.tif", { expires_s: 60, media_type: "image/tiff" });
    const answer = await fetch(url!, { headers: { range: "bytes=2-4" } });
    expect([answer.status, await answer.text(), answer.headers.get("content-type")]).toEqual([
      206,
      "234",
      "image/tiff",
    ]);
    expect((await fetch(url!.split("?")[0]!)).status).toBeGreaterThanOrEqual(400);
    expect((await fetch(url!, { method: "DELETE" })).status).toBe(403);
  });

  test("gives addresses with which anybody may write one object for a while, and no other", async () => {
    const { url, headers } = (await store.signedPut("in/ä b.tif", { expires_s: 60, media_type: "image/tiff" }))!;
    const sent = await fetch(url, { method: "PUT", headers, body: "0123456789" });
    expect([sent.status, await sent.text()]).toEqual([201, ""]);
    expect((await readAll(store, "in/ä b.tif")).toString()).toBe("0123456789");
    const elsewhere = url.replace("in/", "out/");
    expect((await fetch(elsewhere, { method: "PUT", headers, body: "x" })).status).toBe(403);
  });

  test("names its objects for a catalogue", () => {
    expect(open("zone/").href("a b.tif")).toBe(`${service.endpoint}/rasters/zone/a%20b.tif`);
  });

  test("that is not there is told, and is not the same as an object that is not there", async () => {
    const none = open("", "none");
    await expect(none.list("")).rejects.toMatchObject({ reason: "unavailable" });
    await expect(none.write("a", text("x"))).rejects.toMatchObject({ reason: "unavailable" });
  });
});
