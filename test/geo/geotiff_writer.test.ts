import { deflateSync, inflateSync } from "node:zlib";
import { Tiff, type TiffImage, TiffTag } from "@cogeotiff/core";
import { describe, expect, test } from "vitest";
import { type NewGeoTiff, writeGeoTiff } from "../../src/cli/demo/geotiff_writer.js";
import { elevation, looks, syntheticScene } from "../../src/cli/demo/terrain.js";
import { type DataType, data_types } from "../../src/geo/raster.js";

/** Another's reader, so that writer and reader of ours cannot agree on a mistake. */
async function open(bytes: Uint8Array): Promise<Tiff> {
  const source = {
    url: new URL("memory://raster.tif"),
    metadata: { size: bytes.length },
    fetch: async (offset: number, length = bytes.length - offset) =>
      bytes.slice(offset, offset + length).buffer as ArrayBuffer,
  };
  return Tiff.create(source);
}

async function samples(image: TiffImage, x: number, y: number): Promise<Uint8Array> {
  const block = image.isTiled() ? await image.getTile(x, y) : await strip(image, y);
  return new Uint8Array(block!.bytes);
}

async function strip(image: TiffImage, index: number) {
  const offsets = await image.fetch(TiffTag.StripOffsets);
  const counts = await image.fetch(TiffTag.StripByteCounts);
  const bytes = await image.tiff.source.fetch(Number(offsets![index]), Number(counts![index]));
  return { bytes };
}

const square: NewGeoTiff = {
  width: 40,
  height: 24,
  data_type: "uint16",
  bands: [Array.from({ length: 960 }, (_, i) => i), Array.from({ length: 960 }, (_, i) => 60000 - i)],
  transform: [500000, 10, 0, 4000000, 0, -10],
  crs: { epsg: 32636, kind: "projected" },
  nodata: 65535,
};

describe("the GeoTIFF writer", () => {
  test("writes size, place, CRS and nodata where another reader finds them", async () => {
    const image = (await open(writeGeoTiff(square))).images[0]!;
    expect(image.size).toEqual({ width: 40, height: 24 });
    expect(image.epsg).toBe(32636);
    expect(image.noData).toBe(65535);
    expect(image.origin.slice(0, 2)).toEqual([500000, 4000000]);
    expect(image.resolution.slice(0, 2)).toEqual([10, -10]);
    expect(image.bbox).toEqual([500000, 3999760, 500400, 4000000]);
  });

  test.each([
    [{ big_tiff: false, big_endian: false }],
    [{ big_tiff: true, big_endian: false }],
    [{ big_tiff: false, big_endian: true }],
    [{ big_tiff: true, big_endian: true }],
  ])("keeps every pixel in tiles with %o", async (kind) => {
    const image = (await open(writeGeoTiff({ ...square, ...kind, tile: 16 }))).images[0]!;
    expect(image.tileCount).toEqual({ x: 3, y: 2 });
    const view = new DataView((await samples(image, 2, 1)).buffer);
    // Tile 2, 1 starts at column 32, row 16; both bands of a pixel lie together.
    expect(view.getUint16(0, !kind.big_endian)).toBe(16 * 40 + 32);
    expect(view.getUint16(2, !kind.big_endian)).toBe(60000 - (16 * 40 + 32));
    // What is outside the raster is nodata.
    expect(view.getUint16(8 * 4, !kind.big_endian)).toBe(65535);
  });

  test("compresses with the function it is given", async () => {
    const image = (await open(writeGeoTiff({ ...square, tile: 32, deflate: deflateSync }))).images[0]!;
    const pixels = new Uint16Array(inflateSync(await samples(image, 0, 0)).buffer.slice(0, 8));
    expect([...pixels]).toEqual([0, 60000, 1, 59999]);
  });

  test("writes strips whose last one is as short as what is left", async () => {
    const image = (await open(writeGeoTiff({ ...square, rows_per_strip: 10 }))).images[0]!;
    expect([...(await image.fetch(TiffTag.StripByteCounts))!]).toEqual([1600, 1600, 640]);
    expect(new Uint16Array((await samples(image, 0, 2)).buffer.slice(0, 2))[0]).toBe(800);
  });

  test("writes the bands apart when asked to", async () => {
    const image = (await open(writeGeoTiff({ ...square, tile: 32, interleave: "band" }))).images[0]!;
    expect(await image.fetch(TiffTag.TileOffsets)).toHaveLength(4);
    expect([...new Uint16Array((await samples(image, 0, 0)).buffer.slice(0, 6))]).toEqual([0, 1, 2]);
  });

  test.each(data_types.filter((type) => type !== "complex"))("writes %s", async (data_type: DataType) => {
    const values = data_type.startsWith("u") ? [0, 1, 100, 255] : [-100, 0, 1, 100];
    const image = (await open(writeGeoTiff({ width: 2, height: 2, data_type, bands: [values] }))).images[0]!;
    const buffer = (await samples(image, 0, 0)).buffer as ArrayBuffer;
    const arrays = {
      uint8: Uint8Array,
      int8: Int8Array,
      uint16: Uint16Array,
      int16: Int16Array,
      uint32: Uint32Array,
      int32: Int32Array,
      uint64: BigUint64Array,
      int64: BigInt64Array,
      float32: Float32Array,
      float64: Float64Array,
      complex: Float32Array,
    };
    expect([...new arrays[data_type](buffer)].map(Number)).toEqual(values);
  });

  test("writes descriptions, scales and units as GDAL does, with what XML does not take escaped", async () => {
    const raster = { ...square, descriptions: ["a < b & c", null], scales: [0.1, 0.2], units: ["cm", null] };
    const image = (await open(writeGeoTiff(raster))).images[0]!;
    const text = image.value(TiffTag.GdalMetadata)!;
    expect(text).toContain('<Item name="DESCRIPTION" sample="0" role="description">a &amp;lt; b &amp;amp; c</Item>');
    expect(text).toContain('<Item name="SCALE" sample="1" role="scale">0.2</Item>');
    expect(text).not.toContain('name="DESCRIPTION" sample="1"');
  });

  test("writes a COG: overviews halve, the smallest one's data comes first, and the ghost area says so", async () => {
    const scene = syntheticScene({ look: "dem", seed: 1, width: 100, height: 70 });
    const tiff = await open(writeGeoTiff({ ...scene, tile: 32, overviews: 2, cog: true, deflate: deflateSync }));
    expect(tiff.options?.isCogOptimized).toBe(true);
    expect(tiff.images.map(({ size }) => size)).toEqual([
      { width: 100, height: 70 },
      { width: 50, height: 35 },
      { width: 25, height: 18 },
    ]);
    const firsts = await Promise.all(tiff.images.map(async (image) => (await image.fetch(TiffTag.TileOffsets))![0]));
    expect(firsts).toEqual([...firsts].sort((a, b) => Number(b) - Number(a)));
    expect(inflateSync(await samples(tiff.images[2]!, 0, 0))).toHaveLength(32 * 32 * 4);
  });
});

describe("the landscape", () => {
  test("is the same for the same seed and another for another", () => {
    const scene = { look: "dem", seed: 5, width: 32, height: 32 } as const;
    expect(syntheticScene(scene)).toEqual(syntheticScene(scene));
    expect(syntheticScene(scene).bands).not.toEqual(syntheticScene({ ...scene, seed: 6 }).bands);
    // Written down, so that a change of the landscape is noticed: others pin checksums of it.
    expect(elevation(5, 100, 200)).toBe(315.75349884361503);
  });

  test("continues in the scene beside", () => {
    const whole = syntheticScene({ look: "dem", seed: 2, width: 64, height: 8 }).bands[0]!;
    const right = syntheticScene({ look: "dem", seed: 2, width: 32, height: 8, column: 32 }).bands[0]!;
    expect(right[0]).toBe(whole[32]);
    expect(right[32]).toBe(whole[96]);
  });

  test.each(looks)("has a wedge without data when asked to, as %s", (look) => {
    const full = syntheticScene({ look, seed: 3, width: 64, height: 64 });
    const cut = syntheticScene({ look, seed: 3, width: 64, height: 64, nodata_wedge: 0.5 });
    const is_nodata = (value: number) => (cut.nodata === "nan" ? Number.isNaN(value) : value === cut.nodata);
    const count = (bands: ArrayLike<number>[]) => Array.from(bands[0]!).filter(is_nodata).length;
    expect(count(full.bands)).toBe(0);
    expect(count(cut.bands)).toBeGreaterThan(64 * 64 * 0.2);
    expect(count(cut.bands)).toBeLessThan(64 * 64 * 0.3);
  });

  test("looks like land: heights vary, classes are all there, colours fit in a byte", () => {
    const heights = Array.from(syntheticScene({ look: "dem", seed: 7, width: 256, height: 256 }).bands[0]!);
    expect(Math.max(...heights) - Math.min(...heights)).toBeGreaterThan(500);
    const classes = new Set(
      Array.from(syntheticScene({ look: "landcover", seed: 7, width: 512, height: 512 }).bands[0]!),
    );
    expect(classes.size).toBeGreaterThanOrEqual(4);
    for (const band of syntheticScene({ look: "rgb", seed: 7, width: 128, height: 128 }).bands) {
      expect(Array.from(band).every((value) => value >= 0 && value <= 255 && Number.isInteger(value))).toBe(true);
    }
  });
});
