// A corpus of rasters of every kind, and what becomes of each: checked and made by the handlers' own code, as a job has it done, then judged
// by others. GDAL's Python writes the corpus into a folder; rasters of other people lie beside it where Debian's packages can be fetched.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { isFanfoldError } from "../../../src/core/errors/errors.js";
import type { TaskContext } from "../../../src/core/task/context.js";
import { default_raster_settings } from "../../../src/core/task/raster_settings.js";
import type { CogOptions } from "../../../src/geo/raster.js";
import type { CogResult, ValidatedRaster } from "../../../src/handlers/raster/facts.js";
import { cogTasks } from "../../../src/handlers/raster/handlers/cog_tasks.js";
import { rasterCogTile } from "../../../src/handlers/raster/handlers/cog_tile.js";
import { planOf } from "../../../src/handlers/raster/handlers/plan_tiles.js";
import { rasterValidate } from "../../../src/handlers/raster/handlers/validate.js";
import { raster_settings } from "../../../src/handlers/raster/settings.js";
import { fakeContext } from "../../jobs/fake_context.js";
import { runScript } from "../../python_tools.js";
import { newPath } from "./both_engines.js";

export interface CorpusFile {
  name: string;
  file: string;
  /** Parameters of the job besides the target. */
  given: Record<string, unknown>;
}

export const corpus_targets = ["source", "EPSG:4326", "EPSG:3857"] as const;

/** What became of a file in a target: COGs, or why there are none. */
export interface Outcome {
  name: string;
  source: string;
  target: string;
  cogs: { file: string; options: CogOptions }[];
  /** The item's code and message of the failure. */
  refused: { code: string; message: string } | null;
}

export interface Compared {
  name: string;
  size: [number, number];
  differs_from_gdalwarp?: number;
  size_of_gdalwarp?: [number, number];
  differs_from_source?: number;
  same_grid?: boolean;
}

const scriptOf = (name: string) => fileURLToPath(new URL(`./python/${name}`, import.meta.url));

export async function makeCorpus(python: string, names?: readonly string[]): Promise<CorpusFile[]> {
  const folder = dirname(await newPath("corpus"));
  return runScript(python, [scriptOf("make_corpus.py")], { folder, ...(names === undefined ? {} : { names }) });
}

export function comparedWithGdalwarp(python: string, outcomes: readonly Outcome[]): Promise<Compared[]> {
  const made = outcomes.flatMap(({ name, source, target, cogs }) =>
    cogs.map(({ file, options }) => ({ name: `${name} → ${target}`, source, target, cog: file, options })),
  );
  return runScript(python, [scriptOf("compare_with_gdalwarp.py")], made);
}

/** Rasters that other people made: those of the R package stars (Apache 2.0), from Debian. None where they cannot be had. */
export async function rastersOfOthers(): Promise<CorpusFile[]> {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "fanfold-tests", "rasters-of-stars");
  if (!existsSync(cache)) await fetchStars(cache).catch(() => {});
  if (!existsSync(cache)) return [];
  const files = (await readdir(cache)).filter((file) => file.endsWith(".tif"));
  return files.map((file) => ({ name: `stars-${basename(file, ".tif")}`, file: join(cache, file), given: {} }));
}

async function fetchStars(cache: string): Promise<void> {
  const run = promisify(execFile);
  const folder = await mkdtemp(join(tmpdir(), "fanfold-stars-"));
  try {
    await run("apt-get", ["download", "-qq", "r-cran-stars"], { cwd: folder, timeout: 60_000 });
    const [archive = ""] = await readdir(folder);
    await run("dpkg", ["-x", join(folder, archive), join(folder, "out")]);
    await mkdir(dirname(cache), { recursive: true });
    const part = `${cache}.${process.pid}`;
    await cp(join(folder, "out/usr/lib/R/site-library/stars/tif"), part, { recursive: true });
    await rename(part, cache);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export async function outcomeOf(one: CorpusFile, target: string, engine: "gdal" | "wasm"): Promise<Outcome> {
  const { name, file, given } = one;
  const cogs: Outcome["cogs"] = [];
  const wanted = { ...given, target_crs: target };
  try {
    const parameters = rasterValidate.options.parameters!.parse({ source: "bronze:one.tif", ...wanted });
    const raster = (await rasterValidate.run(parameters as never, await contextOf(file, engine))) as ValidatedRaster;
    const tiling = raster_settings.parse(wanted);
    const plan = planOf(raster, { collection: "corpus", item_id: "one", ...tiling });
    for (const task of cogTasks(JSON.parse(JSON.stringify(plan)))) {
      const published = await newPath("cog.tif");
      const context = await contextOf(file, engine, published);
      const made = (await rasterCogTile.run(task.parameters as never, context)) as CogResult;
      if (!made.empty) cogs.push({ file: published, options: made.options! });
    }
    return { name, source: file, target, cogs, refused: null };
  } catch (error) {
    if (!isFanfoldError(error)) throw new Error(`${name} → ${target}`, { cause: error });
    return { name, source: file, target, cogs, refused: { code: error.code, message: error.message } };
  }
}

/** A task's, whose source is the file and whose COG is kept. */
async function contextOf(file: string, engine: "gdal" | "wasm", published?: string): Promise<TaskContext> {
  const scratch = dirname(await newPath("scratch"));
  const bytes = await readFile(file);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const zones = {
    stat: async () => ({ bytes: bytes.length, etag: "", modified_at: "2024-05-01T00:00:00Z" }),
    read: async (_: unknown, offset: number, length: number) => bytes.subarray(offset, offset + length),
    download: async (_: unknown, path: string) => {
      await writeFile(path, bytes, { flag: "wx" });
      return { bytes: bytes.length, sha256, etag: "" };
    },
    publish: async (from: string, { name }: { name: string }) => {
      if (name === "cog.tif" && published !== undefined) await copyFile(from, published);
      return {};
    },
  };
  return fakeContext({}, {
    scratch: async () => scratch,
    deliver: () => {},
    raster: { ...default_raster_settings, engine },
    zones,
  } as unknown as Partial<TaskContext>);
}
