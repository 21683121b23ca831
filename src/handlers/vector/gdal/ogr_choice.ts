// Which GDAL a vector task works with: as for rasters, and by the same setting of the operator's.
import { Permanent } from "../../../core/errors/errors.js";
import type { RasterSettings } from "../../../core/task/raster_settings.js";
import { default_limits } from "../../raster/gdal/engine_cli.js";
import { openOgrCli } from "./ogr_cli.js";
import type { OgrEngine } from "./ogr_engine.js";

const opened = new Map<string, Promise<OgrEngine>>();

/** `ogrFor(ctx.raster)`: one engine a process, however often it is asked for. */
export function ogrFor(settings: Pick<RasterSettings, "engine" | "path" | "env">): Promise<OgrEngine> {
  const key = JSON.stringify([settings.engine, settings.path, settings.env]);
  const known = opened.get(key);
  if (known !== undefined) return known;
  const opening = open(settings);
  opened.set(key, opening);
  // What failed is tried again by the next task: a GDAL may be installed meanwhile.
  opening.catch(() => opened.delete(key));
  return opening;
}

async function open({ engine, path, env }: Pick<RasterSettings, "engine" | "path" | "env">): Promise<OgrEngine> {
  if (engine !== "wasm") {
    const system = await openOgrCli({ path, env: env ?? {}, limits: default_limits });
    if (system !== null) return system;
  }
  if (engine === "gdal") {
    throw new Permanent(
      "FANFOLD_RASTER_ENGINE is gdal, and this machine has no GDAL 3.4 or later with its vector drivers: install it (Debian: apt-get install gdal-bin) or set wasm",
      { code: "gdal_missing" },
    );
  }
  const { openOgrWasm } = await import("./ogr_wasm.js");
  return openOgrWasm();
}
