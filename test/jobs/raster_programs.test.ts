// How many programs of GDAL's a raster costs: starting one takes longer than converting a small raster. Counted by scripts of their names,
// which come first in the PATH that the worker gives its engine.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { default_raster_settings } from "../../src/core/task/raster_settings.js";
import { placeOfProgram } from "../../src/handlers/raster/gdal/cli_process.js";
import { gdalPython, systemGdal } from "../gdal_bin.js";
import { catalogHere, RasterWorld, scene } from "./raster_world.js";

const gdal = await systemGdal();
const { skip, name } = await catalogHere("server");
const sources = 6;
const python = gdal.available ? await gdalPython() : gdal.why_not;
const warm = typeof python !== "string";

describe.skipIf(skip || !gdal.available)(`programs of GDAL's for each source${name}${gdal.why_not}`, async () => {
  const world = skip || !gdal.available ? null : await RasterWorld.open("server");
  afterAll(() => world?.close());

  test.each([
    ["source", 32636, 2],
    ["EPSG:4326", 32636, 3],
    ["EPSG:4326", 3035, 4],
  ])("to target_crs %s from EPSG:%i: %i, beside a few for each worker", { timeout: 240_000 }, async (...asked) => {
    const [target_crs, epsg, most] = asked;
    const collection = `to-${target_crs}-from-${epsg}`.replace(":", "-").toLowerCase();
    const counted = await counting(world!.dir, collection);
    const worker = await world!.worker({ raster: { engine: "gdal", path: counted.path } });
    for (let at = 0; at < sources; at++) {
      const origin: [number, number] =
        epsg === 3035 ? [4_321_000 + at * 2000, 3_210_000] : [500_000 + at * 2000, 100_000];
      world!.put(`bronze:${collection}/s${at}.tif`, scene({ seed: at, origin }, { crs: { epsg, kind: "projected" } }));
    }
    const parameters = { sources: { prefix: `bronze:${collection}/` }, collection, target_crs };
    const job = await world!.run("process_raster_collection", parameters);
    await worker.stop();
    expect(job).toMatchObject({ status: "completed" });
    expect(await world!.items(collection)).toHaveLength(sources);
    const started = counted.started();
    // Of the worker: its version, its drivers and two lists of codecs. Of each process: one COG of each CRS is looked at.
    const asked_once = 4 + 2;
    expect(started.length, started.join("\n")).toBeLessThanOrEqual(sources * most + asked_once);
    expect(started.filter((line) => /--(version|formats?)\b/.test(line))).toHaveLength(4);
  });
});

describe.skipIf(skip || !warm)(`a Python that stays${name}${warm ? "" : ` (skipped: ${python})`}`, () => {
  test("starts once in each process of a worker, and then no program is", { timeout: 240_000 }, async () => {
    const world = await RasterWorld.open("server");
    try {
      const counted = await counting(world.dir, "warm");
      const worker = await world.worker({ raster: { engine: "auto", path: counted.path } });
      for (const round of [1, 2]) {
        for (let at = 0; at < sources; at++) {
          world.put(`bronze:r${round}/s${at}.tif`, scene({ seed: at, origin: [500_000 + at * 2000, 100_000] }));
        }
        const parameters = {
          sources: { prefix: `bronze:r${round}/` },
          collection: `r${round}`,
          target_crs: "EPSG:3857",
        };
        const job = await world.run("process_raster_collection", parameters);
        expect(job).toMatchObject({ status: "completed" });
      }
      await worker.stop();
      const started = counted.started();
      expect(started.filter((line) => line.startsWith("gdal") && !/--(version|formats?)\b/.test(line))).toEqual([]);
      // One to ask it, and one in each of two processes.
      expect(started.filter((line) => line.startsWith("python3")).length).toBeLessThanOrEqual(3);
    } finally {
      await world.close();
    }
  });
});

async function counting(dir: string, name: string): Promise<{ path: string; started: () => string[] }> {
  const folder = join(dir, `counting-${name}`);
  const list = join(folder, "started");
  mkdirSync(folder);
  writeFileSync(list, "");
  chmodSync(list, 0o666);
  for (const program of ["gdalinfo", "gdalwarp", "gdal_translate", "gdaltransform"]) {
    const real = await placeOfProgram(program, default_raster_settings.path);
    writeFileSync(join(folder, program), `#!/bin/sh\necho "${program} $*" >> ${list}\nexec ${real} "$@"\n`);
    chmodSync(join(folder, program), 0o755);
  }
  const real = typeof python === "string" ? "python3" : python.python;
  writeFileSync(join(folder, "python3"), `#!/bin/sh\necho "python3 $1" >> ${list}\nexec ${real} "$@"\n`);
  chmodSync(join(folder, "python3"), 0o755);
  return {
    path: `${folder}:${default_raster_settings.path}`,
    started: () => readFileSync(list, "utf8").split("\n").filter(Boolean),
  };
}
