// ogrinfo and ogr2ogr of the system's GDAL: limited and shut in as the raster programs are, with one driver to read and one to write.
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { type Program, runProgram } from "../../raster/gdal/cli_process.js";
import { type CliSettings, wrapperFor } from "../../raster/gdal/engine_cli.js";
import { skippedDrivers } from "../../raster/gdal/gdal_environment.js";
import { gdalError } from "../../raster/gdal/gdal_errors.js";
import { addressOf, dumpOptions, info_options, type OgrEngine, type OgrPart, type OgrSource } from "./ogr_engine.js";
import { is_harmless_vector, ogr_settings, vector_drivers, writingDrivers } from "./ogr_settings.js";

/** null: there is no GDAL here, one that is too old, or one without the drivers. */
export async function openOgrCli(settings: CliSettings): Promise<OgrEngine | null> {
  const env = { ...ogr_settings, ...settings.env, PATH: settings.path };
  const bare: Program = { wrapper: [], env };
  const ask = (argv: readonly string[]) => runProgram(bare, { argv, folder: tmpdir(), failing: argv.join(" ") });
  const told = await Promise.all([
    ask(["ogrinfo", "--version"]),
    ask(["ogr2ogr", "--version"]),
    ask(["ogrinfo", "--formats"]),
  ]).catch(() => null);
  if (told === null) return null;
  const [{ stdout: said }, , { stdout: formats }] = told;
  const [, version = "", major = "0", minor = "0"] = /GDAL ((\d+)\.(\d+)\.\d+)/.exec(said) ?? [];
  if (Number(major) < 3 || (Number(major) === 3 && Number(minor) < 4)) return null;
  const drivers = [...formats.matchAll(/^ {2}(.+?) -[a-z, ]+- \(/gm)].map((match) => match[1]!);
  const needed = ["ESRI Shapefile", "GPKG", "GeoJSON", "FlatGeobuf", "CSV", "PGDUMP"];
  if (needed.some((name) => !drivers.includes(name))) return null;
  const wrapper = await wrapperFor(settings.limits, ask, settings.path);
  return new OgrCli(version, { wrapper, env }, drivers);
}

class OgrCli implements OgrEngine {
  readonly name = "gdal";

  constructor(
    readonly version: string,
    private readonly program: Program,
    private readonly drivers: readonly string[],
  ) {}

  info(source: OgrSource, signal: AbortSignal): Promise<string> {
    const argv = ["ogrinfo", "-ro", ...info_options, ...opening(source)];
    return this.run(source, argv, dirname(source.path), "the file cannot be read", signal);
  }

  async dump(source: OgrSource, part: OgrPart, target: string, signal: AbortSignal): Promise<void> {
    const options = dumpOptions(part);
    // A layer's name comes last: after the files.
    const [layers, others] = part.from === undefined ? [options.slice(-1), options.slice(0, -1)] : [[], options];
    const argv = ["ogr2ogr", ...others, ...opening(source, target), ...layers];
    await this.run(source, argv, dirname(target), "the features cannot be read", signal);
  }

  writes(driver: string): boolean {
    return this.drivers.includes(driver);
  }

  async write(source: OgrSource, target: string, options: readonly string[], signal: AbortSignal): Promise<void> {
    const argv = ["ogr2ogr", ...options, ...opening(source, target)];
    const failing = `${options[1]} cannot be written`;
    await this.run(source, argv, dirname(target), failing, signal, ["Memory", ...writingDrivers(options[1]!)]);
  }

  private async run(
    source: OgrSource,
    argv: readonly string[],
    folder: string,
    failing: string,
    signal: AbortSignal,
    writing: readonly string[] = ["PGDUMP"],
  ): Promise<string> {
    const kept = new Set([source.driver, ...writing].filter((name) => vector_drivers.has(name)));
    const env = { GDAL_SKIP: skippedDrivers(this.drivers, kept) };
    const { stdout, stderr } = await runProgram(this.program, { argv, folder, env, failing, signal });
    const errors = stderr.filter((line) => line.startsWith("ERROR") && !is_harmless_vector.test(line));
    if (errors.length > 0) throw gdalError(failing, errors);
    return stdout;
  }
}

/** With its options before it, and what is to be written. */
function opening(source: OgrSource, target?: string): string[] {
  const options = source.options.flatMap((option) => ["-oo", option]);
  return [...options, ...(target === undefined ? [] : [target]), addressOf(source, source.path)];
}
