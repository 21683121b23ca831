// What we read of a raster ourselves is what GDAL reads of it: headers, pixels at every size, statistics.
import { rename } from "node:fs/promises";
import { expect, test } from "vitest";
import { type NewGeoTiff, writeGeoTiff } from "../../../src/cli/demo/geotiff_writer.js";
import type { CogOptions, Compression } from "../../../src/geo/raster.js";
import { pixelStatistics } from "../../../src/handlers/raster/pixels/pixel_statistics.js";
import { sampledPixels } from "../../../src/handlers/raster/pixels/sampled.js";
import { withPixels } from "../../../src/handlers/raster/pixels/tiff_pixels.js";
import { engineOf, newPath, scene, signal, withBothEngines, written } from "./both_engines.js";

const plain: CogOptions = {
  target_crs: "EPSG:32636",
  resampling: "nearest",
  overview_resampling: "average",
  compression: "deflate",
  block_size: 256,
};

/** Rasters of every kind of numbers, with holes in them. */
function raster(data_type: NewGeoTiff["data_type"], nodata: number | "nan"): NewGeoTiff {
  const hole = nodata === "nan" ? Number.NaN : nodata;
  const size = { width: 310, height: 270 };
  const values = (seed: number) =>
    Float64Array.from({ length: size.width * size.height }, (_, at) =>
      at % size.width < 20 || at % 97 === 0 ? hole : 1 + ((at * 31 + seed * 17 + (at >> 8)) % 240),
    );
  return { ...scene("dem"), ...size, data_type, nodata, bands: [values(1), values(2)], descriptions: [] };
}

type Kind = [NewGeoTiff["data_type"], number | "nan"];
const kinds: Kind[] = [
  ["uint8", 0],
  ["int16", -9999],
  ["uint16", 65535],
  ["int32", -2147483648],
  ["float32", -3.4028234663852886e38],
  ["float64", "nan"],
];
const packed: [Compression, Kind[]][] = [
  ["deflate", kinds],
  ["lzw", [kinds[2]!, kinds[4]!]],
  ["none", [kinds[1]!]],
];

test.each(packed)(
  "a COG packed with %s has the pixels and statistics that GDAL reads of it",
  async (compression, of) => {
    const engine = await engineOf("wasm");
    for (const [data_type, nodata] of of) {
      const cog = await newPath("cog.tif");
      await engine.cog(await written(writeGeoTiff(raster(data_type, nodata))), cog, { ...plain, compression }, signal);
      for (const size of [310, 204, 61]) {
        const wanted = await engine.readPixels(cog, { bands: [2, 1], size }, signal);
        const { width, height } = wanted;
        const found = await withPixels(cog, (pixels) =>
          sampledPixels(pixels, { bands: [2, 1], width, height }, signal),
        );
        const same = wanted.values.map((values, band) =>
          values.every(
            (value, at) =>
              wanted.valid[band]![at] === found!.valid[band]![at] &&
              (wanted.valid[band]![at] === 0 || value === found!.values[band]![at]),
          ),
        );
        expect(same, `${data_type} at ${size}`).toEqual([true, true]);
      }
      const statistics = await withPixels(cog, (pixels) => pixelStatistics(pixels, signal));
      const { values, valid } = await engine.readPixels(cog, { bands: [1, 2], size: 310 }, signal);
      statistics!.forEach((band, at) => {
        const known = values[at]!.filter((_, i) => valid[at]![i] === 1);
        const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
        const stddev = Math.sqrt(known.reduce((sum, value) => sum + (value - mean) ** 2, 0) / known.length);
        const sorted = known.toSorted();
        expect([band!.minimum, band!.maximum]).toEqual([sorted[0], sorted.at(-1)]);
        expect(band!.mean).toBeCloseTo(mean, 8);
        expect(band!.stddev).toBeCloseTo(stddev, 8);
        expect(band!.valid_percent).toBeCloseTo((100 * known.length) / values[at]!.length, 1);
      });
    }
  },
);

withBothEngines("our own reader", (name) => {
  test("tells of a COG what GDAL tells of it, asked once for each CRS", async () => {
    const engine = await engineOf(name);
    for (const look of ["dem", "multispectral", "rgb", "vegetation_index"] as const) {
      for (const target_crs of ["EPSG:32636", "EPSG:3857", "EPSG:4326"]) {
        const one = { ...scene(look), units: ["m"], scales: [0.5], offsets: [2] };
        const cog = await newPath("cog.tif");
        const options = { ...plain, target_crs, add_alpha: look === "rgb" };
        await engine.cog(await written(writeGeoTiff(one)), cog, options, signal);
        await engine.infoOfCog(cog, target_crs, signal);
        const { metadata: _, transform, ...found } = await engine.infoOfCog(cog, target_crs, signal);
        const { metadata: __, transform: rounded, ...wanted } = await engine.info(cog, signal);
        expect(found).toEqual(wanted);
        // gdalinfo prints sixteen decimals, which of a pixel in degrees are not all its digits.
        transform!.forEach((value, at) => {
          expect(value).toBeCloseTo(rounded![at]!, 12);
        });
      }
    }
  });
});

test("what is not of the kinds it reads is left to GDAL", async () => {
  const source = raster("uint8", 0);
  expect(await withPixels(await written(writeGeoTiff(source)), async () => "read")).toBe("read");
  expect(await withPixels(await written(Buffer.from("II*\0 and no more")), async () => "read")).toBeNull();
  const bytes = Buffer.from(writeGeoTiff(source));
  // The packed pixels of the last block, which then are none.
  bytes.fill(0xff, bytes.length - 64);
  const broken = await written(bytes);
  expect(await withPixels(broken, (pixels) => pixelStatistics(pixels, signal))).toBeNull();
});

test("a file in another's place is read anew", async () => {
  const file = await written(writeGeoTiff(raster("float32", -9999)));
  const read = () => withPixels(file, (pixels) => pixelStatistics(pixels, signal));
  const [before] = (await read())!;
  expect(await read()).toMatchObject([before!, {}]);
  const other = raster("float32", -9999);
  const bands = other.bands.map((band) => Float64Array.from(band, (value) => (value === -9999 ? value : value * 2)));
  const replaced = await written(writeGeoTiff({ ...other, bands }));
  await rename(replaced, file);
  const [after] = (await read())!;
  expect(after!.mean).toBeCloseTo(before!.mean * 2, 6);
});
