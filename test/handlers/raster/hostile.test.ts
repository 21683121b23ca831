// Files made to do harm, given to the engines without the header check that usually keeps them away. A canary outside of the scratch folder
// must stay unread, and a listener on loopback must stay alone.
import { execFile } from "node:child_process";
import { mkdir, readdir, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeGeoTiff } from "../../../src/cli/demo/geotiff_writer.js";
import { isFanfoldError } from "../../../src/core/errors/errors.js";
import type { CogOptions } from "../../../src/geo/raster.js";
import type { GdalEngine } from "../../../src/handlers/raster/gdal/gdal_engine.js";
import { gdal_settings } from "../../../src/handlers/raster/gdal/gdal_environment.js";
import type { GdalPrograms } from "../../../src/handlers/raster/gdal/gdal_programs.js";
import { broken, claim } from "../../geo/broken.js";
import { type Listener, listen } from "../connectors/listener.js";
import { engineOf, gdal, newPath, scene, signal, withBothEngines, written, writtenScene } from "./both_engines.js";

const plain: CogOptions = {
  target_crs: "EPSG:3857",
  source_crs: "EPSG:32636",
  resampling: "nearest",
  overview_resampling: "nearest",
  compression: "deflate",
  block_size: 256,
};

let listener: Listener;
let canary = "";
beforeAll(async () => {
  listener = await listen((_, response) => void response.writeHead(200).end(writeGeoTiff(scene("dem"))));
  canary = await written(writeGeoTiff({ ...scene("dem"), descriptions: ["canary"] }), "canary.tif");
});
afterAll(() => listener.close());

/** Reading it changes when it was last read, on disks that keep that. */
async function wasRead(work: () => Promise<unknown>): Promise<boolean> {
  const { mtime } = await stat(canary);
  await utimes(canary, 1000, mtime);
  await work();
  return (await stat(canary)).atimeMs !== 1_000_000;
}

const metadata = (items: string) =>
  claim({ 42112: { tag: 42112, type: "ascii", values: `<GDALMetadata>${items}</GDALMetadata>` } });

const overviewAt = (path: string) => metadata(`<Item name="OVERVIEW_FILE" domain="OVERVIEWS">${path}</Item>`);

const vrtOf = (path: string) =>
  `<VRTDataset rasterXSize="64" rasterYSize="64"><GeoTransform>500000,10,0,4000000,0,-10</GeoTransform><VRTRasterBand dataType="Float32" band="1"><SimpleSource><SourceFilename relativeToVRT="0">${path}</SourceFilename><SourceBand>1</SourceBand></SimpleSource></VRTRasterBand></VRTDataset>`;

/** Every way in, at once; what each ended in. */
async function everyWay(engine: GdalEngine, file: string): Promise<unknown[]> {
  const target = await newPath("cog.tif");
  const ended = await Promise.allSettled([
    engine.info(file, signal),
    engine.statistics(file, { approximate: true }, signal),
    engine.suggestWarp(file, { source_crs: "EPSG:32636", target_crs: "EPSG:3857" }, signal),
    engine.cog(file, target, plain, signal),
    engine.validMask(file, { size: 32 }, signal),
  ]);
  return ended.map((one) => (one.status === "rejected" ? one.reason : "done"));
}

withBothEngines("a file made to do harm", (name) => {
  test("ends in an error of ours or in a raster, whatever it is", { timeout: 180_000 }, async () => {
    const engine = await engineOf(name);
    // GDAL describes 65,535 bands one by one, and takes seconds for it.
    // What is no TIFF at all takes the same way whatever else it is.
    const foreign = ["archive", "other_raster_format", "other_file_format"];
    const tiffs = broken.filter(({ code }) => code !== "band_limit");
    const left = tiffs.filter(({ code }, at) => name === "wasm" || !foreign.includes(code) || at % 8 === 0);
    const worker = async () => {
      for (let next = left.pop(); next !== undefined; next = left.pop()) {
        const file = await written(next.bytes, next.file_name);
        const looked = await engine.info(file, signal).catch((error: unknown) => error);
        // Of nothing GDAL would make a picture as large as it was told to; the header check does not let it.
        if (next.code === "pixel_limit") continue;
        if (!(looked instanceof Error)) {
          const made = await engine.cog(file, await newPath("cog.tif"), plain, signal).catch((error: unknown) => error);
          if (made instanceof Error) expect([next.name, isFanfoldError(made)]).toEqual([next.name, true]);
        } else {
          expect([next.name, isFanfoldError(looked), looked.message]).toEqual([
            next.name,
            true,
            expect.not.stringMatching(/\/tmp\//),
          ]);
        }
        expect(await readdir(dirname(file))).toEqual([next.file_name]);
      }
    };
    await Promise.all([worker(), worker(), worker()]);
    expect((await engine.info(await writtenScene("dem"), signal)).width).toBe(150);
  });

  test("is not opened as anything but a TIFF", async () => {
    const engine = await engineOf(name);
    const texts = [vrtOf(canary), vrtOf(`/vsicurl/${listener.url}/x.tif`), `GTIFF_DIR:1:${canary}`];
    const neighbour = await writtenScene("dem");
    const beside = join(dirname(neighbour), "text.tif");
    await writeFile(beside, vrtOf("source.tif").replace('relativeToVRT="0"', 'relativeToVRT="1"'));
    const was_read = await wasRead(async () => {
      const files = [beside];
      for (const text of texts) files.push(await written(Buffer.from(text)));
      for (const file of files) {
        for (const ended of await everyWay(engine, file)) {
          expect(ended).toMatchObject({ code: "gdal_failed" });
        }
      }
    });
    expect([was_read, listener.connections()]).toEqual([false, 0]);
  });

  test("leads to no other file by its metadata", async () => {
    const engine = await engineOf(name);
    const evil = [
      overviewAt(canary),
      overviewAt(`/vsicurl/${listener.url}/x.tif`),
      overviewAt(`/vsicurl_streaming/${listener.url}/x.tif`),
      metadata(`<Item name="X_DATASET" domain="GEOLOCATION">${canary}</Item>`),
    ];
    const was_read = await wasRead(async () => {
      for (const bytes of evil) {
        for (const ended of await everyWay(engine, await written(bytes))) {
          expect(ended).toMatchObject({ code: "unsafe_raster" });
        }
      }
    });
    expect([was_read, listener.connections()]).toEqual([false, 0]);
  });

  test("reaches no network, even if its metadata were overlooked", async () => {
    const engine = await engineOf(name);
    const programs = (engine as unknown as { gdal: GdalPrograms }).gdal;
    for (const prefix of ["/vsicurl/", "/vsicurl_streaming/", "/vsicurl?url="]) {
      const file = await written(overviewAt(`${prefix}${listener.url}/x.tif`));
      await programs.info({ file, driver: "GTiff" }, ["-json"], signal).catch(() => {});
      const target = await newPath("cog.tif");
      await programs.translate({ file, driver: "GTiff" }, target, ["-of", "GTiff"], signal).catch(() => {});
    }
    const vrt = await written(Buffer.from(vrtOf(`/vsicurl/${listener.url}/x.tif`)), "stack.vrt");
    await programs
      .translate({ file: vrt, driver: "VRT" }, await newPath("x.tif"), ["-of", "GTiff"], signal)
      .catch(() => {});
    expect(listener.connections()).toBe(0);
  });

  test("is not followed when it is a link, nor by a name that means more", async () => {
    const engine = await engineOf(name);
    const link = await newPath("link.tif");
    await symlink(canary, link);
    const names = [link, "scene.tif", "/vsimem/x.tif", "/vsicurl/http://127.0.0.1/x.tif", `${dirname(link)}/../x.tif`];
    const odd = ["GTIFF_DIR:1:/etc/passwd", "/tmp/a\nb.tif", "/tmp/-overwrite", "/tmp/<VRTDataset>", "/tmp/x.tif:1"];
    const was_read = await wasRead(async () => {
      for (const file of [...names, ...odd]) {
        for (const ended of await everyWay(engine, file)) {
          expect(["bad_file_name", "missing_file"]).toContain((ended as { code: string }).code);
        }
      }
    });
    expect(was_read).toBe(false);
  });

  test("with pixels that cannot be unpacked gives no half a picture", async () => {
    const engine = await engineOf(name);
    const bytes = writeGeoTiff({ ...scene("dem"), width: 150, height: 110 });
    const at = bytes.length - 3000;
    bytes.fill(0xa5, at, at + 2000);
    const file = await written(bytes);
    await expect(engine.cog(file, await newPath("cog.tif"), plain, signal)).rejects.toMatchObject({
      code: "gdal_failed",
    });
    await expect(engine.statistics(file, { approximate: false }, signal)).rejects.toMatchObject({
      code: "gdal_failed",
    });
  });

  test("cannot say what is written or where: names of bands are text", async () => {
    const engine = await engineOf(name);
    const evil = '</Description></VRTRasterBand><VRTRasterBand band="2"><x>"';
    const file = await written(writeGeoTiff({ ...scene("dem"), descriptions: [evil] }));
    const target = await newPath("cog.tif");
    await engine.cog(file, target, { ...plain, bands: [1] }, signal);
    expect((await engine.info(target, signal)).bands.map(({ description }) => description)).toEqual([evil]);
  });
});

describe("the WASM build", () => {
  test("that crashes says so, and the next call has a new one", async () => {
    const engine = await engineOf("wasm");
    const programs = (engine as unknown as { gdal: { work: (...given: unknown[]) => Promise<unknown> } }).gdal;
    const fatal = 4;
    type Call = { number(name: string, types: string[], values: unknown[]): number };
    const crash = (call: Call) => call.number("CPLError", ["number", "number", "string"], [fatal, 1, "made to crash"]);
    const file = await writtenScene("dem");
    await expect(programs.work("it cannot be done", [file], signal, crash)).rejects.toMatchObject({
      code: "gdal_crashed",
      message: expect.stringContaining("made to crash"),
    });
    expect((await engine.info(file, signal)).width).toBe(150);
  });

  test("that runs out of memory says so, and the next call has a new one", async () => {
    const engine = await engineOf("wasm");
    const programs = (engine as unknown as { gdal: { work: (...given: unknown[]) => Promise<unknown> } }).gdal;
    const run_out = () => {
      throw new RangeError("Array buffer allocation failed");
    };
    await expect(programs.work("it cannot be done", [], signal, run_out)).rejects.toMatchObject({
      code: "raster_memory",
    });
    expect((await engine.info(await writtenScene("dem"), signal)).width).toBe(150);
  });
});

describe.skipIf(!gdal.available)(`system GDAL${gdal.available ? "" : `: skipped, ${gdal.why_not}`}`, () => {
  const run = promisify(execFile);

  test("left alone would be led anywhere by these files: the corpus bites", async () => {
    const file = await written(overviewAt(`/vsicurl/${listener.url}/x.tif`));
    const before = listener.connections();
    await run("gdalinfo", [file]).catch(() => {});
    expect(listener.connections()).toBeGreaterThan(before);
    const other = await written(overviewAt(canary));
    const { stdout } = await run("gdalinfo", [other]);
    expect(stdout).toContain("Overviews: 150x110");
  });

  test("gets nothing of this process's environment, and leaves nothing in its folder", async () => {
    const engine = await engineOf("gdal");
    const program = (engine as unknown as { gdal: { program: { wrapper: string[]; env: Record<string, string> } } })
      .gdal.program;
    const known = [...Object.keys(gdal_settings), "PATH", "GDAL_SKIP"];
    expect(Object.keys(program.env).filter((key) => !known.includes(key))).toEqual([]);
    expect(program.env.GDAL_SKIP!.split(",")).toEqual(expect.arrayContaining(["WMS", "HTTP", "STACIT", "PNG"]));
    expect(program.env.GDAL_SKIP!.split(",").filter((one) => ["GTiff", "COG", "VRT"].includes(one))).toEqual([]);
  });

  test("is ended in the middle of its work by the task's signal", async () => {
    const engine = await engineOf("gdal");
    const file = await newPath("slow.tif");
    await mkdir(join(dirname(file), "out"));
    // Four hundred million pixels of nothing, in a few bytes.
    await run("gdal_create", [
      "-of",
      "GTiff",
      "-outsize",
      "20000",
      "20000",
      "-ot",
      "Float32",
      "-a_srs",
      "EPSG:32636",
      "-a_ullr",
      "500000",
      "4500000",
      "700000",
      "4300000",
      "-co",
      "SPARSE_OK=TRUE",
      "-co",
      "TILED=YES",
      file,
    ]);
    const giving_up = new AbortController();
    const target = join(dirname(file), "out", "cog.tif");
    const made = engine.cog(file, target, { ...plain, resampling: "cubic" }, giving_up.signal);
    // It has begun to write.
    while ((await readdir(dirname(target))).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    giving_up.abort(new Error("given up"));
    await expect(made).rejects.toThrow("given up");
  });

  test("cannot take more memory or time than it may", async () => {
    const { openCliEngine } = await import("../../../src/handlers/raster/gdal/engine_cli.js");
    const settings = {
      path: process.env.PATH!,
      env: {},
      limits: { memory_mb: 60, cpu_s: 60, file_gb: 1, cache_mb: 16 },
    };
    const tight = (await openCliEngine(settings))!;
    const wrapper = (tight as unknown as { gdal: { program: { wrapper: string[] } } }).gdal.program.wrapper;
    if (!wrapper.includes("prlimit")) return;
    await expect(tight.info(await writtenScene("dem"), signal)).rejects.toMatchObject({ category: "permanent" });
  });
});
