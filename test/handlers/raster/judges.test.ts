// Others judge the COGs we write: rio-cogeo in strict mode and GDAL's own validate_cloud_optimized_geotiff, beside our own check. All
// three have to agree, on what both engines make of rasters of every shape and kind, and on files that are no COGs. Judges that cannot
// be had (see python_tools.ts, gdal_bin.ts) are skipped with the reason.
import { copyFile } from "node:fs/promises";
import { dirname } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { type NewGeoTiff, writeGeoTiff } from "../../../src/cli/demo/geotiff_writer.js";
import type { TaskContext } from "../../../src/core/task/context.js";
import { type BlockSize, type CogOptions, type Compression, compressions } from "../../../src/geo/raster.js";
import { safeBlockSize } from "../../../src/geo/tile_plan.js";
import { makeCog } from "../../../src/handlers/raster/handlers/make_cog.js";
import { fakeContext } from "../../jobs/fake_context.js";
import {
  type EngineName,
  engineOf,
  engines,
  gdal,
  newPath,
  signal,
  utm,
  withBothEngines,
  written,
} from "./both_engines.js";
import { isClean, type Judge, judges, type Verdict } from "./cog_judges.js";
import { type Kind, kinds, rasterOf, sourceOf } from "./judged_rasters.js";

/** Files by what they are: `files.get("made by wasm")`. */
const files = new Map<string, Map<string, string>>();
const called = new Map<Judge, Promise<Map<string, Verdict>>>();

/** All files at once: Python takes longer to start than to judge. */
function verdictsOf(judge: Judge): Promise<Map<string, Verdict>> {
  const all = [...files.values()].flatMap((group) => [...group.values()]);
  const verdicts = called.get(judge) ?? judge(all).then((given) => new Map(all.map((file, at) => [file, given[at]!])));
  called.set(judge, verdicts);
  return verdicts;
}

function eachJudge(title: string, work: (verdicts: Map<string, Verdict>) => void): void {
  for (const [name, judge, why_not] of judges) {
    const reason = why_not === null ? "" : ` (skipped: ${why_not})`;
    test.skipIf(why_not !== null)(`${name} ${title}${reason}`, async () => work(await verdictsOf(judge)));
  }
}

interface Row {
  kind: Kind;
  size: [number, number];
  block_size: BlockSize;
  compression: Compression;
  target_crs?: string;
}

const usual: Row = { kind: "int16", size: [700, 300], block_size: 256, compression: "deflate" };
/** Around the sizes where tiles and overviews begin; and those that are, or come to be, exactly as wide as a block. */
const sizes: [number, number][] = [
  [64, 64],
  [511, 511],
  [512, 512],
  [513, 513],
  [700, 300],
  [300, 700],
  [1025, 200],
  [1024, 1024],
  [1024, 1100],
  [256, 600],
  [512, 600],
  [512, 1200],
];

/** Each kind as usual, and some packed in every way; each size in every block size that is taken for it. */
function rowsFor(name: EngineName, codecs: ReadonlySet<string>): Row[] {
  const had = compressions.filter((compression) => codecs.has(compression) && compression !== usual.compression);
  const packed = had.flatMap((compression) => {
    const chosen: Kind[] = compression === "jpeg" || compression === "webp" ? ["rgb", "rgba"] : ["uint16", "float"];
    return chosen.map((kind): Row => ({ ...usual, kind, compression }));
  });
  const shaped = sizes.flatMap((size) => {
    // The system's programs are slow to start, and have blocks of 256 above.
    const wanted: BlockSize[] = name === "wasm" ? [256, 512, 1024] : [512, 1024];
    const blocks = new Set(wanted.map((block_size) => safeBlockSize(...size, block_size)));
    return [...blocks].map((block_size): Row => ({ ...usual, size, block_size }));
  });
  const moved: Row = { ...usual, kind: "rgb", size: [513, 513], target_crs: "EPSG:4326", block_size: 512 };
  // Without GDAL's programs there is nobody to write a mask.
  const here = kinds.filter((kind) => kind !== "masked" || gdal.available);
  return [...here.map((kind): Row => ({ ...usual, kind })), ...packed, ...shaped, moved];
}

function nameOf({ kind, size, block_size, compression, target_crs }: Row): string {
  return [kind, size.join("×"), compression, block_size, target_crs].filter(Boolean).join(" ");
}

/** As a task is told: where it is to lie, pixel by pixel. */
async function placedOptions(row: Row, name: EngineName, source: string) {
  const target_crs = row.target_crs ?? "EPSG:32636";
  const engine = await engineOf(name);
  const [width, height] = row.size;
  const [x, dx, , y, , dy] = utm.transform;
  const place = row.target_crs
    ? await engine.suggestWarp(source, { target_crs }, signal)
    : { width, height, transform: utm.transform, bounds: [x, y + dy * height, x + dx * width, y] };
  return {
    width: place.width,
    height: place.height,
    options: {
      target_crs,
      resampling: "nearest",
      overview_resampling: "nearest",
      compression: row.compression,
      block_size: row.block_size,
      bounds: place.bounds as [number, number, number, number],
      resolution: [place.transform[1]!, -place.transform[5]!],
    } satisfies CogOptions as CogOptions & Required<Pick<CogOptions, "bounds" | "resolution">>,
  };
}

async function writeCogs(name: EngineName): Promise<Map<string, string>> {
  const engine = await engineOf(name);
  const made = new Map<string, string>();
  for (const row of rowsFor(name, engine.codecs)) {
    const source = await sourceOf(row.kind, ...row.size);
    const { width, height, options } = await placedOptions(row, name, source);
    const target = await newPath("cog.tif");
    const block_size = safeBlockSize(width, height, options.block_size);
    await engine.cog(source, target, { ...options, block_size }, signal);
    made.set(nameOf(row), target);
  }
  return made;
}

/** None of these can be as it is asked for. */
const awkward: Row[] = [
  { ...usual, block_size: 1024 },
  { ...usual, size: [512, 1200], block_size: 512 },
];

async function publishCogs(name: EngineName): Promise<Map<string, string>> {
  const engine = await engineOf(name);
  const made = new Map<string, string>();
  for (const row of awkward) {
    const source = await sourceOf(row.kind, ...row.size);
    const { options } = await placedOptions(row, name, source);
    const published = await newPath("published.tif");
    const result = await makeCog(await taskContext(published), engine, source, {
      collection: "c",
      item_id: "i",
      raster_type: "continuous",
      tile: null,
      sources: [],
      options,
      dates: { datetime: "2024-01-01T00:00:00Z", source: "parameter" },
    });
    // Its item tells the blocks that were taken.
    const block_size = safeBlockSize(...row.size, row.block_size);
    expect(block_size).not.toBe(row.block_size);
    expect(result).toMatchObject({ empty: false, options: { block_size } });
    made.set(nameOf(row), published);
  }
  return made;
}

/** A task's, that keeps the COG it publishes. */
async function taskContext(published: string): Promise<TaskContext> {
  const scratch = dirname(await newPath("scratch"));
  const publish = async (file: string, { name }: { name: string }) => {
    if (name === "cog.tif") await copyFile(file, published);
    return {};
  };
  return fakeContext({}, {
    scratch: async () => scratch,
    deliver: () => {},
    signal,
    zones: { publish },
  } as unknown as Partial<TaskContext>);
}

const large: NewGeoTiff = { ...rasterOf("palette", 1040, 600), tile: 256, overviews: 2, cog: true };
const broken: Record<string, () => Uint8Array> = {
  "overviews behind the image": () => writeGeoTiff({ ...large, cog: false }),
  "strips instead of tiles": () => writeGeoTiff({ ...large, tile: undefined }),
  "no overviews": () => writeGeoTiff({ ...large, overviews: 0 }),
  "changed after it was written": () => {
    const bytes = Buffer.from(writeGeoTiff(large));
    const claim = "KNOWN_INCOMPATIBLE_EDITION=";
    bytes.write("YES\n", bytes.indexOf(claim) + claim.length, "latin1");
    return bytes;
  },
  "its first bytes only": () => writeGeoTiff(large).subarray(0, 700),
  "not a TIFF": () => Buffer.from("a picture, honestly".repeat(100)),
};

beforeAll(async () => {
  for (const name of engines) {
    files.set(`written by ${name}`, await writeCogs(name));
    files.set(`published by ${name}`, await publishCogs(name));
  }
  files.set("sound", new Map([["as our own writer makes it", await written(writeGeoTiff(large))]]));
  const none = new Map<string, string>();
  for (const [what, bytes] of Object.entries(broken)) none.set(what, await written(bytes()));
  files.set("no COG", none);
}, 240_000);

withBothEngines("every COG that is written", (name) => {
  eachJudge("finds nothing wrong with it", (verdicts) => expectValid(`written by ${name}`, verdicts));
});

withBothEngines("every COG that a task publishes", (name) => {
  eachJudge("finds nothing wrong with it", (verdicts) => expectValid(`published by ${name}`, verdicts));
});

describe("what is no COG", () => {
  eachJudge("refuses it, and takes the same raster when it is one", (verdicts) => {
    expectValid("sound", verdicts);
    const taken = [...files.get("no COG")!].filter(([, file]) => verdicts.get(file)!.valid).map(([what]) => what);
    expect(taken).toEqual([]);
  });
});

function expectValid(group: string, verdicts: ReadonlyMap<string, Verdict>): void {
  const told = [...files.get(group)!].flatMap(([cog, file]) => {
    const verdict = verdicts.get(file)!;
    return isClean(verdict) ? [] : [{ cog, ...verdict }];
  });
  expect(told).toEqual([]);
}
