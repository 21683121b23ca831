// Files that hold many rasters, as xarray and h5py write them, through the jobs: an item for each variable and time, with its moment.
import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemGdal } from "../gdal_bin.js";
import { formatTools } from "../python_tools.js";
import { catalogHere, RasterWorld } from "./raster_world.js";

const gdal = await systemGdal();
const here = await catalogHere("server");
const python = await formatTools();
const why_not = here.skip ? here.name : !gdal.available ? gdal.why_not : typeof python === "string" ? python : "";

describe.skipIf(why_not !== "")(`files of many rasters (${why_not || "system GDAL"})`, () => {
  let world: RasterWorld;
  let means: number[];
  beforeAll(async () => {
    world = await RasterWorld.open("server");
    await world.worker({ raster: { engine: "gdal" } });
    const folder = join(world.dir, "made");
    mkdirSync(folder);
    if (typeof python === "string") throw new Error(python);
    means = (await python.run<{ mean: number[] }>("make_formats.py", { folder })).mean;
    const put = (key: string, path: string): void => {
      if (statSync(path).isDirectory()) for (const name of readdirSync(path)) put(`${key}/${name}`, join(path, name));
      else world.put(`bronze:${key}`, readFileSync(path));
    };
    for (const name of readdirSync(folder)) put(name, join(folder, name));
  }, 600_000);
  afterAll(() => world?.close());

  const six = ["20240101T000000Z", "20240101T060000Z", "20240101T120000Z"]
    .flatMap((time) => [`t2m-${time}`, `tp-${time}`])
    .sort();
  const meanOf = (item: { assets: Record<string, unknown> }) =>
    (
      item.assets.data as {
        "raster:bands"?: { statistics: { mean: number } }[];
        bands?: { statistics: { mean: number } }[];
      }
    ).bands?.[0]?.statistics.mean;

  test.each(["weather.nc", "upwards.nc", "weather.zarr"])(
    "%s becomes an item for each variable and time",
    async (name) => {
      const collection = name.replace(".", "-");
      const sources = { list: [`bronze:${name}`] };
      const job = await world.run("process_raster_layers", {
        sources,
        collection,
        source_crs: "EPSG:4326",
        homogeneity: "warn",
      });
      expect([job.status, job.error]).toEqual(["completed", null]);
      const items = await world.items(collection);
      const base = name.replace(/\..*/, "");
      expect(items.map(({ id }) => id)).toEqual(six.map((words) => `${base}-${words}`));
      const noon = items.find(({ id }) => id.endsWith("t2m-20240101T120000Z"))!;
      expect(noon.properties).toMatchObject({
        datetime: "2024-01-01T12:00:00Z",
        "fanfold:variable": "t2m",
        "fanfold:datetime_source": "file",
      });
      for (const [at, edge] of [9.9, 44.875, 15.1, 50.125].entries()) expect(noon.bbox![at]).toBeCloseTo(edge, 6);
      expect(meanOf(noon as never)).toBeCloseTo(means[2]!, 3);
    },
  );

  test("levels are told apart, and times of one variable are the bands of one COG", async () => {
    const levels = await world.run("process_raster_layers", {
      sources: { list: ["bronze:levels.nc"] },
      collection: "levels",
      source_crs: "EPSG:4326",
    });
    expect([levels.status, levels.error]).toEqual(["completed", null]);
    const found = await world.items("levels");
    expect(found.map(({ id, properties }) => [id, properties["fanfold:level"]])).toEqual([
      ["levels-500", 500],
      ["levels-850", 850],
    ]);
    const bands = await world.run("process_raster", {
      source: "bronze:weather.nc",
      variable: "t2m",
      collection: "bands",
      source_crs: "EPSG:4326",
    });
    expect([bands.status, bands.error]).toEqual(["completed", null]);
    const [item] = await world.items("bands");
    expect((item!.assets.data as unknown as { bands: unknown[] }).bands).toHaveLength(3);
  });

  test.each(["linked.nc", "linked_new.nc", "raw.nc", "raw_new.nc", "virtual.nc"])(
    "%s leads to other files, and is refused",
    async (name) => {
      const job = await world.run("validate_raster", { source: `bronze:${name}`, source_crs: "EPSG:4326" });
      expect(job).toMatchObject({ status: "failed", error: { message: expect.stringContaining("names_other_files") } });
    },
  );

  test.each([
    ["plain.h5", /no_georeference/],
    ["third.zarr", /zarr_format=2/],
  ])("%s is refused with what is wrong", async (name, words) => {
    const job = await world.run("validate_raster", { source: `bronze:${name}`, source_crs: "EPSG:4326" });
    expect(job).toMatchObject({ status: "failed", error: { message: expect.stringMatching(words) } });
  });
});
