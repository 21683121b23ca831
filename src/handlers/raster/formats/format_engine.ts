// GDAL with the drivers of other formats beside its own: for looking into such a file, and for writing one layer of it as a plain GeoTIFF,
// and for nothing else. The engine of all other raster work never has these drivers.
import { dirname } from "node:path";
import { default_raster_settings, type RasterSettings } from "../../../core/task/raster_settings.js";
import { type Program, placeOfProgram, runProgram } from "../gdal/cli_process.js";
import type { RasterEngine } from "../gdal/engine.js";
import { askGdal, default_limits, is_harmless, wrapperFor } from "../gdal/engine_cli.js";
import { gdal_settings, kept_drivers, skippedDrivers } from "../gdal/gdal_environment.js";
import { gdalError } from "../gdal/gdal_errors.js";
import { WasmCalls } from "../gdal/wasm_calls.js";
import { type LoadedModule, loadWasm } from "../gdal/wasm_module.js";
import { format_drivers } from "./format_of.js";

export interface FormatSource {
  /** What is on disk: a file, or a folder of one. */
  path: string;
  driver: string;
  /** A part of it, as GDAL lists it, with the path in it; null: the whole. */
  part: string | null;
  /** Of a VRT of ours: what the files behind it are. */
  behind?: string;
}

export interface FormatEngine {
  readonly drivers: ReadonlySet<string>;
  /** The text gdalinfo prints. */
  info(source: FormatSource, options: readonly string[], signal: AbortSignal): Promise<string>;
  translate(source: FormatSource, target: string, options: readonly string[], signal: AbortSignal): Promise<void>;
}

const settings = {
  ...gdal_settings,
  // The folder is ours and holds what was fetched, nothing else; an array of Zarr is many files of it.
  GDAL_DISABLE_READDIR_ON_OPEN: "FALSE",
  // No code from beside the library, and no lock on a file that nobody else has.
  HDF5_PLUGIN_PRELOAD: "::",
  HDF5_USE_FILE_LOCKING: "FALSE",
};

const kept: ReadonlySet<string> = new Set([...kept_drivers, ...format_drivers]);
const failing = "the file cannot be read as a raster";

let wasm: Promise<FormatWasm> | null = null;
const programs = new Map<string, Promise<FormatEngine>>();

/** The same GDAL as `engine`, which the task has chosen already. */
export function formatEngine(
  engine: RasterEngine,
  raster: Pick<RasterSettings, "path" | "env" | "gdal">,
): Promise<FormatEngine> {
  if (engine.name === "gdal-wasm") {
    wasm ??= FormatWasm.open();
    wasm.catch(() => {
      wasm = null;
    });
    return wasm;
  }
  const key = JSON.stringify([raster.path, raster.env]);
  const known = programs.get(key) ?? openPrograms(raster);
  programs.set(key, known);
  known.catch(() => programs.delete(key));
  return known;
}

async function openPrograms({
  path = default_raster_settings.path,
  env: own = {},
  gdal,
}: Pick<RasterSettings, "path" | "env" | "gdal">) {
  const known = gdal ?? (await askGdal({ path, env: own, warm: false }));
  const [info, translate] = await Promise.all(["gdalinfo", "gdal_translate"].map((name) => placeOfProgram(name, path)));
  if (known === null || !info || !translate) throw new Error("the engine of this task has gone");
  const env = { ...settings, ...own, PATH: path };
  const bare: Program = { wrapper: [], env };
  const ask = (argv: readonly string[]) => runProgram(bare, { argv, folder: "/", failing: argv.join(" ") });
  const wrapper = await wrapperFor(default_limits, ask, path);
  return new FormatPrograms({ wrapper, env }, { info, translate }, known.drivers);
}

class FormatPrograms implements FormatEngine {
  readonly drivers: ReadonlySet<string>;

  constructor(
    private readonly program: Program,
    private readonly places: { info: string; translate: string },
    private readonly all: readonly string[],
  ) {
    this.drivers = new Set(all);
  }

  async info(source: FormatSource, options: readonly string[], signal: AbortSignal): Promise<string> {
    return this.run(source, dirname(source.path), [this.places.info, ...options], [], signal);
  }

  async translate(
    source: FormatSource,
    target: string,
    options: readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    await this.run(source, dirname(target), [this.places.translate, "-q", ...options], [target], signal);
  }

  private async run(source: FormatSource, folder: string, command: string[], after: string[], signal: AbortSignal) {
    // One format at a time: a file that is taken for another is refused.
    const drivers = new Set([...kept_drivers, source.driver, source.behind ?? "GTiff"]);
    if (drivers.has("HDF5")) drivers.add("HDF5Image");
    const env = { GDAL_SKIP: skippedDrivers(this.all, drivers) };
    const as = source.driver === "HDF5" && source.part !== null ? "HDF5Image" : source.driver;
    const argv = [...command, "-if", as, source.part ?? source.path, ...after];
    const { stdout, stderr } = await runProgram(this.program, { argv, folder, env, signal, failing });
    const errors = stderr.filter((line) => line.startsWith("ERROR") && !is_harmless.test(line));
    if (errors.length > 0) throw gdalError(failing, errors);
    return stdout;
  }
}

class FormatWasm extends WasmCalls implements FormatEngine {
  private constructor(
    loaded: LoadedModule,
    readonly drivers: ReadonlySet<string>,
  ) {
    super(loaded, () => loadWasm(kept, settings), is_harmless);
  }

  static async open(): Promise<FormatWasm> {
    const loaded = await loadWasm(kept, settings);
    const found = [...kept].filter(
      (name) => loaded.wasm.ccall("GDALGetDriverByName", "number", ["string"], [name]) !== 0,
    );
    return new FormatWasm(loaded, new Set(found));
  }

  info(source: FormatSource, options: readonly string[], signal: AbortSignal): Promise<string> {
    return this.work(failing, [source.path], signal, (call, [path]) =>
      call.opened(inside(source, path!), source.driver, (dataset) =>
        call.withOptions("GDALInfoOptions", options, (parsed) => call.text("GDALInfo", [dataset, parsed])),
      ),
    );
  }

  async translate(
    source: FormatSource,
    target: string,
    options: readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    await this.work(failing, [source.path, target], signal, (call, [path, out]) =>
      call.opened(inside(source, path!), source.driver, (dataset) =>
        call.withOptions("GDALTranslateOptions", options, (parsed) => {
          call.close(call.number("GDALTranslate", ["string", "number", "number", "number"], [out, dataset, parsed, 0]));
        }),
      ),
    );
  }
}

function inside({ path, part }: FormatSource, place: string): string {
  return part === null ? place : part.replace(path, place);
}
