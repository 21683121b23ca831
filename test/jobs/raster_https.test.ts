// Rasters that lie behind https addresses, through whole jobs: fetched from a real server over TLS, by a worker that is configured as an
// operator configures one. All jobs run together; then a look at each.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { loadConfig } from "../../src/config.js";
import type { JobRecord } from "../../src/engine/verbs/records.js";
import { authority, brokenOff, movedTo, openShop, type RasterShop, unmeasured, wholeFile } from "./raster_shop.js";
import { catalogHere, RasterWorld, scene } from "./raster_world.js";

// Template databases are made here, on a machine that does other things too.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 600_000 });

const { skip, name } = await catalogHere("server");

const good = scene();
const neighbour = scene({ seed: 8, origin: [501_920, 100_000] });
const large = new Uint8Array(2 * 2 ** 20);
large.set(good);

let world: RasterWorld;
let shop: RasterShop;
/** Nobody opened the way to it. */
let closed_shop: RasterShop;
const ended = new Map<string, JobRecord>();
/** Code and message of what failed first. */
const refusals = new Map<string, string>();

beforeAll(async () => {
  if (skip) return;
  world = await RasterWorld.open("server");
  closed_shop = await openShop({ "/scene.tif": wholeFile(good) });
  shop = await openShop({
    "/scene.tif": wholeFile(good),
    "/neighbour.tif": wholeFile(neighbour),
    "/moved.tif": movedTo("/scene.tif"),
    "/inward.tif": movedTo(closed_shop.url("/scene.tif")),
    "/breaks.tif": brokenOff(good),
    "/half.tif": wholeFile(good.subarray(0, good.length >> 1)),
    "/page.tif": wholeFile(Buffer.from("<!doctype html><title>Sign in</title>")),
    "/large.tif": wholeFile(large),
    "/unmeasured.tif": unmeasured(large),
  });
  world.put("bronze:mixed/own.tif", scene({ seed: 9, origin: [503_840, 100_000] }));
  const ca_file = join(world.dir, "authority.pem");
  writeFileSync(ca_file, authority);
  const { outbound, raster } = loadConfig({
    FANFOLD_OUTBOUND_ALLOW_PRIVATE: `127.0.0.1:${shop.port}`,
    FANFOLD_OUTBOUND_CA_FILE: ca_file,
    FANFOLD_SOURCE_MAX_MB: "1",
  });
  const sources = {
    whole: shop.url("/scene.tif"),
    moved: shop.url("/moved.tif"),
    inward: shop.url("/inward.tif"),
    private: closed_shop.url("/scene.tif"),
    metadata: "https://169.254.169.254/latest/scene.tif",
    breaks: shop.url("/breaks.tif"),
    half: shop.url("/half.tif"),
    page: shop.url("/page.tif"),
    large: shop.url("/large.tif"),
    unmeasured: shop.url("/unmeasured.tif"),
    absent: shop.url("/absent.tif"),
  };
  const datetime = "2024-01-01T00:00:00Z";
  const ids = new Map<string, string>();
  for (const [key, source] of Object.entries(sources)) {
    ids.set(key, await world.submit("process_raster", { source, collection: `h-${key}`, datetime }));
  }
  const list = [shop.url("/scene.tif"), shop.url("/neighbour.tif"), shop.url("/page.tif"), "bronze:mixed/own.tif"];
  ids.set(
    "mixed",
    await world.submit("process_raster_collection", { sources: { list }, collection: "mixed", datetime }),
  );
  await world.worker({ outbound, raster: { engine: "wasm", source_max_mb: raster.source_max_mb } });
  for (const [key, job_id] of ids) {
    ended.set(key, await world.ended(job_id));
    const [group] = await world.engine.operate.errorGroups(job_id);
    if (group !== undefined) refusals.set(key, `${group.code}: ${group.sample}`);
  }
});
afterAll(async () => {
  await world?.close();
  await shop?.close();
  await closed_shop?.close();
});

const refusal = (key: string): string => {
  const { status, stages } = ended.get(key)!;
  expect({ key, status, cog: stages[2]!.status }).toEqual({ key, status: "failed", cog: "cancelled" });
  return refusals.get(key) ?? "";
};

test.skipIf(skip)(`a raster is fetched over TLS, made a COG of, and named in its item${name}`, async () => {
  expect(ended.get("whole")).toMatchObject({ status: "completed", result: { item_count: 1 } });
  const [item] = await world.items("h-whole");
  expect(item!.properties).toMatchObject({ "fanfold:source": shop.url("/scene.tif"), "fanfold:raster_type": "dem" });
  expect(item!.links).toContainEqual(expect.objectContaining({ rel: "derived_from", href: shop.url("/scene.tif") }));
  expect(item!.assets.data!["fanfold:ref"]).toMatch(/^silver:h-whole\/scene\//);
});

test.skipIf(skip)(
  `a redirect is followed where its target may be called, and judged anew where not${name}`,
  async () => {
    expect(ended.get("moved")).toMatchObject({ status: "completed", result: { item_count: 1 } });
    expect((await world.items("h-moved"))[0]).toMatchObject({ id: "moved" });
    expect(refusal("inward")).toMatch(/outbound_refused.*this address may not be called/);
    expect(shop.asked("/inward.tif")).toBeGreaterThan(0);
    expect(closed_shop.asked("/scene.tif")).toBe(0);
  },
);

test.skipIf(skip)(`a private address that nobody opened is refused at once, and never called${name}`, () => {
  for (const key of ["private", "metadata"]) {
    expect(refusal(key)).toMatch(/outbound_refused.*this address may not be called/);
    expect(ended.get(key)!.stages[0]).toMatchObject({ name: "validate", status: "failed", failed: 1 });
  }
  expect(closed_shop.asked("/scene.tif")).toBe(0);
});

test.skipIf(skip)(`a connection that breaks is tried again; a file that is cut short is told so${name}`, async () => {
  expect(ended.get("breaks")).toMatchObject({ status: "completed", result: { item_count: 1 } });
  const [whole, breaks] = [(await world.items("h-whole"))[0]!, (await world.items("h-breaks"))[0]!];
  expect(breaks.properties["fanfold:source_sha256"]).toBe(whole.properties["fanfold:source_sha256"]);
  expect(refusal("half")).toMatch(/data_beyond_end/);
});

test.skipIf(skip)(`what is no raster, not there or too large is refused with what it is${name}`, () => {
  expect(refusal("page")).toMatch(/web_page/);
  expect(refusal("absent")).toMatch(/source_missing.*answered 404/);
  expect(refusal("large")).toMatch(/source_too_large.*has 2 MB; the limit is 1 MB/);
  // Refused by its length, before it was fetched.
  expect(shop.asked("/large.tif")).toBe(1);
  expect(refusal("unmeasured")).toMatch(/source_too_large.*more than 1 MB/);
});

test.skipIf(skip)(
  `a collection takes sources from addresses and from zones, and names the broken one${name}`,
  async () => {
    const job = ended.get("mixed")!;
    expect(job).toMatchObject({ status: "partial_success", result: { item_count: 3 } });
    expect((await world.items("mixed")).map(({ id }) => id)).toEqual(["mixed-own", "neighbour", "scene"]);
    const { tasks } = await world.engine.tasks({ job_id: job.job_id, stage: "validate", status: "failed", limit: 10 });
    expect(tasks.map(({ index }) => index)).toEqual(["page"]);
    expect(await world.engine.operate.verify(job.job_id)).toMatchObject({ ok: true, problems: [] });
  },
);
