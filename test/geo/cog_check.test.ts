import { deflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { type NewGeoTiff, writeGeoTiff } from "../../src/cli/demo/geotiff_writer.js";
import { syntheticScene } from "../../src/cli/demo/terrain.js";
import { encodeTiff, type TiffDirectory, type TiffParts } from "../../src/cli/demo/tiff_file.js";
import { checkCog, checkCogFile } from "../../src/geo/cog_check.js";
import { readTiffHeader, type TiffHeader } from "../../src/geo/tiff/tiff_header.js";
import { ghostArea } from "../../src/geo/tiff/tiff_layout.js";
import { broken } from "./broken.js";
import { readerOf } from "./open.js";

const scene = syntheticScene({ look: "landcover", seed: 9, width: 640, height: 600 });
const cog: NewGeoTiff = {
  ...scene,
  tile: 256,
  overviews: 2,
  cog: true,
  deflate: deflateSync,
  transform: [0, 1, 0, 0, 0, -1],
  crs: { epsg: 3857, kind: "projected" },
};

async function check(bytes: Uint8Array, options = {}) {
  const { valid, errors, warnings } = await checkCogFile(readerOf(bytes), bytes.length, options);
  return { valid, codes: [...errors, ...warnings].map(({ code }) => code) };
}

/** Directories of tiles with nothing in them, in any order. */
function laidOut(parts: Partial<TiffParts>, sizes: { side: number; subfile?: number; tile?: number }[]): Uint8Array {
  const directories = sizes.map(({ side, subfile = 0, tile = 256 }): TiffDirectory => {
    const count = Math.ceil(side / tile) ** 2;
    return {
      tiled: true,
      blocks: Array.from({ length: count }, (_, i) => new Uint8Array(20 + (i % 5)).fill(i)),
      entries: [
        { tag: 254, type: "long", values: [subfile] },
        { tag: 256, type: "long", values: [side] },
        { tag: 257, type: "long", values: [side] },
        { tag: 258, type: "short", values: [8] },
        { tag: 259, type: "short", values: [8] },
        { tag: 277, type: "short", values: [1] },
        { tag: 322, type: "long", values: [tile] },
        { tag: 323, type: "long", values: [tile] },
      ],
    };
  });
  return encodeTiff({
    directories,
    leaders: true,
    ghost: ghostArea(),
    data_order: sizes.map((_, i) => sizes.length - 1 - i),
    ...parts,
  });
}

const levels = [{ side: 1000 }, { side: 500, subfile: 1 }, { side: 250, subfile: 1 }];

describe("a cloud-optimised GeoTIFF", () => {
  const kinds: [string, Partial<NewGeoTiff>][] = [
    ["as we write it", {}],
    ["as BigTIFF", { big_tiff: true }],
    ["in the other byte order", { big_endian: true }],
    ["not compressed", { deflate: undefined }],
    ["with bands apart", { bands: [scene.bands[0]!, scene.bands[0]!], interleave: "band" }],
  ];
  test.each(kinds)("is valid %s", async (_, change) => {
    expect(await check(writeGeoTiff({ ...cog, ...change }))).toEqual({ valid: true, codes: [] });
  });

  test("that is small needs neither tiles nor overviews", async () => {
    const small = syntheticScene({ look: "dem", seed: 1, width: 300, height: 512 });
    expect(await check(writeGeoTiff({ ...small }))).toEqual({ valid: true, codes: [] });
  });

  test("may be without GDAL's note", async () => {
    expect(await check(laidOut({ ghost: undefined, leaders: false }, levels))).toEqual({ valid: true, codes: [] });
  });

  test("may have masks for all its images, beside them", async () => {
    const with_masks = levels.flatMap(({ side, subfile = 0 }) => [
      { side, subfile },
      { side, subfile: subfile | 4 },
    ]);
    expect(await check(laidOut({}, with_masks))).toEqual({ valid: true, codes: [] });
  });
});

describe("a GeoTIFF that is not", () => {
  const cases: [string, Uint8Array, string][] = [
    ["in strips", writeGeoTiff({ ...cog, tile: undefined, cog: false, overviews: 1 }), "not_tiled"],
    ["without overviews", writeGeoTiff({ ...cog, overviews: 0 }), "no_overviews"],
    ["whose data begins with the image", laidOut({ data_order: [0, 1, 2] }, levels), "data_out_of_order"],
    ["whose overviews are stored the wrong way round", laidOut({ data_order: [1, 2, 0] }, levels), "data_out_of_order"],
    [
      "with its directories at the end",
      laidOut({ directories_at: "end", ghost: undefined }, levels),
      "data_before_directories",
    ],
    ["whose first directory comes late", laidOut({ ghost: "x".repeat(400) }, levels), "directory_not_first"],
    ["with tiles of 100 pixels", laidOut({}, [{ side: 400, tile: 100 }]), "block_size"],
    ["with overviews in the wrong order", laidOut({}, [levels[0]!, levels[2]!, levels[1]!]), "overview_larger"],
    ["with an overview of a third", laidOut({}, [levels[0]!, { side: 333, subfile: 1 }]), "overviews_not_halving"],
    [
      "whose smallest overview is large",
      laidOut({}, [{ side: 6000 }, { side: 3000, subfile: 1 }]),
      "overviews_too_few",
    ],
    ["with two full images", laidOut({}, [levels[0]!, levels[1]!, { side: 700 }]), "several_images"],
    [
      "that was changed later",
      laidOut({ ghost: ghostArea().replace("EDITION=NO\n ", "EDITION=YES\n") }, levels),
      "changed_after_writing",
    ],
    ["that claims sizes between blocks and has none", laidOut({ leaders: false }, levels), "block_leader"],
    [
      "that is as wide as one of its tiles",
      laidOut({}, [
        { side: 1024, tile: 1024 },
        { side: 512, subfile: 1 },
      ]),
      "one_tile_wide",
    ],
    ["with a mask of another size", laidOut({}, [...levels, { side: 123, subfile: 4 }]), "mask_size"],
    ["with a mask in other blocks", laidOut({}, [...levels, { side: 1000, subfile: 4, tile: 512 }]), "mask_block_size"],
    ["whose overviews lack the mask", laidOut({}, [...levels, { side: 1000, subfile: 4 }]), "mask_overviews_missing"],
  ];
  test.each(cases)("%s is told so", async (_, bytes, code) => {
    const result = await check(bytes);
    expect(result.valid).toBe(false);
    expect(result.codes).toContain(code);
  });

  test("has its warnings forgiven when it need not be strict, its errors never", async () => {
    expect((await check(writeGeoTiff({ ...cog, overviews: 0 }), { strict: false })).valid).toBe(true);
    expect((await check(laidOut({ data_order: [0, 1, 2] }, levels), { strict: false })).valid).toBe(false);
  });

  test("has a wrong size before a block, or other bytes behind it, found by reading them", async () => {
    const bytes = writeGeoTiff(cog);
    const header = await readTiffHeader(readerOf(bytes), bytes.length);
    const { offsets, byte_counts } = header.images[0];
    const leader = bytes.slice();
    leader[offsets!.values[3]! - 4]! ^= 1;
    expect((await check(leader)).codes).toEqual(["block_leader"]);
    const trailer = bytes.slice();
    trailer[offsets!.values[2]! + byte_counts!.values[2]! + 1]! ^= 1;
    expect((await check(trailer)).codes).toEqual(["block_trailer"]);
  });

  test("has overviews in a file beside it", async () => {
    expect(await check(writeGeoTiff(cog), { has_external_overviews: true })).toEqual({
      valid: false,
      codes: ["external_overviews"],
    });
  });

  test("has blocks out of the order it claims, or directories that run backwards", async () => {
    const bytes = writeGeoTiff(cog);
    const header = await readTiffHeader(readerOf(bytes), bytes.length);
    const changed = (change: (header: TiffHeader) => void) => {
      const copy = structuredClone(header);
      change(copy);
      return checkCog(copy).errors.map(({ code }) => code);
    };
    expect(changed(({ images: [main] }) => main.offsets!.values.reverse())).toContain("blocks_out_of_order");
    expect(changed(({ images }) => (images[2]!.directory_offset = images[1]!.directory_offset - 2))).toContain(
      "directories_out_of_order",
    );
    expect(changed(({ images: [main] }) => (main.offsets!.values[0] = 10))).toContain("data_before_directories");
    expect(changed((copy) => (copy.file_size = 5000))).toContain("data_beyond_end");
  });

  test.each(broken.map(({ name, bytes }) => [name, bytes] as const))(
    "but %s ends in a verdict, not in an error",
    async (_, bytes) => {
      const { valid, errors, warnings } = await checkCogFile(readerOf(bytes), bytes.length);
      expect(valid).toBe(errors.length + warnings.length === 0);
    },
  );
});
