import { deflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { type NewGeoTiff, writeGeoTiff } from "../../src/cli/demo/geotiff_writer.js";
import { syntheticScene } from "../../src/cli/demo/terrain.js";
import { type PreflightOptions, preflight } from "../../src/geo/preflight.js";
import { data_types, type Finding } from "../../src/geo/raster.js";
import { HeaderError, readTiffHeader } from "../../src/geo/tiff/tiff_header.js";
import { broken, claim, good } from "./broken.js";
import { readerOf } from "./open.js";

const wasm: PreflightOptions = { codecs: new Set(["deflate", "lzw"]) };

async function look(bytes: Uint8Array, options: Partial<PreflightOptions> = {}) {
  return preflight(readerOf(bytes), bytes.length, { ...wasm, ...options });
}

function codes(findings: Finding[]): string[] {
  return findings.map(({ code }) => code);
}

describe("a good raster", () => {
  const kinds: [string, Partial<NewGeoTiff>][] = [
    ["in tiles", {}],
    ["in strips", { tile: undefined }],
    ["not compressed", { deflate: undefined }],
    ["as BigTIFF", { big_tiff: true }],
    ["in the other byte order", { big_endian: true }],
    ["as BigTIFF in the other byte order", { big_tiff: true, big_endian: true }],
    ["with overviews", { overviews: 2 }],
    ["as COG", { overviews: 2, cog: true }],
    ["with bands apart", { interleave: "band" }],
  ];
  test.each(kinds)("has no finding %s", async (_, change) => {
    const result = await look(writeGeoTiff({ ...good, ...change }));
    expect(result.findings).toEqual([]);
    expect(result.ok).toBe(true);
  });

  test.each(data_types.filter((type) => type !== "complex"))("of %s is known as that", async (data_type) => {
    const nodata = data_type.startsWith("u") ? 0 : -1;
    const { header, ok } = await look(writeGeoTiff({ ...good, data_type, nodata }));
    expect(header?.images[0].data_type).toBe(data_type);
    expect(ok).toBe(true);
  });

  test("tells all that its header says", async () => {
    const scene = syntheticScene({ look: "multispectral", seed: 4, width: 200, height: 150 });
    const bytes = writeGeoTiff({
      ...scene,
      tile: 64,
      deflate: deflateSync,
      overviews: 1,
      cog: true,
      transform: [10, 0.5, 0, 60, 0, -0.5],
      crs: { epsg: 4326, kind: "geographic" },
      units: ["W/m² & more", null, null, null],
    });
    const { header } = await look(bytes);
    expect(header).toMatchObject({
      byte_order: "little",
      big_tiff: false,
      nodata: 0,
      georeference: { transform: [10, 0.5, 0, 60, 0, -0.5], crs: { code: "EPSG:4326", kind: "geographic" } },
      ghost: { options: { LAYOUT: "IFDS_BEFORE_DATA", KNOWN_INCOMPATIBLE_EDITION: "NO" } },
      images: [
        { width: 200, height: 150, band_count: 4, compression: "deflate", tiled: true, block_width: 64, role: "image" },
        { width: 100, height: 75, role: "overview" },
      ],
    });
    expect(header?.bands[0]).toEqual({
      description: "blue",
      unit: "W/m² & more",
      scale: 0.0001,
      offset: null,
      color_interpretation: null,
    });
    expect(header?.images[0].offsets?.values).toHaveLength(4 * 3);
  });

  test("with the place of pixel centres is moved by half a pixel", async () => {
    const bytes = claim({
      34735: { tag: 34735, type: "short", values: [1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 2, 3072, 0, 1, 32636] },
    });
    const { header } = await look(bytes);
    expect(header?.georeference.transform).toEqual([499995, 10, 0, 4000005, 0, -10]);
  });

  test("with its own CRS is let through with a remark, and a given CRS takes its place", async () => {
    const bytes = claim({
      34735: { tag: 34735, type: "short", values: [1, 1, 0, 3, 1024, 0, 1, 1, 1026, 34737, 6, 0, 3072, 0, 1, 32767] },
      34737: { tag: 34737, type: "ascii", values: "Local|" },
    });
    const own = await look(bytes);
    expect(own).toMatchObject({
      ok: true,
      findings: [{ code: "crs_without_code", message: "The CRS (Local) has no EPSG code." }],
    });
    expect((await look(bytes, { source_crs: "EPSG:3857" })).findings).toEqual([]);
  });

  test("without a CRS is good when one is given, and a contradiction is told", async () => {
    const without = writeGeoTiff({ ...good, crs: undefined });
    expect((await look(without, { source_crs: "EPSG:32636" })).findings).toEqual([]);
    const { ok, findings } = await look(writeGeoTiff(good), { source_crs: "EPSG:32637" });
    expect([ok, codes(findings)]).toEqual([true, ["crs_overridden"]]);
  });

  test("whose codec the engine has is let through", async () => {
    const zstd = claim({ 259: { tag: 259, type: "short", values: [50000] } });
    expect((await look(zstd, { codecs: new Set(["zstd"]) })).findings).toEqual([]);
  });

  test("that is sparse is told about, and still good", async () => {
    const { findings, ok } = await look(
      claim({ 324: { tag: 324, type: "long", values: [0] }, 325: { tag: 325, type: "long", values: [0] } }),
    );
    expect([ok, codes(findings)]).toEqual([true, ["sparse"]]);
  });
});

describe("a bad file", () => {
  test.each(broken.map((file) => [file.name, file] as const))("that is %s ends in its finding", async (_, file) => {
    const read = readerOf(file.bytes);
    const { findings, ok } = await preflight(read, file.bytes.length, wasm);
    expect(codes(findings)).toContain(file.code);
    const found = findings.find(({ code }) => code === file.code)!;
    expect(ok).toBe(found.severity !== "error");
    expect(found.message.length).toBeGreaterThan(10);
    expect(found.hint.length).toBeGreaterThan(3);
    expect(read.bytes).toBeLessThan(4 * 1024 * 1024);
    expect(read.reads).toBeLessThan(300);
    expect(read.furthest).toBeLessThanOrEqual(file.bytes.length);
  });

  test("that is projected in a way of the writer's own (geostationary, Esri) is not taken for one in degrees", async () => {
    const place = { transform: [-5_434_895.1, 3000, 0, 5_434_895.1, 0, -3000] as const };
    const model = (value: number) => ({
      34735: { tag: 34735, type: "short" as const, values: [1, 1, 0, 2, 1024, 0, 1, value, 2048, 0, 1, 4326] },
    });
    const scales = {
      33550: { tag: 33550, type: "double" as const, values: [3000, 3000, 0] },
      33922: { tag: 33922, type: "double" as const, values: [0, 0, 0, place.transform[0], place.transform[3], 0] },
    };
    const own = await look(claim({ ...scales, ...model(32_767) }));
    expect([own.ok, codes(own.findings)]).toEqual([true, ["crs_without_code"]]);
    expect(own.header?.georeference.crs).toMatchObject({ code: null, kind: "unknown" });
    const degrees = await look(claim({ ...scales, ...model(2) }));
    expect([degrees.ok, codes(degrees.findings)]).toEqual([false, ["bounds_out_of_range"]]);
  });

  test("has all its problems told at once", async () => {
    const bytes = claim({
      256: { tag: 256, type: "long", values: [1_000_000] },
      257: { tag: 257, type: "long", values: [1_000_000] },
      258: { tag: 258, type: "short", values: [48] },
      259: { tag: 259, type: "short", values: [50000] },
      33550: null,
      34735: null,
      42113: { tag: 42113, type: "ascii", values: "x" },
    });
    expect(codes((await look(bytes)).findings).sort()).toEqual(
      [
        "blocks_missing",
        "codec_missing",
        "data_type_unsupported",
        "no_crs",
        "no_georeference",
        "nodata_unreadable",
        "pixel_limit",
        "raster_bomb",
      ].sort(),
    );
  });

  test("cut at any byte ends in a finding or in a header, never in another error", async () => {
    const whole = writeGeoTiff({ ...good, overviews: 1 });
    for (let length = 0; length < whole.length; length += length < 1200 ? 7 : 997) {
      const { ok, findings } = await look(whole.slice(0, length));
      expect({ length, ok, told: findings.length > 0 }).toEqual({ length, ok: false, told: true });
    }
  });

  test("with any bytes changed ends in findings or a header, within the bounds of reading", async () => {
    const originals = [
      writeGeoTiff({ ...good, overviews: 1, cog: true, descriptions: ["x"] }),
      writeGeoTiff({ ...good, big_tiff: true, big_endian: true }),
    ];
    let state = 42;
    const next = (below: number) => {
      state = (Math.imul(state, 1103515245) + 12345) >>> 0;
      return (state >>> 8) % below;
    };
    for (let round = 0; round < 600; round++) {
      const bytes = originals[round % 2]!.slice();
      for (let change = next(6); change >= 0; change--) {
        bytes[next(round % 3 === 0 ? bytes.length : 700)] = [0, 1, 255, 127, 128, next(256)][next(6)]!;
      }
      const read = readerOf(bytes);
      const result = await preflight(read, bytes.length, wasm);
      expect(result.header !== null || result.findings.length > 0).toBe(true);
      expect(read.bytes).toBeLessThan(4.1 * 1024 * 1024);
    }
  });
});

describe("reading a header", () => {
  test("reads a few kilobytes of a large file", async () => {
    const bytes = writeGeoTiff({
      ...syntheticScene({ look: "dem", seed: 1, width: 512, height: 512 }),
      tile: 64,
      cog: true,
      overviews: 2,
    });
    const read = readerOf(bytes);
    const header = await readTiffHeader(read, bytes.length);
    expect(header.images).toHaveLength(3);
    expect(read.reads).toBe(1);
    expect(read.bytes).toBeLessThan(20_000);
    expect([header.reads, header.bytes_read]).toEqual([read.reads, read.bytes]);
  });

  test("reads only the ends of a long list of blocks", async () => {
    const offsets = Array.from({ length: 40_000 }, (_, i) => i + 8);
    const bytes = claim({
      256: { tag: 256, type: "long", values: [200 * 64] },
      257: { tag: 257, type: "long", values: [200 * 64] },
      324: { tag: 324, type: "long", values: offsets },
      325: { tag: 325, type: "long", values: offsets.map(() => 1) },
    });
    const header = await readTiffHeader(readerOf(bytes), bytes.length, { list_bytes: 100_000 });
    const list = header.images[0].offsets!;
    expect([list.count, list.values[0], list.last_values?.at(-1)]).toEqual([40_000, 8, 40_007]);
    expect(list.values.length + list.last_values!.length).toBeLessThan(10_000);
  });

  test("stops at the most bytes it may read", async () => {
    const bytes = claim({ 324: { tag: 324, type: "long", values: new Array(40_000).fill(8) } });
    const reading = readTiffHeader(readerOf(bytes), bytes.length, { bytes: 50_000 });
    await expect(reading).rejects.toThrow(HeaderError);
    await expect(reading).rejects.toMatchObject({ finding: { code: "header_too_large" } });
  });

  test("lets an error of the reader through as it is", async () => {
    const failing = async () => {
      throw new Error("the network is down");
    };
    await expect(preflight(failing, 1000, wasm)).rejects.toThrow("the network is down");
  });

  test("is not misled by a file that is shorter than was said", async () => {
    const bytes = writeGeoTiff(good);
    const result = await preflight(readerOf(bytes.slice(0, 100)), bytes.length, wasm);
    expect(codes(result.findings)).toEqual(["header_truncated"]);
  });
});
