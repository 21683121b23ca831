// Every parameter of process_raster, seen in the COG and the item it makes: one run of many small jobs, then a look at each.
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { JobRecord } from "../../src/engine/verbs/records.js";
import type { StacItem } from "../../src/geo/stac.js";
import { readTiffHeader, type TiffHeader } from "../../src/geo/tiff/tiff_header.js";
import { readerOf } from "../geo/open.js";
import { catalogHere, RasterWorld, scene } from "./raster_world.js";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const { skip, name } = await catalogHere("server");

const jobs = {
  plain: { source: "bronze:in/plain.tif" },
  mercator: {
    source: "bronze:in/plain.tif",
    target_crs: "EPSG:3857",
    resolution: 100,
    block_size: 256,
    compression: "lzw",
  },
  kept: { source: "bronze:in/rgb_20240131.tif", target_crs: "source", compression: "none" },
  cubic: { source: "bronze:in/landcover.tif", resampling: "cubic", item_id: "by-cubic", target_crs: "EPSG:3857" },
  classes: { source: "bronze:in/landcover.tif", item_id: "by-type", target_crs: "EPSG:3857" },
  wide: { source: "bronze:in/wide.tif", target_crs: "source", block_size: 256, overview_resampling: "nearest" },
  averaged: { source: "bronze:in/wide.tif", target_crs: "source", block_size: 256, item_id: "averaged" },
  typed: { source: "bronze:in/flood.tif", raster_type: "flood_depth" },
  voided: { source: "bronze:in/no_nodata.tif", nodata: 0 },
  placed: { source: "bronze:in/no_crs.tif", source_crs: "EPSG:32636" },
  chosen: {
    source: "bronze:in/bands.tif",
    bands: [4, 1],
    band_names: ["near infrared", "blue"],
    resolution: [0.0005, 0.001],
  },
  tiled: {
    source: "bronze:in/wedge.tif",
    target_crs: "source",
    max_single_px: 300,
    tile_px: 256,
    overlap_px: 16,
    block_size: 256,
  },
  moment: { source: "bronze:in/plain.tif", item_id: "moment", datetime: "2024-05-01T12:00:00+02:00" },
  period: {
    source: "bronze:in/plain.tif",
    item_id: "period",
    start_datetime: "2024-01-01T00:00:00Z",
    end_datetime: "2024-12-31T23:59:59Z",
  },
  archived: { source: "bronze:in/plain.tif", item_id: "archived", purpose: "archive" },
  // Those that are refused.
  unplaced: { source: "bronze:in/no_crs.tif", strict: true },
  strict: { source: "bronze:in/plain.tif", strict: true, item_id: "strict" },
  lossy: { source: "bronze:in/rgb_20240131.tif", compression: "jpeg", quality: 80, item_id: "lossy" },
  bandless: { source: "bronze:in/plain.tif", bands: [2], band_names: ["a"], raster_type: "rgb", item_id: "bandless" },
  unreadable: { source: "bronze:in/page.tif" },
  absent: { source: "bronze:in/absent.tif" },
  nowhere: { source: "bronze:in/plain.tif", target_crs: "EPSG:999999", item_id: "nowhere" },
} as const;

let world: RasterWorld;
const ended = new Map<string, JobRecord>();

beforeAll(async () => {
  if (skip) return;
  world = await RasterWorld.open("server");
  const put = (file: string, bytes: Uint8Array | string) => world.put(`bronze:in/${file}`, bytes);
  put("plain.tif", scene());
  put("rgb_20240131.tif", scene({ look: "rgb" }));
  put("landcover.tif", scene({ look: "landcover" }));
  put("wide.tif", scene({ width: 600, height: 300 }));
  put("flood.tif", scene({ look: "flood_depth" }));
  put("no_nodata.tif", scene({ look: "landcover", nodata_wedge: 0.5 }, { nodata: undefined }));
  put("no_crs.tif", scene({}, { crs: undefined }));
  put("bands.tif", scene({ look: "multispectral" }));
  put("wedge.tif", scene({ width: 760, height: 500, nodata_wedge: 0.98 }));
  put("page.tif", "<!doctype html><title>Sign in</title>");
  const ids = new Map<string, string>();
  for (const [key, parameters] of Object.entries(jobs)) {
    const collection = `c-${key}`;
    const more =
      key === "plain" ? { title: "Heights", description: "Of a seed", license: "CC-BY-4.0", keywords: ["dem"] } : {};
    ids.set(key, await world.submit("process_raster", { ...parameters, ...more, collection }));
  }
  await world.worker();
  for (const [key, job_id] of ids) ended.set(key, await world.ended(job_id));
});
afterAll(() => world?.close());

const made = async (key: keyof typeof jobs): Promise<StacItem> => {
  const { status, error } = ended.get(key)!;
  expect({ key, status, error }).toMatchObject({ status: "completed" });
  const items = await world.items(`c-${key}`);
  expect(items).toHaveLength(1);
  return items[0]!;
};

const header = (item: StacItem): Promise<TiffHeader> => {
  const [zone, key] = (item.assets.data!["fanfold:ref"] as string).split(":") as [string, string];
  const bytes = readFileSync(world.path(zone, key));
  return readTiffHeader(readerOf(bytes), bytes.length);
};

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever is there
const bandsOf = (item: StacItem) => item.assets.data!.bands as any[];

const refusal = (key: keyof typeof jobs): string => {
  const { status, error } = ended.get(key)!;
  expect({ key, status }).toEqual({ key, status: "failed" });
  return JSON.stringify(error);
};

test.skipIf(skip)(`a raster becomes a COG in degrees and an item that says how${name}`, async () => {
  const item = await made("plain");
  expect(item).toMatchObject({ id: "plain", collection: "c-plain", stac_version: "1.1.0" });
  expect(item.properties).toMatchObject({
    "proj:code": "EPSG:4326",
    "fanfold:raster_type": "dem",
    "fanfold:source": "bronze:in/plain.tif",
    "fanfold:job_id": ended.get("plain")!.job_id,
    "fanfold:engine": expect.stringMatching(/^gdal-wasm 3\./),
    "fanfold:parameters": { resampling: "bilinear", compression: "deflate", overview_resampling: "average" },
  });
  expect(bandsOf(item)).toMatchObject([{ data_type: "float32", nodata: -9999, unit: "m" }]);
  const { images, georeference } = await header(item);
  expect(images[0]).toMatchObject({ compression: "deflate", tiled: true, block_width: 512 });
  expect(georeference.crs).toMatchObject({ code: "EPSG:4326" });
  expect(item.properties["proj:shape"]).toEqual([images[0].height, images[0].width]);
  const collection = await world.catalog.collection(world.db, "c-plain");
  expect(collection).toMatchObject({
    title: "Heights",
    description: "Of a seed",
    license: "CC-BY-4.0",
    keywords: ["dem"],
  });
  expect(collection!.extent.spatial.bbox[0]).toEqual(item.bbox);
  expect(ended.get("plain")!.deliverables.map(({ name, count }) => [name, count])).toEqual([
    ["cogs", 1],
    ["stac_items", 1],
    ["collection", 1],
  ]);
});

test.skipIf(skip)(`target_crs, resolution, block_size and compression are what the file has${name}`, async () => {
  const item = await made("mercator");
  expect(item.properties).toMatchObject({ "proj:code": "EPSG:3857", gsd: expect.closeTo(100, 1) });
  const { images, georeference } = await header(item);
  expect(images[0]).toMatchObject({ compression: "lzw", block_width: 256, block_height: 256 });
  expect(georeference.transform![1]).toBe(100);
  const kept = await made("kept");
  expect(kept.properties).toMatchObject({
    "proj:code": "EPSG:32636",
    "proj:transform": [30, 0, 500_000, 0, -30, 100_000],
  });
  expect((await header(kept)).images[0]).toMatchObject({ compression: "none", width: 64, height: 64 });
});

test.skipIf(skip)(`resampling follows the raster type unless it is given${name}`, async () => {
  const classes = await made("classes");
  const cubic = await made("cubic");
  expect([classes.id, cubic.id]).toEqual(["by-type", "by-cubic"]);
  expect(classes.properties["fanfold:parameters"]).toMatchObject({
    resampling: "nearest",
    overview_resampling: "mode",
  });
  expect(cubic.properties["fanfold:parameters"]).toMatchObject({ resampling: "cubic" });
  expect(bandsOf(classes)[0].statistics.mean).not.toBe(bandsOf(cubic)[0].statistics.mean);
});

test.skipIf(skip)(`overviews are there, and made as told${name}`, async () => {
  const [wide, averaged] = [await made("wide"), await made("averaged")];
  const levels = (await header(wide)).images.map(({ width, role }) => [width, role]);
  expect(levels).toEqual([
    [600, "image"],
    [300, "overview"],
    [150, "overview"],
  ]);
  expect(wide.assets.data!["file:checksum"]).not.toBe(averaged.assets.data!["file:checksum"]);
});

test.skipIf(skip)(`raster_type, nodata and source_crs are believed${name}`, async () => {
  expect((await made("typed")).properties["fanfold:raster_type"]).toBe("flood_depth");
  const [voided] = bandsOf(await made("voided"));
  expect(voided).toMatchObject({ nodata: 0 });
  expect(voided.statistics.valid_percent).toBeLessThan(80);
  expect((await made("placed")).bbox![0]).toBeCloseTo(33, 3);
});

test.skipIf(skip)(`bands are chosen, ordered and named${name}`, async () => {
  const item = await made("chosen");
  expect(bandsOf(item).map((band) => band.name)).toEqual(["near infrared", "blue"]);
  const { georeference } = await header(item);
  expect(georeference.transform![1]).toBeCloseTo(0.0005, 9);
  expect(georeference.transform![5]).toBeCloseTo(-0.001, 9);
  expect(item.properties["fanfold:parameters"]).toMatchObject({ bands: [4, 1] });
});

test.skipIf(skip)(
  `a large raster becomes a grid that overlaps, and a tile of nothing makes no item${name}`,
  async () => {
    const job = ended.get("tiled")!;
    expect(job).toMatchObject({ status: "completed", result: { item_count: 5, empty_count: 1 } });
    expect(job.result).toMatchObject({ empty: [{ item_id: "wedge-x2-y1", reason: "nothing but nodata" }] });
    const items = await world.items("c-tiled");
    expect(items.map(({ id }) => id)).toEqual([
      "wedge-x0-y0",
      "wedge-x0-y1",
      "wedge-x1-y0",
      "wedge-x1-y1",
      "wedge-x2-y0",
    ]);
    const box = (id: string) => items.find((item) => item.id === id)!.properties["proj:bbox"] as number[];
    expect(box("wedge-x0-y0")[2]! - box("wedge-x1-y0")[0]!).toBe(16 * 30);
    expect(items[0]!.properties["fanfold:tile"]).toEqual([0, 0]);
    // The footprint is where data is, not the box.
    const edge = items.find(({ id }) => id === "wedge-x1-y0")!;
    expect(JSON.stringify(edge.geometry)).not.toBe(JSON.stringify(items[0]!.geometry));
    // Tiles of one raster were made at the same time.
    const [overlap] = await world.db.sql<{ n: number }>`
    with runs as (
      select finished_at - make_interval(secs => duration_ms / 1000.0) as began, finished_at
        from app.results r join app.stages s using (stage_id)
       where s.job_id = ${job.job_id} and s.name = 'cog')
    select count(*)::integer as n from runs a join runs b on a.began < b.began and b.began < a.finished_at`;
    expect(overlap!.n).toBeGreaterThan(0);
  },
);

test.skipIf(skip)(`dates are given, or read from the file's name, or told to be an assumption${name}`, async () => {
  expect((await made("moment")).properties.datetime).toBe("2024-05-01T10:00:00Z");
  expect((await made("period")).properties).toMatchObject({
    datetime: null,
    start_datetime: "2024-01-01T00:00:00Z",
    end_datetime: "2024-12-31T23:59:59Z",
  });
  expect((await made("kept")).properties).toMatchObject({
    datetime: "2024-01-31T00:00:00Z",
    "fanfold:datetime_source": "file_name",
  });
  expect((await made("plain")).properties["fanfold:datetime_source"]).toBe("fallback");
});

test.skipIf(skip)(`purpose chooses among the engine's codecs${name}`, async () => {
  expect((await header(await made("archived"))).images[0].compression).toBe("deflate");
});

test.skipIf(skip)(`what cannot be is refused before any work, with all findings and what to do${name}`, () => {
  expect(refusal("unplaced")).toMatch(/no_crs.*Give `source_crs`/);
  expect(refusal("strict")).toMatch(/datetime_assumed.*Give datetime/);
  expect(refusal("lossy")).toMatch(/jpeg needs system GDAL/);
  expect(refusal("bandless")).toMatch(/band_missing.*raster_type_impossible/);
  expect(refusal("unreadable")).toMatch(/web_page/);
  expect(refusal("absent")).toMatch(/there is no bronze:in\/absent.tif/);
  expect(refusal("nowhere")).toMatch(/EPSG:999999/);
  for (const key of ["unplaced", "strict", "lossy", "bandless", "unreadable", "absent", "nowhere"] as const) {
    const { stages } = ended.get(key)!;
    expect({ key, first: stages[0]!.status, attempts: stages.map(({ status }) => status).slice(1) }).toEqual({
      key,
      first: "failed",
      attempts: ["cancelled", "cancelled", "cancelled", "cancelled"],
    });
  }
});
