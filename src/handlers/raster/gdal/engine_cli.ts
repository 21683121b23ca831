// GDAL's own programs, where the system has them: found, asked what they can do, and run one process per question.
import { stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { Permanent } from "../../../core/errors/errors.js";
import type { KnownGdal } from "../../../core/task/raster_settings.js";
import { type Program, placeOfProgram, type Ran, type Run, runProgram } from "./cli_process.js";
import type { RasterEngine } from "./engine.js";
import { checkedCrs } from "./gdal_crs.js";
import { GdalEngine } from "./gdal_engine.js";
import { gdal_settings, program_cache_mb, skippedDrivers } from "./gdal_environment.js";
import { gdalError } from "./gdal_errors.js";
import type { GdalPrograms, SourceFile } from "./gdal_programs.js";
import { WarmGdal } from "./warm_gdal.js";

export interface CliSettings {
  /** Where to look for the programs, as in PATH. */
  path: string;
  /** Where an own GDAL keeps its data: GDAL_DATA, PROJ_DATA, PROJ_LIB and LD_LIBRARY_PATH, if set. */
  env: Readonly<Record<string, string>>;
  limits: CliLimits;
  /** What was asked before. */
  known?: KnownGdal | undefined;
  /** Whether small rasters may go to a Python that stays. */
  warm?: boolean;
}

export interface CliLimits {
  /** Address space; libraries alone take a few hundred. */
  memory_mb: number;
  cpu_s: number;
  file_gb: number;
  /** For blocks of pixels. */
  cache_mb: number;
}

export const default_limits: CliLimits = { memory_mb: 3072, cpu_s: 4 * 3600, file_gb: 64, cache_mb: program_cache_mb };

/** The first with a COG driver and with -if, which says what a file may be opened as. */
const least_version: readonly [number, number] = [3, 2];

/** null: there is no GDAL here, or one that is too old. */
export async function openCliEngine(settings: CliSettings, signal?: AbortSignal): Promise<RasterEngine | null> {
  const known = settings.known ?? (await askGdal(settings, signal));
  if (known === null) return null;
  const { version, codecs, drivers } = known;
  const programs = await foundPrograms(settings.path);
  if (programs === null) return null;
  const env = {
    ...gdal_settings,
    GDAL_CACHEMAX: String(settings.limits.cache_mb),
    ...settings.env,
    PATH: settings.path,
  };
  const bare: Program = { wrapper: [], env };
  const ask = (argv: readonly string[]) =>
    runProgram(bare, { argv, folder: tmpdir(), signal, failing: argv.join(" ") });
  const wrapper = await wrapperFor(settings.limits, ask, settings.path);
  const program: Program = { wrapper, env: { ...env, GDAL_SKIP: skippedDrivers(drivers) } };
  const warm = settings.warm && known.python !== null ? new WarmGdal(known.python, program) : null;
  return new GdalEngine(
    new CliPrograms(version, new Set(codecs), settings.limits.cache_mb, program, programs, drivers, warm),
  );
}

/** What GDAL says of itself; null as above. */
export async function askGdal(
  { path, env: own, warm = true }: Pick<CliSettings, "path" | "env" | "warm">,
  signal?: AbortSignal,
): Promise<KnownGdal | null> {
  const program: Program = { wrapper: [], env: { ...gdal_settings, ...own, PATH: path } };
  const ask = (argv: readonly string[]) =>
    runProgram(program, { argv, folder: tmpdir(), signal, failing: argv.join(" ") });
  const told = await ask(["gdalinfo", "--version"]).catch(() => null);
  signal?.throwIfAborted();
  const version = /GDAL (\d+\.\d+\.\d+)/.exec(told?.stdout ?? "")?.[1];
  if (version === undefined || !isRecent(version)) return null;
  const answers = await Promise.all([
    ask(["gdalinfo", "--formats"]),
    ask(["gdalinfo", "--format", "GTiff"]),
    ask(["gdalinfo", "--format", "COG"]),
  ]).catch(() => null);
  signal?.throwIfAborted();
  if (answers === null || (await foundPrograms(path)) === null) return null;
  const [formats, gtiff, cog] = answers.map(({ stdout }) => stdout);
  const drivers = [...(formats ?? "").matchAll(/^ {2}(.+?) -[a-z, ]+- \(/gm)].map((match) => match[1]!);
  if (!drivers.includes("COG") || !drivers.includes("GTiff")) return null;
  const codecs = [...new Set([...codecsIn(gtiff ?? ""), ...codecsIn(cog ?? "")])];
  return { version, drivers, codecs, python: warm ? await pythonWith(version, path, ask) : null };
}

/** The same library as the programs': another might give other pixels. */
async function pythonWith(
  version: string,
  path: string,
  ask: (argv: readonly string[]) => Promise<Ran>,
): Promise<string | null> {
  const places = [await placeOfProgram("python3", path), "/usr/bin/python3"];
  for (const place of new Set(places)) {
    if (place === null) continue;
    const told = await ask([
      place,
      "-I",
      "-c",
      "from osgeo import gdal; print(gdal.VersionInfo('RELEASE_NAME'))",
    ]).catch(() => null);
    if (told?.stdout.trim() === version) return place;
  }
  return null;
}

const program_names = ["gdalinfo", "gdalwarp", "gdal_translate", "gdaltransform"] as const;
type ProgramName = (typeof program_names)[number];
type FoundPrograms = Readonly<Record<ProgramName, string>>;

/** Where each of them is; null when one is missing. */
async function foundPrograms(path: string): Promise<FoundPrograms | null> {
  const places = await Promise.all(program_names.map((name) => placeOfProgram(name, path)));
  if (places.some((place) => place === null)) return null;
  return Object.fromEntries(program_names.map((name, at) => [name, places[at]])) as FoundPrograms;
}

function isRecent(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > least_version[0] || (major === least_version[0] && minor >= least_version[1]);
}

/** From the list of creation options: what stands under COMPRESS. */
export function codecsIn(xml: string): string[] {
  const [, list = ""] = /<Option name=['"]COMPRESS['"][^>]*>([\s\S]*?)<\/Option>/.exec(xml) ?? [];
  return [...list.matchAll(/<Value[^>]*>([A-Z0-9_]+)<\/Value>/g)].map((match) => {
    const name = match[1]!.toLowerCase();
    return own_names[name] ?? name;
  });
}

/** As src/geo calls what it finds in a file. */
const own_names: Readonly<Record<string, string>> = {
  ccittrle: "ccitt_rle",
  ccittfax3: "ccitt_fax3",
  ccittfax4: "ccitt_fax4",
};

/** Each is tried: a container may have the program and not the right. They all become the next, so one process is left. */
export async function wrapperFor(
  limits: CliLimits,
  ask: (argv: readonly string[]) => Promise<Ran>,
  path: string,
): Promise<string[]> {
  const works = (words: readonly string[]) =>
    ask([...words, "true"]).then(
      () => true,
      () => false,
    );
  const first = async (...choices: string[][]) => {
    for (const [name = "", ...words] of choices) {
      // By its whole name: it is not looked for again with every program it is put before.
      const place = await placeOfProgram(name, path);
      if (place !== null && (await works([place, ...words]))) return [place, ...words];
    }
    return [];
  };
  const mb = 2 ** 20;
  const [no_network, mortal, limited] = await Promise.all([
    first(
      ["unshare", "--net", "--"],
      ["unshare", "--user", "--map-current-user", "--net", "--"],
      ["unshare", "-r", "-n", "--"],
    ),
    first(["setpriv", "--no-new-privs", "--pdeathsig", "KILL", "--"], ["setpriv", "--no-new-privs", "--"]),
    first([
      "prlimit",
      `--as=${limits.memory_mb * mb}`,
      `--cpu=${limits.cpu_s}`,
      `--fsize=${limits.file_gb * 1024 * mb}`,
      "--nofile=256",
      "--core=0",
      "--",
    ]),
  ]);
  return [...no_network, ...mortal, ...limited];
}

const most_warm_bytes = 64 * 2 ** 20;

class CliPrograms implements GdalPrograms {
  readonly name = "gdal";
  private readonly without_vrt: Record<string, string>;

  constructor(
    readonly version: string,
    readonly codecs: ReadonlySet<string>,
    readonly cache_mb: number,
    private readonly program: Program,
    private readonly places: FoundPrograms,
    drivers: readonly string[],
    private readonly warm: WarmGdal | null,
  ) {
    this.without_vrt = { GDAL_SKIP: skippedDrivers(drivers, new Set(["GTiff"])) };
  }

  async info(source: SourceFile, options: readonly string[], signal: AbortSignal): Promise<string> {
    const warm = await this.warmFor(source);
    const failing = "the file cannot be read as a raster";
    if (warm !== null) return warm.call({ do: "info", source, options, signal, failing, harmless: is_harmless });
    const run = {
      ...this.asked([this.places.gdalinfo], source, options, signal),
      failing: "the file cannot be read as a raster",
    };
    // A plain file is looked at without even the drivers that are only written with.
    const { stdout } = await this.run({ ...run, ...(source.driver === "GTiff" ? { env: this.without_vrt } : {}) }, [
      source.file,
    ]);
    return stdout;
  }

  async translate(source: SourceFile, target: string, options: readonly string[], signal: AbortSignal): Promise<void> {
    const warm = await this.warmFor(source);
    if (warm !== null) {
      const failing = "the raster cannot be read";
      await warm.call({ do: "translate", source, target, options, signal, failing, harmless: is_harmless });
      return;
    }
    const run = {
      ...this.asked([this.places.gdal_translate, "-q"], source, options, signal),
      failing: "the raster cannot be read",
    };
    const { stderr } = await this.run({ ...run, folder: dirname(target) }, [source.file, target]);
    refuseErrors(run.failing, stderr);
  }

  async warp(source: SourceFile, target: string, options: readonly string[], signal: AbortSignal): Promise<void> {
    const warm = await this.warmFor(source);
    if (warm !== null) {
      const failing = "the raster cannot be converted";
      await warm.call({ do: "warp", source, target, options, signal, failing, harmless: is_harmless });
      return;
    }
    const run = {
      ...this.asked([this.places.gdalwarp, "-q"], source, options, signal),
      failing: "the raster cannot be converted",
    };
    const { stderr } = await this.run({ ...run, folder: dirname(target) }, [source.file, target]);
    refuseErrors(run.failing, stderr);
  }

  /** For files of which the start of a program would be a good part of the work. What others lie behind a VRT is not told by its size. */
  private async warmFor({ file, driver }: SourceFile): Promise<WarmGdal | null> {
    if (this.warm === null || driver !== "GTiff") return null;
    return (await stat(file)).size <= most_warm_bytes ? this.warm : null;
  }

  private asked(program: string[], source: SourceFile, options: readonly string[], signal: AbortSignal): Run {
    return { argv: [...program, "-if", source.driver, ...options], folder: dirname(source.file), signal, failing: "" };
  }

  private run(run: Run, files: readonly string[]): Promise<Ran> {
    return runProgram(this.program, { ...run, argv: [...run.argv, ...files] });
  }

  async transform(points: readonly (readonly [number, number])[], from_crs: string, to_crs: string) {
    if (points.length === 0) return [];
    const argv = [
      this.places.gdaltransform,
      "-s_srs",
      checkedCrs(from_crs),
      "-t_srs",
      checkedCrs(to_crs),
      "-output_xy",
    ];
    const stdin = `${points.map(([x, y]) => `${finite(x)} ${finite(y)}`).join("\n")}\n`;
    const { stdout } = await runProgram(this.program, {
      argv,
      stdin,
      folder: tmpdir(),
      failing: "coordinates cannot be transformed",
    });
    const lines = stdout.trim().split("\n");
    if (lines.length !== points.length) {
      throw new Permanent("GDAL transformed another number of points than it was given", { code: "gdal_failed" });
    }
    return lines.map((line): [number, number] | null => {
      const [x = Number.NaN, y = Number.NaN] = line.trim().split(/\s+/).map(Number);
      return Number.isFinite(x) && Number.isFinite(y) ? [x, y] : null;
    });
  }
}

/** What is not a number fails as a point nobody can transform does. */
function finite(value: number): number {
  return Number.isFinite(value) ? value : 1e300;
}

/** Programs end well after errors they thought they could live with; half a picture is none. */
function refuseErrors(failing: string, stderr: readonly string[]): void {
  const errors = stderr.filter((line) => line.startsWith("ERROR") && !is_harmless.test(line));
  if (errors.length > 0) throw gdalError(failing, errors);
}

/**
 * Not failures: a band without a valid pixel has no statistics, and values read as numbers leave their colours behind (GDAL 3.6 calls
 * that an error).
 */
export const is_harmless = /no valid pixels found|Unable to export color table/;
