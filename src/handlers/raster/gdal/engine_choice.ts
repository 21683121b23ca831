// Which GDAL a task works with: the system's where there is one, the WASM build otherwise, or the one the operator wants. Found once
// a process, because a handler's process takes one task after the other.
import { Permanent } from "../../../core/errors/errors.js";
import {
  default_raster_settings,
  type KnownGdal,
  type RasterEngineChoice,
  type RasterSettings,
} from "../../../core/task/raster_settings.js";
import type { RasterEngine } from "./engine.js";
import { askGdal, type CliLimits, default_limits, openCliEngine } from "./engine_cli.js";

export interface EngineChoice {
  prefer: RasterEngineChoice;
  /** Where to look for GDAL's programs; the usual places when left out. */
  path?: string | undefined;
  /** Where an own GDAL keeps its data. */
  env?: Readonly<Record<string, string>> | undefined;
  limits?: Partial<CliLimits> | undefined;
  /** What the worker has asked it already. */
  known?: KnownGdal | undefined;
}

const opened = new Map<string, Promise<RasterEngine>>();

/** The engine of a task, as the operator wants it: `engineFor(ctx.raster)`. */
export function engineFor({
  engine,
  path,
  env,
  gdal,
}: Pick<RasterSettings, "engine" | "path" | "env" | "gdal">): Promise<RasterEngine> {
  return openRasterEngine({ prefer: engine, path, env, known: gdal });
}

/** Before the first process of a worker: what GDAL says of itself, for all of them. */
export async function withKnownGdal(raster: RasterSettings): Promise<RasterSettings> {
  if (raster.engine === "wasm") return raster;
  const gdal = await askGdal({ ...raster, warm: raster.engine !== "gdal" });
  return gdal === null ? raster : { ...raster, gdal };
}

export function openRasterEngine(choice: EngineChoice): Promise<RasterEngine> {
  const key = JSON.stringify([choice.prefer, choice.path, choice.env, choice.limits]);
  const known = opened.get(key);
  if (known !== undefined) return known;
  const opening = open(choice);
  opened.set(key, opening);
  // What failed is tried again by the next task: a GDAL may be installed meanwhile.
  opening.catch(() => opened.delete(key));
  return opening;
}

async function open({
  prefer,
  path = default_raster_settings.path,
  env = {},
  limits = {},
  known,
}: EngineChoice): Promise<RasterEngine> {
  if (prefer !== "wasm") {
    const system = await openCliEngine({
      path,
      env,
      limits: { ...default_limits, ...limits },
      known,
      warm: prefer !== "gdal",
    });
    if (system !== null) return system;
  }
  if (prefer === "gdal") {
    throw new Permanent(
      "FANFOLD_RASTER_ENGINE is gdal, and this machine has no GDAL 3.2 or later: install it (Debian: apt-get install gdal-bin) or set wasm",
      { code: "gdal_missing" },
    );
  }
  // Only here: an engine that does not need it does not load 40 MB.
  const { openWasmEngine } = await import("./engine_wasm.js");
  return openWasmEngine();
}
