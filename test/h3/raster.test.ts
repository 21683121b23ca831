// raster_to_h3 on a real database with a real worker, against a reference that asks H3 for each pixel alone; and the reader against files that
// GDAL wrote in many ways.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import * as h3 from "h3-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type NewGeoTiff, writeGeoTiff } from "../../src/cli/demo/geotiff_writer.js";
import { exactSum } from "../../src/geo/exact_sum.js";
import { systemGdal } from "../gdal_bin.js";
import { catalogHere, RasterWorld } from "../jobs/raster_world.js";
import { layerOf } from "../vector/layer_rows.js";
import { invalidCells, rowsOf, sampleConnections } from "./cell_rows.js";

const here = await catalogHere("server");
const gdal = await systemGdal();
const slots = 4;

/** The same every time, some of it nodata. */
function pixels(width: number, height: number, value: (n: number) => number): Float64Array {
  let state = 11;
  return Float64Array.from({ length: width * height }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state % 13 === 0 ? -9999 : value(state / 2 ** 32);
  });
}

function raster(given: Partial<NewGeoTiff> & Pick<NewGeoTiff, "bands" | "width" | "height">): Uint8Array {
  return writeGeoTiff({
    data_type: "float32",
    tile: 128,
    cog: true,
    transform: [5, 0.01, 0, 48, 0, -0.01],
    crs: { epsg: 4326, kind: "geographic" },
    nodata: -9999,
    deflate: deflateSync,
    ...given,
  });
}

/** Each pixel by itself. */
function reference(
  values: ArrayLike<number>,
  width: number,
  place: (column: number, row: number) => [number, number],
  resolution: number,
) {
  const cells = new Map<string, number[]>();
  Array.from(values).forEach((value, at) => {
    if (value === -9999 || Number.isNaN(value)) return;
    const [lon, lat] = place((at % width) + 0.5, Math.floor(at / width) + 0.5);
    const cell = h3.latLngToCell(lat, lon, resolution);
    const list = cells.get(cell) ?? [];
    if (list.length === 0) cells.set(cell, list);
    list.push(value);
  });
  return cells;
}

describe.skipIf(here.skip)(`rasters in cells${here.name}`, () => {
  let world: RasterWorld;
  beforeAll(async () => {
    world = await RasterWorld.open("server");
    await world.worker({ slots });
  }, 60_000);
  afterAll(() => world?.close());

  async function cellsOfRaster(layer: string, parameters: Record<string, unknown>) {
    const job = await world.run("raster_to_h3", { layer, register: false, ...parameters });
    expect(job.error).toBeNull();
    const rows = await rowsOf(world.db, layer);
    return new Map(rows.map((row) => [row.h3 as string, row as Record<string, number>]));
  }

  test("every pixel counts once, in the cell that H3 says, and sums are exact however blocks are cut", {
    timeout: 120_000,
  }, async () => {
    const [width, height] = [700, 500];
    const values = pixels(width, height, (n) => Math.fround(n * 1000 - 300)).map(Math.fround);
    world.put("silver:float.tif", raster({ width, height, bands: [values] }));
    const statistics = ["count", "sum", "mean", "min", "max", "p50"];
    const sampled = sampleConnections(world.db);
    const found = await cellsOfRaster("float_5", { source: "silver:float.tif", resolution: 5, statistics });
    expect(await sampled()).toBeLessThanOrEqual(slots + 2);
    const expected = reference(values, width, (x, y) => [5 + x * 0.01, 48 - y * 0.01], 5);
    expect([...found.keys()].sort()).toEqual([...expected.keys()].sort());
    expect(found.size).toBeGreaterThan(200);
    for (const [cell, list] of expected) {
      const row = found.get(cell)!;
      const sum = exactSum(list);
      expect(row).toMatchObject({ count: list.length, sum, min: Math.min(...list), max: Math.max(...list) });
      expect(Math.abs(row.mean! - sum / list.length)).toBeLessThan(1e-9);
    }
    expect(await invalidCells(world.db, "float_5")).toMatchObject({ invalid: 0 });
    expect((await layerOf(world.db, "float_5"))!.columns.map(({ name }) => name)).toEqual([
      "h3",
      "resolution",
      ...statistics,
    ]);
  });

  test("classes have shares, a majority and a variety, percentiles are exact, and rasters of a folder are counted together", {
    timeout: 120_000,
  }, async () => {
    const [width, height] = [150, 100];
    const left = pixels(width, height, (n) => Math.floor(n * 5)).map((n) => (n === -9999 ? 255 : n));
    const right = left.map((n) => (n === 3 ? 4 : n));
    const given = { width, height, data_type: "uint8" as const, nodata: 255, tile: 64 };
    const at = (x: number): NewGeoTiff["transform"] => [x, 0.01, 0, -10, 0, -0.01];
    world.put("silver:classes/a.tif", raster({ ...given, bands: [left], transform: at(179) }));
    // Goes on where the first ends, over the antimeridian.
    world.put("silver:classes/b.tif", raster({ ...given, bands: [right], transform: at(180.5), interleave: "band" }));
    const statistics = ["count", "majority", "variety", "shares", "p25", "p50", "p90"];
    const found = await cellsOfRaster("classes", {
      sources: { prefix: "silver:classes/" },
      resolution: 4,
      statistics,
      geometry: "point",
    });
    const none = (list: Float64Array) => list.map((n) => (n === 255 ? -9999 : n));
    const expected = reference(none(left), width, (x, y) => [179 + x * 0.01, -10 - y * 0.01], 4);
    for (const [cell, list] of reference(none(right), width, (x, y) => [180.5 + x * 0.01, -10 - y * 0.01], 4))
      expected.set(cell, [...(expected.get(cell) ?? []), ...list]);
    expect([...found.keys()].sort()).toEqual([...expected.keys()].sort());
    for (const [cell, list] of expected) {
      const row = found.get(cell)! as unknown as Record<string, unknown>;
      const sorted = [...list].sort((a, b) => a - b);
      const counts = new Map<number, number>();
      for (const value of sorted) counts.set(value, (counts.get(value) ?? 0) + 1);
      const most = Math.max(...counts.values());
      expect(row.count).toBe(list.length);
      expect(row.majority).toBe([...counts].find(([, n]) => n === most)![0]);
      expect(row.variety).toBe(counts.size);
      expect(row.shares).toEqual(Object.fromEntries([...counts].map(([value, n]) => [value, n / list.length])));
      for (const p of [25, 50, 90]) {
        const rank = ((sorted.length - 1) * p) / 100;
        const [low, high] = [sorted[Math.floor(rank)]!, sorted[Math.ceil(rank)]!];
        expect(row[`p${p}`]).toBeCloseTo(low + (rank % 1) * (high - low), 9);
      }
    }
  });

  test.skipIf(!gdal.available)(
    "what GDAL writes is read the same: codecs, predictors, masks, alpha, bands apart, UTM, strips",
    {
      timeout: 180_000,
    },
    async () => {
      const [width, height] = [200, 160];
      const utm = {
        transform: [500_000, 300, 0, 5_200_000, 0, -300] as NewGeoTiff["transform"],
        crs: { epsg: 32632, kind: "projected" as const },
      };
      const values = pixels(width, height, (n) => Math.round(n * 2000));
      const file = (name: string) => join(world.dir, name);
      const translate = (...args: string[]) => execFileSync("gdal_translate", ["-q", ...args]);
      writeFileSync(file("int16.tif"), raster({ width, height, bands: [values], data_type: "int16", ...utm }));
      writeFileSync(file("float.tif"), raster({ width, height, bands: [values], ...utm }));
      const tiled = ["-co", "TILED=YES", "-co", "BLOCKXSIZE=64", "-co", "BLOCKYSIZE=64"];
      const made: [string, string[]][] = [
        ["lzw", [file("int16.tif"), ...tiled, "-co", "COMPRESS=LZW", "-co", "PREDICTOR=2"]],
        ["lzw_strips", [file("float.tif"), "-co", "COMPRESS=LZW"]],
        ["zstd", [file("float.tif"), ...tiled, "-co", "COMPRESS=ZSTD", "-co", "PREDICTOR=3"]],
        ["packbits", [file("int16.tif"), "-co", "COMPRESS=PACKBITS", "-co", "ENDIANNESS=BIG"]],
        [
          "deflate_big",
          [file("float.tif"), ...tiled, "-co", "COMPRESS=DEFLATE", "-co", "ENDIANNESS=BIG", "-co", "BIGTIFF=YES"],
        ],
        ["apart", [file("int16.tif"), "-b", "1", "-b", "1", ...tiled, "-co", "INTERLEAVE=BAND"]],
        ["together", [file("int16.tif"), "-b", "1", "-b", "1", ...tiled, "-co", "COMPRESS=LZW", "-co", "PREDICTOR=2"]],
        ["cog", [file("int16.tif"), "-of", "COG", "-co", "BLOCKSIZE=128", "-co", "COMPRESS=DEFLATE"]],
        [
          "mask",
          [
            file("int16.tif"),
            ...tiled,
            "-mask",
            "mask",
            "-b",
            "1",
            "-a_nodata",
            "none",
            "--config",
            "GDAL_TIFF_INTERNAL_MASK",
            "YES",
          ],
        ],
        ["cog_mask", [file("masked.tif"), "-of", "COG", "-co", "BLOCKSIZE=128", "-co", "COMPRESS=DEFLATE"]],
        [
          "alpha",
          [file("masked.tif"), "-b", "1", "-b", "mask", "-colorinterp_2", "alpha", ...tiled, "-co", "ALPHA=YES"],
        ],
      ];
      translate(
        file("int16.tif"),
        file("masked.tif"),
        ...tiled,
        "-mask",
        "mask",
        "-b",
        "1",
        "-a_nodata",
        "none",
        "--config",
        "GDAL_TIFF_INTERNAL_MASK",
        "YES",
      );
      for (const [name, args] of made) {
        translate(...args, file(`${name}.made.tif`));
        world.put(`silver:made/${name}.tif`, readFileSync(file(`${name}.made.tif`)));
      }
      const jobs = await Promise.all(
        made.map(([name]) =>
          world.run("raster_to_h3", {
            layer: `made_${name}`,
            register: false,
            source: `silver:made/${name}.tif`,
            resolution: 6,
            geometry: "none",
          }),
        ),
      );
      expect(jobs.map(({ error }, at) => [made[at]![0], error])).toEqual(made.map(([name]) => [name, null]));
      const all = await Promise.all(made.map(([name]) => layerOf(world.db, `made_${name}`)));
      expect(all.every((layer) => layer !== null)).toBe(true);
      const first = await rowsOf(world.db, "made_lzw");
      const total = first.reduce((sum, { count }) => sum + (count as number), 0);
      expect(total).toBe(values.filter((n) => n !== -9999).length);
      const others: string[] = [];
      for (const [name] of made) {
        const rows = await rowsOf(world.db, `made_${name}`);
        if (JSON.stringify(rows) !== JSON.stringify(first)) others.push(name);
      }
      expect(others).toEqual([]);
    },
  );

  test("a raster that cannot be read says so, all of them at once, with what to do; a broken block fails alone", {
    timeout: 60_000,
  }, async () => {
    const bands = [pixels(64, 64, (n) => n)];
    world.put(
      "silver:bad/local.tif",
      raster({ width: 64, height: 64, tile: 64, bands, crs: { epsg: 2056, kind: "projected" } }),
    );
    world.put("silver:bad/text.tif", "no raster");
    const refused = await world.run("raster_to_h3", {
      layer: "never",
      sources: { prefix: "silver:bad/" },
      resolution: 5,
    });
    expect(refused.error?.message).toMatch(/EPSG:2056: reproject it with process_raster/);
    expect(refused.error?.message).toMatch(/text\.tif cannot be used: it is no TIFF/);
    const broken = raster({
      width: 64,
      height: 64,
      tile: 64,
      bands,
      deflate: (bytes) => deflateSync(bytes).fill(7, 10, 400),
    });
    world.put("silver:broken.tif", broken);
    const failed = await world.run("raster_to_h3", { layer: "never", source: "silver:broken.tif", resolution: 5 });
    expect(failed.error?.message).toMatch(/block 0 cannot be unpacked: look whether the file is whole/);
    expect(await layerOf(world.db, "never")).toBeNull();
    await expect(world.submit("raster_to_h3", { layer: "x", resolution: 5, statistics: ["mode"] })).rejects.toThrow(
      /statistics/,
    );
  });
});
