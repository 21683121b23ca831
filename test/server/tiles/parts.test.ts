// The parts of raster tiles that need no server: codecs that do not believe what they are told, where pixels lie, and how a raster is usually shown.
import { deflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { colorMapNamed } from "../../../src/geo/raster_tiles/color_maps.js";
import { measuredStretch, usualLook } from "../../../src/geo/raster_tiles/look.js";
import { positionsOf } from "../../../src/geo/raster_tiles/positions.js";
import { hideNodata } from "../../../src/geo/raster_tiles/window.js";
import { type BlockFacts, decoded } from "../../../src/server/rasters/codecs.js";
import { type Box, projecting } from "../../../src/server/rasters/projections.js";
import { itemOf } from "../stac/stac_service.js";

const facts: BlockFacts = {
  compression: "deflate",
  width: 8,
  height: 8,
  per_pixel: 1,
  bytes: 64,
  photometric: 1,
  jpeg_tables: null,
  lerc_packing: 0,
};

test("a block becomes the bytes it has to have, and no more, whatever it says of itself", async () => {
  const right = Uint8Array.from({ length: 64 }, (_, at) => at);
  expect([...(await decoded(deflateSync(right), facts))]).toEqual([...right]);
  // 64 MB of zeros in 64 kB.
  const bomb = deflateSync(Buffer.alloc(64 * 1024 * 1024));
  await expect(decoded(bomb, facts)).rejects.toThrow();
  await expect(decoded(deflateSync(right.subarray(0, 9)), facts)).rejects.toThrow("a block has 9 bytes of the 64");
  for (const compression of ["jpeg", "webp", "lerc", "zstd", "deflate"]) {
    const noise = Uint8Array.from({ length: 500 }, (_, at) => (at * 7919) % 251);
    await expect(decoded(noise, { ...facts, compression }), compression).rejects.toThrow();
  }
  await expect(decoded(right, { ...facts, compression: "jbig" })).rejects.toThrow("jbig");
});

test("a raster that runs on beyond 180 degrees is found on the other side of the map", () => {
  const same = {
    geographic: true,
    forward: (point: [number, number]) => point,
    inverse: (point: [number, number]) => point,
  };
  const box: Box = [170, -10, 190, 10];
  const there = projecting("EPSG:4326", same, box);
  const tile = { box: [-176, 0, -174, 2] as const, size: 256 };
  const found = positionsOf(tile, there, [170, 0.1, 0, 10, 0, -0.1])!;
  // 175 degrees west are 185 east: 15 degrees of 0.1 behind the left edge.
  expect(found.columns[128]).toBeCloseTo(150, 0);
  expect(found.rows[0]).toBeCloseTo(80, 0);
  const far = positionsOf({ box: [0, 0, 2, 2], size: 256 }, there, [170, 0.1, 0, 10, 0, -0.1])!;
  expect(far.columns.every(Number.isNaN)).toBe(true);
});

test("usually a raster looks as its quicklook does; of unknown values the few darkest and brightest are left out", () => {
  const asset = (...bands: object[]) => ({ href: "x.tif", bands });
  const one = { data_type: "float32", statistics: { minimum: 0, maximum: 1000, mean: 100, stddev: 50 } };
  const dem = itemOf("dem", "c", [0, 0], { properties: { "fanfold:raster_type": "dem" } });
  const file = { band_count: 1, data_type: "float32" };
  expect(usualLook(dem, asset(one), file)).toEqual({ bands: [1], stretches: [[0, 200]], is_classes: false });
  expect(usualLook(dem, asset({}), file).stretches).toEqual([null]);
  const named = ["nir", "blue", "green", "red"].map((name) => ({ ...one, name }));
  expect(usualLook(itemOf("s2", "c"), asset(...named), { ...file, band_count: 4 }).bands).toEqual([4, 3, 2]);
  const values = Float64Array.from({ length: 1000 }, (_, at) => at);
  expect(measuredStretch(values, new Uint8Array(1000).fill(1))).toEqual([20, 980]);
  expect(measuredStretch(values, new Uint8Array(1000))).toEqual([0, 1]);
});

test("one band with the nodata value is a colour; all of them are none", () => {
  const valid = new Uint8Array(3).fill(1);
  hideNodata([Float64Array.of(0, 0, Number.NaN), Float64Array.of(5, 0, Number.NaN)], valid, 0);
  expect([...valid]).toEqual([1, 0, 0]);
});

test("a colour map is known by its name, and turned with _r", () => {
  expect(colorMapNamed("Viridis")?.[0]).toEqual([0x44, 0x01, 0x54]);
  expect(colorMapNamed("viridis_r")?.at(-1)).toEqual([0x44, 0x01, 0x54]);
  expect(colorMapNamed("constructor")).toBeNull();
});
