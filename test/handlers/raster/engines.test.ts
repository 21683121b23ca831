import { execFile } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { type NewGeoTiff, writeGeoTiff } from "../../../src/cli/demo/geotiff_writer.js";
import { checkCogFile } from "../../../src/geo/cog_check.js";
import type { CogOptions, Compression } from "../../../src/geo/raster.js";
import { readTiffHeader } from "../../../src/geo/tiff/tiff_header.js";
import { claim } from "../../geo/broken.js";
import { readerOf } from "../../geo/open.js";
import { engineOf, gdal, newPath, scene, signal, withBothEngines, written, writtenScene } from "./both_engines.js";

const plain: CogOptions = {
  target_crs: "EPSG:32636",
  resampling: "nearest",
  overview_resampling: "nearest",
  compression: "deflate",
  block_size: 256,
};

/** Of a COG, which it must be. */
async function headerOf(file: string) {
  const bytes = await readFile(file);
  expect(await checkCogFile(readerOf(bytes), bytes.length)).toEqual({ valid: true, errors: [], warnings: [] });
  return readTiffHeader(readerOf(bytes), bytes.length);
}

/** A band as the file has it. */
function stored({ bands, data_type }: NewGeoTiff, band = 0): number[] {
  return Array.from(bands[band]!, (value) => (data_type === "float32" ? Math.fround(value) : value));
}

function sameNumbers(found: ArrayLike<number>, wanted: ArrayLike<number>): boolean {
  return found.length === wanted.length && Array.from(found).every((value, at) => Object.is(value, wanted[at]));
}

function numbersOf(raster: NewGeoTiff, band = 0): { values: number[]; mean: number; stddev: number } {
  const nodata = raster.nodata === "nan" ? Number.NaN : raster.nodata;
  const values = Array.from(raster.bands[band]!).filter((value) => !Number.isNaN(value) && value !== nodata);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const stddev = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
  return { values, mean, stddev };
}

withBothEngines("a raster engine", (name) => {
  test("tells its name, its version and the codecs it has", async () => {
    const engine = await engineOf(name);
    expect(engine.name).toBe(name === "gdal" ? "gdal" : "gdal-wasm");
    expect(engine.version).toMatch(/^3\.\d+\.\d+$/);
    expect([...engine.codecs]).toEqual(expect.arrayContaining(["none", "deflate", "lzw"]));
    if (name === "wasm") expect([...engine.codecs]).not.toContain("zstd");
  });

  test("describes a raster: size, bands, place, CRS, layout", async () => {
    const engine = await engineOf(name);
    const file = await written(writeGeoTiff({ ...scene("multispectral"), overviews: 1 }));
    const info = await engine.info(file, signal);
    expect(info).toMatchObject({
      driver: "GTiff",
      width: 150,
      height: 110,
      transform: [500_000, 10, 0, 4_500_000, 0, -10],
      compression: "deflate",
      block_size: [64, 64],
      overview_count: 1,
      crs: { code: "EPSG:32636", name: "WGS 84 / UTM zone 36N", is_geographic: false },
    });
    const { bands, data_type, descriptions } = scene("multispectral");
    expect(info.bands.map((band) => band.data_type)).toEqual(bands.map(() => data_type));
    expect(info.bands.map((band) => band.description)).toEqual(descriptions);
  });

  test("reads nodata of every kind, units and scales", async () => {
    const engine = await engineOf(name);
    const bands = [new Float32Array(64).fill(3)];
    const base = { ...scene("dem"), width: 8, height: 8, data_type: "float32", bands, tile: 16 } as NewGeoTiff;
    const looked = async (more: Partial<NewGeoTiff>) => {
      const { bands } = await engine.info(await written(writeGeoTiff({ ...base, ...more })), signal);
      return bands[0]!;
    };
    expect((await looked({ nodata: "nan" })).nodata).toBe("nan");
    expect((await looked({ nodata: -3.4028234663852886e38 })).nodata).toBe(-3.4028234663852886e38);
    expect((await looked({ nodata: undefined })).nodata).toBeNull();
    expect(await looked({ units: ["m"], scales: [0.5], offsets: [2] })).toMatchObject({
      unit: "m",
      scale: 0.5,
      offset: 2,
    });
  });

  test("a raster without place or CRS says so", async () => {
    const engine = await engineOf(name);
    const file = await written(writeGeoTiff({ ...scene("dem"), transform: undefined, crs: undefined }));
    expect(await engine.info(file, signal)).toMatchObject({ transform: null, crs: null });
  });

  test("computes statistics of valid pixels, and leaves nothing beside the file", async () => {
    const engine = await engineOf(name);
    for (const look of ["dem", "multispectral", "vegetation_index"] as const) {
      const raster = scene(look, { nodata_wedge: 0.4 });
      const file = await written(writeGeoTiff(raster));
      const found = await engine.statistics(file, { approximate: false }, signal);
      for (const [band, statistics] of found.entries()) {
        const { values, mean, stddev } = numbersOf(raster, band);
        expect(statistics!.minimum).toBeCloseTo(Math.min(...values), 5);
        expect(statistics!.maximum).toBeCloseTo(Math.max(...values), 5);
        expect(Math.abs(statistics!.mean / mean - 1)).toBeLessThan(1e-6);
        expect(Math.abs(statistics!.stddev / stddev - 1)).toBeLessThan(1e-6);
        expect(statistics!.valid_percent).toBeCloseTo((100 * values.length) / (150 * 110), 1);
      }
      expect(await readdir(dirname(file))).toEqual(["source.tif"]);
    }
  });

  test("what an alpha band hides is in no statistics", async () => {
    const engine = await engineOf(name);
    const { bands, ...rest } = scene("rgb");
    const hidden = (at: number) => at % 4 === 0;
    const alpha = Uint8Array.from(bands[0]!, (_, at) => (hidden(at) ? 0 : 255));
    const black = bands.map((band) => Uint8Array.from(band, (value, at) => (hidden(at) ? 0 : Math.max(1, value))));
    const file = await written(
      writeGeoTiff({ ...rest, nodata: undefined, bands: [...black, alpha], descriptions: [] }),
    );
    const found = await engine.statistics(file, { approximate: false }, signal);
    for (const [at, band] of black.entries()) {
      const seen = Array.from(band).filter((_, i) => !hidden(i));
      const mean = seen.reduce((sum, value) => sum + value, 0) / seen.length;
      expect(found[at]).toMatchObject({ minimum: Math.min(...seen), maximum: Math.max(...seen) });
      expect(found[at]!.mean).toBeCloseTo(mean, 6);
      expect(found[at]!.valid_percent).toBeCloseTo(75, 0);
    }
    expect(found[3]).toMatchObject({ minimum: 0, maximum: 255, valid_percent: 100 });
    expect(await readdir(dirname(file))).toEqual(["source.tif"]);
  });

  test.each(["jpeg", "webp", "deflate"] as const)(
    "the corners that a reprojection leaves in a picture of %s are not black, but nothing",
    async (compression) => {
      const engine = await engineOf(name);
      if (!engine.codecs.has(compression)) return;
      const { nodata: _, ...picture } = scene("rgb");
      const file = await written(writeGeoTiff(picture));
      const target = await newPath("cog.tif");
      await engine.cog(file, target, { ...plain, target_crs: "EPSG:3035", compression, add_alpha: true }, signal);
      await headerOf(target);
      const { bands, width, height } = await engine.info(target, signal);
      // JPEG has a mask in its place: GDAL's way, and what rio-cogeo makes.
      expect(bands).toHaveLength(compression === "jpeg" ? 3 : 4);
      const mask = await engine.validMask(target, { size: Math.max(width, height) }, signal);
      const corners = [0, width - 1, width * (height - 1), width * height - 1].map((at) => mask.data[at]);
      expect(corners).toEqual([0, 0, 0, 0]);
      expect(mask.data[(height >> 1) * width + (width >> 1)]).toBe(1);
      const statistics = await engine.statistics(target, { approximate: false }, signal);
      const share = mask.data.reduce((sum, one) => sum + one, 0) / mask.data.length;
      expect(statistics[0]!.valid_percent).toBeCloseTo(share * 100, 1);
    },
  );

  test("a band without a valid pixel has no statistics", async () => {
    const engine = await engineOf(name);
    const bands = [new Float32Array(150 * 110).fill(-9999), new Float32Array(150 * 110).fill(4)];
    const file = await written(
      writeGeoTiff({ ...scene("dem"), data_type: "float32", bands, nodata: -9999, descriptions: [] }),
    );
    const found = await engine.statistics(file, { approximate: false }, signal);
    expect(found).toEqual([null, { minimum: 4, maximum: 4, mean: 4, stddev: 0, valid_percent: 100 }]);
  });

  test("does not believe the statistics a file carries", async () => {
    const engine = await engineOf(name);
    const lie = ["MINIMUM", "MAXIMUM", "MEAN", "STDDEV", "VALID_PERCENT"].map((key) => `STATISTICS_${key}`);
    const items = lie.map((key) => `<Item name="${key}" sample="0">77</Item>`).join("");
    const file = await written(withMetadata(`<GDALMetadata>${items}</GDALMetadata>`));
    const [found] = await engine.statistics(file, { approximate: false }, signal);
    expect(found).toEqual({ minimum: 0, maximum: 0, mean: 0, stddev: 0, valid_percent: 100 });
  });

  test("transforms points, and says which it cannot", async () => {
    const engine = await engineOf(name);
    const found = await engine.transform(
      [
        [500_000, 4_500_000],
        [1e30, 4],
        [Number.NaN, 1],
      ],
      "EPSG:32636",
      "EPSG:4326",
    );
    expect(found[0]![0]).toBeCloseTo(33, 9);
    expect(found[0]![1]).toBeCloseTo(40.6508565155716, 9);
    expect(found.slice(1)).toEqual([null, null]);
    expect(await engine.transform([], "EPSG:32636", "EPSG:4326")).toEqual([]);
  });

  test("suggests where a raster would lie", async () => {
    const engine = await engineOf(name);
    const file = await writtenScene("dem");
    const same = await engine.suggestWarp(file, { target_crs: "EPSG:32636" }, signal);
    expect(same).toMatchObject({ width: 150, height: 110, bounds: [500_000, 4_498_900, 501_500, 4_500_000] });
    const other = await engine.suggestWarp(file, { target_crs: "EPSG:4326" }, signal);
    expect(other.bounds[0]).toBeCloseTo(33, 6);
    expect(other.transform[5]).toBeLessThan(0);
  });

  test("writes a COG whose pixels are the source's when nothing moves", async () => {
    const engine = await engineOf(name);
    const reader = await engineOf("wasm");
    for (const look of ["dem", "multispectral", "landcover"] as const) {
      const raster = scene(look, { nodata_wedge: 0.3, width: 300, height: 280 });
      const target = await newPath("cog.tif");
      await engine.cog(await written(writeGeoTiff(raster)), target, plain, signal);
      const bands = raster.bands.map((_, at) => at + 1);
      const found = await reader.readPixels(target, { bands, size: 300 }, signal);
      for (const [at, values] of found.values.entries()) {
        expect(sameNumbers(values, stored(raster, at))).toBe(true);
      }
      const header = await headerOf(target);
      expect(header.images.map(({ width, height }) => [width, height])).toEqual([
        [300, 280],
        [150, 140],
      ]);
      expect(header.ghost?.options).toMatchObject({ LAYOUT: "IFDS_BEFORE_DATA" });
      expect(await readdir(dirname(target))).toEqual(["cog.tif"]);
    }
  });

  const compressions: [Compression, string | null, NewGeoTiff["data_type"][]][] = [
    ["deflate", "deflate", ["uint8", "int16", "uint16", "int32", "float32", "float64"]],
    ["lzw", "lzw", ["uint16", "float32"]],
    ["none", "none", ["float32"]],
    ["zstd", "zstd", ["int16", "float32"]],
    ["lerc_deflate", "lerc", ["float32"]],
  ];
  test.each(compressions)("packs with %s, with the predictor of the data type", async (compression, tag, types) => {
    const engine = await engineOf(name);
    for (const data_type of types) {
      const bands = [Float64Array.from({ length: 150 * 110 }, (_, at) => at % 251)];
      const raster = { ...scene("dem"), data_type, bands, nodata: 250, descriptions: [] } as NewGeoTiff;
      const target = await newPath("cog.tif");
      const made = engine.cog(await written(writeGeoTiff(raster)), target, { ...plain, compression }, signal);
      if (!engine.codecs.has(compression)) {
        await expect(made).rejects.toMatchObject({
          code: "bad_cog_options",
          message: expect.stringContaining("needs system GDAL"),
        });
        continue;
      }
      await made;
      const header = await headerOf(target);
      const [image] = header.images;
      const has_predictor = !["none", "lerc_deflate"].includes(compression);
      expect(image).toMatchObject({ compression: tag, data_type, tiled: true, block_width: 256, block_height: 256 });
      expect(image.predictor).toBe(has_predictor ? (data_type.startsWith("float") ? 3 : 2) : 1);
      expect(header.nodata).toBe(250);
    }
  });

  test.each(["jpeg", "webp"] as const)("packs pictures with %s", async (compression) => {
    const engine = await engineOf(name);
    const file = await writtenScene("rgb");
    const target = await newPath("cog.tif");
    const made = engine.cog(file, target, { ...plain, compression, quality: 80 }, signal);
    if (!engine.codecs.has(compression)) return expect(made).rejects.toMatchObject({ code: "bad_cog_options" });
    await made;
    const header = await headerOf(target);
    expect(header.images[0].compression).toBe(compression);
  });

  test("rasters smaller than a block come out right, down to one pixel", async () => {
    const engine = await engineOf(name);
    const reader = await engineOf("wasm");
    for (const [width, height] of [
      [1, 1],
      [17, 40],
      [256, 256],
      [257, 3],
    ] as const) {
      const raster = scene("dem", { width, height });
      const target = await newPath("cog.tif");
      await engine.cog(await written(writeGeoTiff(raster)), target, plain, signal);
      const found = await reader.readPixels(target, { bands: [1], size: 300 }, signal);
      expect([found.width, found.height]).toEqual([width, height]);
      expect(sameNumbers(found.values[0]!, stored(raster))).toBe(true);
    }
  });

  test("cuts out a window at a resolution of one's own", async () => {
    const engine = await engineOf(name);
    const target = await newPath("cog.tif");
    const window = { bounds: [500_200, 4_499_300, 500_600, 4_499_700], resolution: [20, 20] } as const;
    await engine.cog(await writtenScene("dem"), target, { ...plain, ...structuredClone(window) } as CogOptions, signal);
    const info = await engine.info(target, signal);
    expect(info).toMatchObject({ width: 20, height: 20, transform: [500_200, 20, 0, 4_499_700, 0, -20] });
  });

  test("a window without a resolution gets the one of the whole raster", async () => {
    const engine = await engineOf(name);
    const file = await writtenScene("dem");
    const { transform } = await engine.suggestWarp(file, { target_crs: "EPSG:4326" }, signal);
    const [x, dx, , y] = transform;
    const bounds: CogOptions["bounds"] = [x + 10 * dx, y - 40 * dx, x + 50 * dx, y - 8 * dx];
    const target = await newPath("cog.tif");
    await engine.cog(file, target, { ...plain, target_crs: "EPSG:4326", bounds }, signal);
    const info = await engine.info(target, signal);
    expect([info.width, info.height]).toEqual([40, 32]);
    expect(info.transform![1]).toBeCloseTo(dx, 12);
  });

  test("chooses bands, in any order, and names them", async () => {
    const engine = await engineOf(name);
    const reader = await engineOf("wasm");
    const raster = scene("multispectral");
    const target = await newPath("cog.tif");
    const file = await written(writeGeoTiff(raster));
    await engine.cog(file, target, { ...plain, bands: [3, 1], band_names: ['red & "hot" <1>', null] }, signal);
    const info = await engine.info(target, signal);
    expect(info.bands.map(({ description }) => description)).toEqual(['red & "hot" <1>', raster.descriptions![0]]);
    const { values } = await reader.readPixels(target, { bands: [1, 2], size: 200 }, signal);
    expect(sameNumbers(values[0]!, stored(raster, 2))).toBe(true);
    expect(sameNumbers(values[1]!, stored(raster, 0))).toBe(true);
    expect((await readdir(dirname(file))).concat(await readdir(dirname(target)))).toEqual(["source.tif", "cog.tif"]);
  });

  test("a raster with a colour table has a mask and a picture as any other", async () => {
    const engine = await engineOf(name);
    const color_table = Array.from({ length: 256 }, (_, at) => [at, 255 - at, 0] as const);
    const file = await written(writeGeoTiff({ ...scene("landcover"), colors: "palette", color_table }));
    const mask = await engine.validMask(file, { size: 64 }, signal);
    expect(mask.data.some((value) => value === 1)).toBe(true);
    const picture = await newPath("quicklook.png");
    await engine.quicklook(file, picture, { size: 64, bands: [1], minimum: [0], maximum: [9] }, signal);
    const png = await readFile(picture);
    // Colour: that of the table, not shades of grey; without alpha, because every pixel is there.
    expect([png.subarray(1, 4).toString(), png[25]]).toEqual(["PNG", 2]);
  });

  test("overviews of a source never come into a COG, not even where it needs none of its own", async () => {
    const engine = await engineOf(name);
    // Halved from odd sizes and moved to other degrees, they would not be halves of the COG.
    const file = await written(writeGeoTiff({ ...scene("multispectral"), overviews: 2 }));
    const target = await newPath("cog.tif");
    await engine.cog(file, target, { ...plain, target_crs: "EPSG:4326" }, signal);
    expect((await headerOf(target)).images).toHaveLength(1);
  });

  test("no image of a COG is as wide as its blocks, which many tools take for strips", async () => {
    const engine = await engineOf(name);
    const file = await writtenScene("dem");
    for (const [block_size, width, height] of [
      [256, 256, 600],
      [256, 512, 1100],
      [512, 512, 704],
    ] as const) {
      const bounds: CogOptions["bounds"] = [500_000, 4_500_000 - height, 500_000 + width, 4_500_000];
      const target = await newPath("cog.tif");
      await engine.cog(file, target, { ...plain, block_size, bounds, resolution: [1, 1] }, signal);
      expect((await headerOf(target)).images[0]).toMatchObject({ width, height });
    }
  });

  test("keeps colours, colour tables, units and descriptions", async () => {
    const engine = await engineOf(name);
    const looked = async (raster: NewGeoTiff) => {
      const target = await newPath("cog.tif");
      await engine.cog(await written(writeGeoTiff(raster)), target, plain, signal);
      return (await engine.info(target, signal)).bands;
    };
    const rgb = await looked(scene("rgb"));
    expect(rgb.map(({ color_interpretation }) => color_interpretation)).toEqual(["red", "green", "blue"]);
    const color_table = Array.from({ length: 256 }, (_, at) => [at, 255 - at, 0] as const);
    const palette = await looked({ ...scene("landcover"), colors: "palette", color_table });
    expect(palette).toMatchObject([{ color_interpretation: "palette", has_color_table: true }]);
    const dem = await looked({ ...scene("dem"), units: ["m"], scales: [0.25], offsets: [1], descriptions: ["height"] });
    expect(dem).toMatchObject([{ unit: "m", scale: 0.25, offset: 1, description: "height" }]);
    const alpha = new Uint8Array(150 * 110).map((_, at) => (at % 3 === 0 ? 0 : 255));
    const { bands, ...rest } = scene("rgb");
    const rgba = await looked({ ...rest, bands: [...bands, alpha], descriptions: [] });
    expect(rgba.map(({ color_interpretation }) => color_interpretation)).toEqual(["red", "green", "blue", "alpha"]);
  });

  test("gives nodata to a source without, and another to one with", async () => {
    const engine = await engineOf(name);
    const reader = await engineOf("wasm");
    const bands = [Float32Array.from({ length: 150 * 110 }, (_, at) => (at % 7 === 0 ? -1 : at % 100))];
    const raster = { ...scene("dem"), data_type: "float32", bands, nodata: undefined, descriptions: [] } as NewGeoTiff;
    const target = await newPath("cog.tif");
    await engine.cog(
      await written(writeGeoTiff(raster)),
      target,
      { ...plain, source_nodata: -1, nodata: "nan" },
      signal,
    );
    expect((await engine.info(target, signal)).bands[0]!.nodata).toBe("nan");
    const { values, valid } = await reader.readPixels(target, { bands: [1], size: 200 }, signal);
    expect([values[0]![0], valid[0]![0], values[0]![1], valid[0]![1]]).toEqual([Number.NaN, 0, 1, 1]);
  });

  test("stacks bands of several files into one COG", async () => {
    const engine = await engineOf(name);
    const reader = await engineOf("wasm");
    const rasters = [1, 2, 3].map((seed) => scene("flood_depth", { seed, nodata_wedge: 0.2 }));
    const vrt = await newPath("stack.vrt");
    const sources = [];
    for (const [at, raster] of rasters.entries()) {
      const file = `${dirname(vrt)}/${at}.tif`;
      await writeFile(file, writeGeoTiff(raster));
      sources.push({ file, band: 1, name: `return period ${at}` });
    }
    await engine.stack(sources, vrt, signal);
    const target = await newPath("cog.tif");
    await engine.cog(vrt, target, { ...plain, block_size: 512 }, signal);
    const info = await engine.info(target, signal);
    expect(info.bands.map(({ description }) => description)).toEqual(sources.map((source) => source.name));
    expect(info).toMatchObject({ crs: { code: "EPSG:32636" }, transform: rasters[0]!.transform });
    const { values } = await reader.readPixels(target, { bands: [1, 2, 3], size: 200 }, signal);
    for (const [at, band] of values.entries()) expect(sameNumbers(band, stored(rasters[at]!))).toBe(true);
  });

  test("refuses to stack what does not lie on top of each other", async () => {
    const engine = await engineOf(name);
    const vrt = await newPath("stack.vrt");
    const one = `${dirname(vrt)}/one.tif`;
    const other = `${dirname(vrt)}/other.tif`;
    await writeFile(one, writeGeoTiff(scene("dem")));
    const moved = { transform: [500_010, 10, 0, 4_500_000, 0, -10] as NewGeoTiff["transform"] };
    await writeFile(other, writeGeoTiff({ ...scene("dem", { width: 140 }), ...moved }));
    const sources = [
      { file: one, band: 1, name: "a" },
      { file: other, band: 2, name: "b" },
      { file: other, band: 1, name: "c" },
    ];
    await expect(engine.stack(sources, vrt, signal)).rejects.toMatchObject({
      code: "stack_mismatch",
      message: expect.stringMatching(/b: there is no band 2.*c: the size differs from a's.*c: the place differs/),
    });
  });

  test("paints a quicklook with nothing where there is no data", async () => {
    const engine = await engineOf(name);
    const target = await newPath("quicklook.png");
    const file = await writtenScene("rgb", { nodata_wedge: 0.5 });
    const options = { size: 64, bands: [1, 2, 3] as [number, number, number] };
    await engine.quicklook(file, target, { ...options, minimum: [0, 0, 0], maximum: [255, 255, 255] }, signal);
    const png = await readFile(target);
    expect(png.subarray(1, 4).toString()).toBe("PNG");
    expect([png.readUInt32BE(16), png.readUInt32BE(20), png[24], png[25]]).toEqual([64, 47, 8, 6]);
    const { width, height, data } = await engine.validMask(file, { size: 50 }, signal);
    expect([width, height, data[0], data.at(-1)]).toEqual([50, 37, 1, 0]);
  });

  test("what cannot be asked for is refused in one sentence, before any work", async () => {
    const engine = await engineOf(name);
    const file = await writtenScene("multispectral");
    const wrong = {
      ...plain,
      bands: [9],
      nodata: -1,
      resolution: [0, 1],
      bounds: [5, 5, 1, 1],
      band_names: ["a", "b"],
    };
    await expect(engine.cog(file, await newPath("cog.tif"), wrong as CogOptions, signal)).rejects.toMatchObject({
      code: "bad_cog_options",
      message: expect.stringMatching(/no band 9.*bounds must.*resolution must/),
    });
    const bad_crs = [
      "http://example.com/x",
      "/etc/passwd",
      "+proj=utm +nadgrids=/etc/passwd",
      "-overwrite",
      "EPSG:4326 ",
    ];
    for (const target_crs of bad_crs) {
      const asked = engine.cog(file, await newPath("cog.tif"), { ...plain, target_crs }, signal);
      await expect(asked).rejects.toMatchObject({ code: "bad_crs" });
    }
    const unknown = engine.cog(file, await newPath("cog.tif"), { ...plain, target_crs: "EPSG:1" }, signal);
    await expect(unknown).rejects.toMatchObject({ code: "gdal_failed" });
  });

  test("a task that was given up starts nothing", async () => {
    const engine = await engineOf(name);
    const gone = AbortSignal.abort(new Error("given up"));
    await expect(engine.info(await writtenScene("dem"), gone)).rejects.toThrow("given up");
  });
});

function withMetadata(xml: string): Uint8Array {
  return claim({ 42112: { tag: 42112, type: "ascii", values: xml } });
}

const title = gdal.available ? "" : ` (skipped: ${gdal.why_not})`;
test.skipIf(!gdal.available)(`what a mask hides is transparent in what both engines make${title}`, async () => {
  const { bands, ...rest } = scene("rgb");
  const hidden = new Uint8Array(150 * 110).map((_, at) => (at % 150 < 40 ? 0 : 255));
  const four = await written(
    writeGeoTiff({ ...rest, colors: "gray", bands: [...bands, hidden], descriptions: [], nodata: undefined }),
  );
  const masked = await newPath("masked.tif");
  const mask = ["-b", "1", "-b", "2", "-b", "3", "-mask", "4", "--config", "GDAL_TIFF_INTERNAL_MASK", "YES"];
  await promisify(execFile)("gdal_translate", ["-q", ...mask, four, masked]);
  for (const name of ["wasm", "gdal"] as const) {
    const engine = await engineOf(name);
    const target = await newPath("cog.tif");
    await engine.cog(masked, target, plain, signal);
    const info = await engine.info(target, signal);
    expect(info.bands.at(-1)!.color_interpretation).toBe("alpha");
    const { width, data } = await engine.validMask(target, { size: 150 }, signal);
    expect([width, data[39], data[40]]).toEqual([150, 0, 1]);
  }
});
