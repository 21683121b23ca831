// Others judge the COGs we write: rio-cogeo in strict mode and GDAL's own validate_cloud_optimized_geotiff, beside our own check. All
// three have to agree, on what both engines make of rasters of every shape and kind, and on files that are no COGs. Judges that cannot
// be had (see python_tools.ts, gdal_bin.ts) are skipped with the reason.
import { execFile } from "node:child_process";
import { copyFile, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { deflateSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import type { TaskContext } from "../../../src/core/context.js";
import { checkCogFile } from "../../../src/geo/cog_check.js";
import { type NewGeoTiff, writeGeoTiff } from "../../../src/geo/geotiff_writer.js";
import { type BlockSize, type CogOptions, type Compression, compressions } from "../../../src/geo/raster.js";
import { safeBlockSize } from "../../../src/geo/tile_plan.js";
import { makeCog } from "../../../src/handlers/raster/make_cog.js";
import { gdalPython } from "../../gdal_bin.js";
import { readerOf } from "../../geo/open.js";
import { fakeContext } from "../../jobs/fake_context.js";
import { rioCogeo, runScript } from "../../python_tools.js";
import { engineOf, gdal, newPath, signal, utm, withBothEngines, written } from "./both_engines.js";

interface Verdict {
  valid: boolean;
  errors: unknown[];
  warnings: unknown[];
}
type Judge = (files: string[]) => Promise<Verdict[]>;

const rio_cogeo = await rioCogeo();
const gdal_python = await gdalPython();
const gdal_script = fileURLToPath(new URL("./python/gdal_verdicts.py", import.meta.url));

const judges: [name: string, judge: Judge, why_not: string | null][] = [
  ["our own check", (files) => Promise.all(files.map(ownVerdict)), null],
  [
    "rio-cogeo in strict mode",
    async (files) => {
      if (typeof rio_cogeo === "string") throw new Error(rio_cogeo);
      return (await rio_cogeo.run<{ verdicts: Verdict[] }>("rio_cogeo_verdicts.py", files)).verdicts;
    },
    typeof rio_cogeo === "string" ? rio_cogeo : null,
  ],
  [
    "GDAL's validate_cloud_optimized_geotiff",
    async (files) => {
      if (typeof gdal_python === "string") throw new Error(gdal_python);
      return (await runScript<{ verdicts: Verdict[] }>(gdal_python.python, [gdal_script], files)).verdicts;
    },
    typeof gdal_python === "string" ? gdal_python : null,
  ],
];
for (const [name, , why_not] of judges) {
  if (why_not !== null) process.stderr.write(`${name}: skipped, because ${why_not}\n`);
}

async function ownVerdict(file: string): Promise<Verdict> {
  const bytes = await readFile(file);
  return checkCogFile(readerOf(bytes), bytes.length, { strict: true });
}

function eachJudge(title: string, work: (judge: Judge) => Promise<void>): void {
  for (const [name, judge, why_not] of judges) {
    test.skipIf(why_not !== null)(`${name} ${title}${why_not === null ? "" : ` (skipped: ${why_not})`}`, () =>
      work(judge),
    );
  }
}

const kinds = ["rgb", "uint16", "float", "int16", "palette", "rgba", "masked", "corner"] as const;
type Kind = (typeof kinds)[number];

/** The upper left quarter of those that have nodata has none; the others are full. */
function rasterOf(kind: Kind, width: number, height: number): NewGeoTiff {
  const band = (value: (x: number, y: number) => number) =>
    Float64Array.from({ length: width * height }, (_, at) => value(at % width, Math.floor(at / width)));
  const bands = (count: number) =>
    Array.from({ length: count }, (_, at) => band((x, y) => (x + 3 * y + at * 40) % 251));
  const inCorner = (x: number, y: number) => x < width / 2 && y < height / 2;
  const holed = (nodata: number) => [band((x, y) => (inCorner(x, y) ? nodata : x - y))];
  const base = { ...utm, width, height, tile: 256 };
  switch (kind) {
    case "rgb":
      return { ...base, data_type: "uint8", bands: bands(3), colors: "rgb" };
    case "rgba":
    case "masked": {
      const alpha = band((x, y) => (inCorner(x, y) ? 0 : 255));
      return { ...base, data_type: "uint8", bands: [...bands(3), alpha], colors: "rgb" };
    }
    case "uint16":
      return { ...base, data_type: "uint16", bands: bands(4) };
    case "float":
      return { ...base, data_type: "float32", bands: holed(Number.NaN), nodata: "nan" };
    case "int16":
      return { ...base, data_type: "int16", bands: holed(-32_768), nodata: -32_768 };
    case "corner": {
      // One pixel at the end: most blocks are not in the file at all.
      const last = band((x, y) => (x === width - 1 && y === height - 1 ? 7 : -1));
      return { ...base, data_type: "int16", bands: [last], nodata: -1 };
    }
    case "palette": {
      const color_table = Array.from({ length: 256 }, (_, at) => [at, 255 - at, 90] as [number, number, number]);
      return { ...base, data_type: "uint8", bands: bands(1), colors: "palette", color_table };
    }
  }
}

const sources = new Map<string, Promise<string>>();

/** The same file for both engines. */
function sourceOf(kind: Kind, width: number, height: number): Promise<string> {
  const key = `${kind} ${width} ${height}`;
  const known = sources.get(key) ?? writeSource(kind, width, height);
  sources.set(key, known);
  return known;
}

async function writeSource(kind: Kind, width: number, height: number): Promise<string> {
  const raster = { ...rasterOf(kind, width, height), deflate: (bytes: Uint8Array) => deflateSync(bytes, { level: 1 }) };
  const file = await written(writeGeoTiff(raster));
  if (kind !== "masked") return file;
  const masked = await newPath("masked.tif");
  const mask = ["-b", "1", "-b", "2", "-b", "3", "-mask", "4", "--config", "GDAL_TIFF_INTERNAL_MASK", "YES"];
  await promisify(execFile)("gdal_translate", ["-q", ...mask, file, masked]);
  return masked;
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
  ...([64, 511, 512, 513].map((side) => [side, side]) as [number, number][]),
  ...([
    [700, 300],
    [300, 700],
    [1025, 200],
    [1024, 1024],
    [1024, 1100],
  ] as [number, number][]),
  ...([
    [256, 600],
    [512, 600],
    [512, 1200],
    [1024, 2300],
    [768, 900],
    [385, 1600],
  ] as [number, number][]),
];

/** Each kind as usual, and some packed in every way; each size in every block size that is taken for it. */
function rowsFor(codecs: ReadonlySet<string>): Row[] {
  const had = compressions.filter((compression) => codecs.has(compression) && compression !== usual.compression);
  const packed = had.flatMap((compression) => {
    const chosen: Kind[] = compression === "jpeg" || compression === "webp" ? ["rgb", "rgba"] : ["uint16", "float"];
    return chosen.map((kind): Row => ({ ...usual, kind, compression }));
  });
  const shaped = sizes.flatMap((size) => {
    const blocks = new Set(([256, 512, 1024] as const).map((wanted) => safeBlockSize(...size, wanted)));
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
async function placedOptions(row: Row, name: "wasm" | "gdal", source: string) {
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
      ...{ target_crs, resampling: "nearest", overview_resampling: "nearest", compression: row.compression },
      block_size: row.block_size,
      bounds: place.bounds as [number, number, number, number],
      resolution: [place.transform[1]!, -place.transform[5]!],
    } satisfies CogOptions as CogOptions & Required<Pick<CogOptions, "bounds" | "resolution">>,
  };
}

withBothEngines("every COG that is written", (name) => {
  const files = new Map<string, string>();
  beforeAll(async () => {
    const engine = await engineOf(name);
    for (const row of rowsFor(engine.codecs)) {
      const source = await sourceOf(row.kind, ...row.size);
      const { width, height, options } = await placedOptions(row, name, source);
      const target = await newPath("cog.tif");
      const block_size = safeBlockSize(width, height, options.block_size);
      await engine.cog(source, target, { ...options, block_size }, signal);
      files.set(nameOf(row), target);
    }
  });

  eachJudge("finds nothing wrong with it", (judge) => expectValid(judge, files));
});

withBothEngines("every COG that a task publishes", (name) => {
  const files = new Map<string, string>();
  beforeAll(async () => {
    const engine = await engineOf(name);
    const rows = (
      [
        [700, 300],
        [512, 1200],
        [1024, 2300],
      ] as [number, number][]
    ).flatMap((size) => ([512, 1024] as const).map((block_size): Row => ({ ...usual, size, block_size })));
    for (const row of rows) {
      const source = await sourceOf(row.kind, ...row.size);
      const { options } = await placedOptions(row, name, source);
      const published = await newPath("published.tif");
      const made = await makeCog(await taskContext(published), engine, source, {
        ...{ collection: "c", item_id: "i", raster_type: "continuous", tile: null, sources: [], options },
        dates: { datetime: "2024-01-01T00:00:00Z", source: "parameter" },
      });
      expect(made.empty).toBe(false);
      files.set(nameOf(row), published);
    }
  });

  eachJudge("finds nothing wrong with it", (judge) => expectValid(judge, files));
});

/** A task's, that keeps the COG it publishes. */
async function taskContext(published: string): Promise<TaskContext> {
  const scratch = dirname(await newPath("scratch"));
  const publish = async (file: string, { name }: { name: string }) => {
    if (name === "cog.tif") await copyFile(file, published);
    return {};
  };
  return fakeContext({}, {
    ...{ scratch: async () => scratch, deliver: () => {}, signal, zones: { publish } },
  } as unknown as Partial<TaskContext>);
}

describe("what is no COG", () => {
  const large = { ...rasterOf("palette", 1040, 600), tile: 256, overviews: 2, cog: true };
  const edited = () => {
    const bytes = Buffer.from(writeGeoTiff(large));
    const claim = "KNOWN_INCOMPATIBLE_EDITION=";
    bytes.write("YES\n", bytes.indexOf(claim) + claim.length, "latin1");
    return bytes;
  };
  const broken: Record<string, () => Uint8Array> = {
    "overviews behind the image": () => writeGeoTiff({ ...large, cog: false }),
    "strips instead of tiles": () => writeGeoTiff({ ...large, tile: undefined }),
    "no overviews": () => writeGeoTiff({ ...large, overviews: 0 }),
    "changed after it was written": edited,
    "half of the file": () => writeGeoTiff(large).subarray(0, 700),
    "not a TIFF": () => Buffer.from("a picture, honestly".repeat(100)),
  };
  const files = new Map<string, string>();
  let sound = "";
  beforeAll(async () => {
    for (const [name, bytes] of Object.entries(broken)) files.set(name, await written(bytes()));
    sound = await written(writeGeoTiff(large));
  });

  eachJudge("refuses it, and takes the same raster when it is one", async (judge) => {
    const verdicts = await judge([sound, ...files.values()]);
    const names = ["sound", ...files.keys()];
    const found = Object.fromEntries(verdicts.map(({ valid }, at) => [names[at], valid]));
    expect(found).toEqual({ sound: true, ...Object.fromEntries([...files.keys()].map((name) => [name, false])) });
  });
});

async function expectValid(judge: Judge, files: ReadonlyMap<string, string>): Promise<void> {
  expect(files.size).toBeGreaterThan(5);
  const verdicts = await judge([...files.values()]);
  expect(verdicts).toHaveLength(files.size);
  const names = [...files.keys()];
  const told = verdicts.flatMap(({ valid, errors, warnings }, at) =>
    valid && errors.length + warnings.length === 0 ? [] : [{ cog: names[at], errors, warnings }],
  );
  expect(told).toEqual([]);
}
