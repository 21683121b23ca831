// Sources that are no TIFFs: what each engine reads of them, which of several rasters is taken, and what is refused.
import { execFile } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeGeoTiff } from "../../../src/cli/demo/geotiff_writer.js";
import { type FetchedSource, fetchSource } from "../../../src/handlers/raster/source/fetch_source.js";
import { gdal, newPath, scene, signal, withBothEngines, written } from "./both_engines.js";
import { SourceWorld } from "./source_world.js";

const run = promisify(execFile);
let world: SourceWorld;
const files = new Map<string, string>();

/** GDAL's own drivers write them. */
const formats: readonly [string, string, string[]][] = [
  ["netCDF", "dem.nc", ["-of", "netCDF", "-b", "1"]],
  ["netCDF", "bands.nc", ["-of", "netCDF", "-co", "FORMAT=NC4"]],
  ["GRIB", "dem.grb2", ["-of", "GRIB", "-b", "1", "-ot", "Float32", "-co", "DATA_ENCODING=IEEE_FLOATING_POINT"]],
  [
    "JP2OpenJPEG",
    "dem.jp2",
    ["-of", "JP2OpenJPEG", "-b", "1", "-ot", "UInt16", "-co", "REVERSIBLE=YES", "-co", "QUALITY=100"],
  ],
  ["HFA", "dem.img", ["-of", "HFA", "-b", "1"]],
  ["Zarr", "dem.zarr", ["-of", "Zarr", "-b", "1"]],
];

beforeAll(async () => {
  world = await SourceWorld.open();
  const tiff = writeGeoTiff({
    ...scene("rgb"),
    transform: [10, 0.01, 0, 50, 0, -0.01],
    crs: { epsg: 4326, kind: "geographic" },
  });
  world.objects.set("dem.tif", tiff);
  files.set("dem.tif", await written(tiff));
  if (!gdal.available) return;
  for (const [, name, options] of formats) {
    const path = await newPath(name);
    await run("gdal_translate", ["-q", "--config", "GDAL_PAM_ENABLED", "NO", ...options, files.get("dem.tif")!, path]);
    put(name, path);
  }
});
afterAll(() => world.close());

function put(key: string, path: string): void {
  if (statSync(path).isDirectory()) for (const name of readdirSync(path)) put(`${key}/${name}`, join(path, name));
  else world.objects.set(key, readFileSync(path));
}

function fetched(source: string, engine: "wasm" | "gdal", layer = {}): Promise<FetchedSource> {
  return fetchSource(world.ctx({ engine }), source, { layer });
}

async function means(source: string, engine: "wasm" | "gdal", layer = {}): Promise<(number | undefined)[]> {
  const { engine: own, file } = await fetched(source, engine, layer);
  return (await own.statistics(file, { approximate: false }, signal)).map((band) => band?.mean);
}

withBothEngines("sources of other formats", (engine) => {
  // Those that the WASM build has are read by it alone here, and by both in formats.soak.ts.
  const own = engine === "gdal" ? ["dem.nc", "dem.jp2"] : ["dem.grb2", "dem.img", "dem.zarr"];
  const single = formats.filter(([, name]) => own.includes(name));

  test.skipIf(!gdal.available).each(single)(
    "%s (%s) has the pixels and the place of the GeoTIFF it was made of",
    async (_, name) => {
      const [red] = await means("bronze:dem.tif", engine);
      expect((await means(`bronze:${name}`, engine))[0]).toBeCloseTo(red!, 9);
      const { engine: own, file, sha256, findings } = await fetched(`bronze:${name}`, engine);
      const info = await own.info(file, signal);
      expect(info).toMatchObject({ driver: "GTiff", width: 150, height: 110, crs: { is_geographic: true } });
      for (const [at, value] of [10, 0.01, 0, 50, 0, -0.01].entries())
        expect(info.transform![at]).toBeCloseTo(value, 9);
      expect(sha256).toMatch(/^[0-9a-f]{64}$/);
      expect(findings.filter(({ severity }) => severity === "error")).toEqual([]);
    },
  );

  test("a VRT puts files of the tenant's zones together, wherever its names lead from", async () => {
    const [red, green] = await means("bronze:dem.tif", engine);
    world.objects.set("mosaics/two.vrt", Buffer.from(vrtOf(["../dem.tif", 2], ["bronze:dem.tif", 1])));
    const [first, second, ...rest] = await means("bronze:mosaics/two.vrt", engine);
    expect([first, rest]).toEqual([green, []]);
    expect(second).toBeCloseTo(red!, 9);
  });

  test("a layer of a GeoTIFF is asked for by its bands", async () => {
    await expect(fetched("bronze:dem.tif", engine, { variable: "t2m" })).rejects.toMatchObject({
      code: "no_such_layer",
    });
  });
});

test.skipIf(!gdal.available).each([
  ["dem.nc", "netCDF"],
  ["bands.nc", "netCDF or HDF5"],
  ["dem.jp2", "OpenJPEG"],
])("%s is refused by the WASM engine, which says what would read it", async (name, driver) => {
  await expect(fetched(`bronze:${name}`, "wasm")).rejects.toMatchObject({
    code: "format_unreadable",
    message: expect.stringMatching(new RegExp(`${driver} would \\(Debian: apt-get install gdal-bin\\).*GeoTIFF`)),
  });
});

describe.skipIf(!gdal.available)("a file of several variables", () => {
  test("is refused with their names until one is chosen", async () => {
    const [, green] = await means("bronze:dem.tif", "gdal");
    await expect(fetched("bronze:bands.nc", "gdal")).rejects.toMatchObject({
      code: "several_layers",
      message: expect.stringMatching(/Band1, Band2, Band3.*process_raster_layers/),
    });
    expect(await means("bronze:bands.nc", "gdal", { variable: "Band2" })).toEqual([green]);
    expect((await fetched("bronze:bands.nc", "gdal", { variable: "Band2" })).properties).toEqual({
      "fanfold:variable": "Band2",
    });
    const missing = fetched("bronze:bands.nc", "gdal", { variable: 'Band2":/etc/passwd' });
    await expect(missing).rejects.toMatchObject({
      code: "no_such_layer",
      message: expect.stringMatching(/Band1, Band2, Band3/),
    });
    await expect(fetched("bronze:bands.nc", "gdal", { variable: "Band2", step: 2 })).rejects.toMatchObject({
      code: "no_such_layer",
    });
  });

  test("is unpacked once on a machine that keeps sources", async () => {
    const source_cache = world.cache(10_000_000);
    const ctx = () => ({ ...world.ctx({ engine: "gdal", source_cache }) });
    const first = await fetchSource(ctx(), "bronze:bands.nc", { layer: { variable: "Band1" } });
    const second = await fetchSource(ctx(), "bronze:bands.nc", { layer: { variable: "Band1" } });
    expect(statSync(second.file).ino).toBe(statSync(first.file).ino);
    expect([second.sha256, second.bytes]).toEqual([first.sha256, world.objects.get("bands.nc")!.length]);
    const other = await fetchSource(ctx(), "bronze:bands.nc", { layer: { variable: "Band3" } });
    expect(statSync(other.file).ino).not.toBe(statSync(first.file).ino);
  });
});

describe("what a source may not lead to", () => {
  const canary = async () => {
    const path = await newPath("secret.tif");
    writeFileSync(path, world.objects.get("dem.tif")!);
    return path;
  };

  test.each([
    ["a path of this machine", "/etc/passwd"],
    ["an address", "/vsicurl/http://127.0.0.1:1/x.tif"],
    ["a way out of its zone", "../../other/x.tif"],
    ["a driver's name", "GTIFF_DIR:1:/etc/passwd"],
    ["a zone that is none", "s3:bucket/x.tif"],
  ])("a VRT that names %s is refused", async (_, name) => {
    world.objects.set("odd.vrt", Buffer.from(vrtOf([name, 1])));
    await expect(fetched("bronze:odd.vrt", "wasm")).rejects.toMatchObject({ code: "names_other_files" });
  });

  test("a VRT that names a file of this machine by its whole path does not get it", async () => {
    world.objects.set(
      "odd.vrt",
      Buffer.from(vrtOf([await canary(), 1]).replace('relativeToVRT="1"', 'relativeToVRT="0"')),
    );
    await expect(fetched("bronze:odd.vrt", "wasm")).rejects.toMatchObject({ code: "names_other_files" });
  });

  test("a VRT of a file that is not there, or is no TIFF, says which", async () => {
    world.objects.set("odd.vrt", Buffer.from(vrtOf(["not-there.tif", 1])));
    await expect(fetched("bronze:odd.vrt", "wasm")).rejects.toThrow(/bronze:not-there\.tif/);
    world.objects.set("odd.vrt", Buffer.from(vrtOf(["odd.vrt", 1])));
    await expect(fetched("bronze:odd.vrt", "wasm")).rejects.toThrow(/bronze:odd\.vrt, which the VRT names,/);
  });
});

function vrtOf(...bands: [string, number][]): string {
  const rect = 'xOff="0" yOff="0" xSize="150" ySize="110"';
  const parts = bands.map(
    ([name, band], at) =>
      `<VRTRasterBand dataType="Byte" band="${at + 1}"><SimpleSource><SourceFilename relativeToVRT="${name.includes(":") ? 0 : 1}">${name}</SourceFilename><SourceBand>${band}</SourceBand><SrcRect ${rect}/><DstRect ${rect}/></SimpleSource></VRTRasterBand>`,
  );
  return `<VRTDataset rasterXSize="150" rasterYSize="110"><SRS>EPSG:4326</SRS><GeoTransform>10,0.01,0,50,0,-0.01</GeoTransform>${parts.join("")}</VRTDataset>`;
}
