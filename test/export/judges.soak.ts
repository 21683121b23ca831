// What others say of our files: geoparquet-io, GeoPandas and DuckDB of GeoParquet, go-pmtiles of PMTiles.
import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { catalogHere, RasterWorld, scene } from "../jobs/raster_world.js";
import { parquetJudges } from "../python_tools.js";
import { collection, feature, square } from "../vector/vector_files.js";

const here = await catalogHere("server");
const python = await parquetJudges();
const skipped = here.skip ? here.name : typeof python === "string" ? ` (skipped: ${python})` : "";

describe.skipIf(skipped !== "")(`judges of exports${skipped}`, () => {
  let world: RasterWorld;
  beforeAll(async () => {
    world = await RasterWorld.open("server");
    await world.worker();
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

  test("GeoParquet is right to geoparquet-io, GeoPandas and DuckDB, whatever it is compressed with", {
    timeout: 240_000,
  }, async () => {
    const files: string[] = [];
    for (const compression of ["gzip", "snappy"]) {
      const job = await world.run("export_vector", {
        layer: "judged",
        name: compression,
        compression,
        row_group_rows: 1000,
      });
      expect(job.error).toBeNull();
      files.push(pathOf((job.result as { files: { file: string }[] }).files[0]!.file));
    }
    if (typeof python === "string") throw new Error(python);
    const verdicts = await python.run<Verdict[]>("judge_parquet.py", files);
    for (const { gpio, geopandas, duckdb } of verdicts) {
      expect(gpio, gpio.said).toMatchObject({ code: 0 });
      expect(geopandas).toMatchObject({ rows: 3000, crs: expect.stringMatching(/CRS84/) });
      expect(geopandas.bounds[0]).toBe(-179);
      expect(duckdb).toEqual({ rows: 3000, xmin: -179 });
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

  test("PMTiles pass `pmtiles verify`", { timeout: 1_500_000 }, async (t) => {
    const run = promisify(execFile);
    const folder = join(world.dir, "judge");
    mkdirSync(folder);
    // Asked for by `go install`, the proxy would have to know the latest version; it knows this one.
    const tool = "github.com/protomaps/go-pmtiles";
    writeFileSync(join(folder, "go.mod"), `module judge\n\ngo 1.24\n\nrequire ${tool} v1.28.0\n`);
    const built = run("go", ["build", "-mod=mod", "-o", "pmtiles", tool], { cwd: folder, timeout: 1_200_000 });
    const why = await built.then(() => null, String);
    if (why !== null) return t.skip(why.slice(0, 200));
    const job = await world.run("export_vector", { layer: "judged", name: "tiles", formats: ["pmtiles"], max_zoom: 4 });
    expect(job.error).toBeNull();
    const file = pathOf((job.result as { files: { file: string }[] }).files[0]!.file);
    const { stdout, stderr } = await run(join(folder, "pmtiles"), ["verify", file]);
    expect(`${stdout}${stderr}`).toMatch(/Completed verify/);
  });
});

interface Verdict {
  gpio: { code: number; said: string };
  geopandas: { rows: number; crs: string; bounds: number[]; valid: boolean; types: string[] };
  duckdb: { rows: number; xmin: number };
}
