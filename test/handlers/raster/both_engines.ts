// Both engines for one test file, in a folder of their own; the system's is left out, visibly, where there is none.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { describe } from "vitest";
import { type NewGeoTiff, writeGeoTiff } from "../../../src/cli/demo/geotiff_writer.js";
import { type Scene, syntheticScene } from "../../../src/cli/demo/terrain.js";
import { openRasterEngine } from "../../../src/handlers/raster/gdal/engine_choice.js";
import type { GdalEngine } from "../../../src/handlers/raster/gdal/gdal_engine.js";
import { atFileEnd } from "../../file_end.js";
import { systemGdal } from "../../gdal_bin.js";

export const gdal = await systemGdal();
export const signal = new AbortController().signal;

export const engines = gdal.available ? (["wasm", "gdal"] as const) : (["wasm"] as const);
export type EngineName = (typeof engines)[number];

/** The same engine however often it is asked for. */
export function engineOf(prefer: "wasm" | "gdal"): Promise<GdalEngine> {
  return openRasterEngine({ prefer }) as Promise<GdalEngine>;
}

export function withBothEngines(title: string, tests: (name: "wasm" | "gdal") => void): void {
  describe(`${title} (WASM)`, () => tests("wasm"));
  const name = gdal.available ? `${title} (system GDAL)` : `${title} (system GDAL: skipped, ${gdal.why_not})`;
  describe.skipIf(!gdal.available)(name, () => tests("gdal"));
}

let folder: Promise<string> | null = null;
atFileEnd(async () => {
  const made = folder;
  folder = null;
  if (made !== null) await rm(await made, { recursive: true, force: true });
});

let files = 0;

/** A name for a file in a folder where nothing else is. */
export async function newPath(name: string): Promise<string> {
  const number = ++files;
  folder ??= mkdtemp(join(tmpdir(), "fanfold-raster-"));
  const own = join(await folder, String(number));
  await mkdir(own);
  return join(own, name);
}

export async function written(bytes: Uint8Array, name = "source.tif"): Promise<string> {
  const file = await newPath(name);
  await writeFile(file, bytes);
  return file;
}

export const utm = {
  transform: [500_000, 10, 0, 4_500_000, 0, -10],
  crs: { epsg: 32_636, kind: "projected" },
  tile: 64,
  deflate: deflateSync,
} satisfies Partial<NewGeoTiff>;

export function scene(look: Scene["look"], more: Partial<Scene> = {}): NewGeoTiff {
  return { ...syntheticScene({ seed: 7, width: 150, height: 110, look, ...more }), ...utm };
}

export function writtenScene(look: Scene["look"], more: Partial<Scene> = {}): Promise<string> {
  return written(writeGeoTiff(scene(look, more)));
}
