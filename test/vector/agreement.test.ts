// Both engines read every format alike: layers, fields, kinds, CRS, and the very lines that are copied into the database.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TaskContext } from "../../src/core/task/context.js";
import { default_raster_settings } from "../../src/core/task/raster_settings.js";
import { parseOgrInfo } from "../../src/geo/ogr_info.js";
import { crsInfo } from "../../src/handlers/raster/gdal/gdal_crs.js";
import { ogrFor } from "../../src/handlers/vector/gdal/ogr_choice.js";
import { openVector } from "../../src/handlers/vector/source/open_source.js";
import { systemGdal } from "../gdal_bin.js";
import { formats } from "./all_formats.js";

const gdal = await systemGdal();
const signal = new AbortController().signal;
const folder = mkdtempSync(join(tmpdir(), "fanfold-agreement-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function contextOf(name: string): TaskContext {
  const scratch = join(folder, name);
  mkdirSync(scratch, { recursive: true });
  const zones = {
    stat: async () => ({ bytes: 1, etag: "", modified_at: "" }),
    download: async ({ key }: { key: string }, path: string) => {
      writeFileSync(path, readFileSync(join(folder, key)));
      return { bytes: 1, sha256: "0".repeat(64) };
    },
  };
  return { scratch: async () => scratch, zones, raster: default_raster_settings, signal } as unknown as TaskContext;
}

describe.skipIf(!gdal.available)(`both engines${gdal.why_not}`, () => {
  beforeAll(async () => {
    await Promise.all(
      Object.values(formats).map(async ({ file, make }) => {
        const path = join(folder, "files", file);
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, await make());
      }),
    );
  }, 60_000);

  async function read(engine_name: "gdal" | "wasm", format: string) {
    const engine = await ogrFor({ ...default_raster_settings, engine: engine_name });
    const ctx = contextOf(`${engine_name}-${format}`);
    const opened = await openVector(ctx, `bronze:files/${formats[format]!.file}`, {});
    const layers = parseOgrInfo(await engine.info(opened, signal), (text) => crsInfo(text).code);
    const dump = join(await ctx.scratch(), "rows.sql");
    await engine.dump(opened, { layer: layers[0]!.name }, dump, signal);
    const lines = readFileSync(dump, "utf8")
      .replace(/^[\s\S]*?FROM STDIN;\n/, "")
      .replace(/\n\\\.\n[\s\S]*$/, "");
    const facts = layers.map(({ name, crs, feature_count, has_geometry, fields }) => ({
      name,
      crs,
      feature_count,
      has_geometry,
      fields: fields.filter((field) => !/Corner$/.test(field.name)),
    }));
    return { format: opened.format, facts, lines };
  }

  test.each(Object.keys(formats))("%s", { timeout: 30_000 }, async (format) => {
    const [system, wasm] = [await read("gdal", format), await read("wasm", format)];
    expect(system.format).toBe(format === "kmz" ? "kml" : format);
    expect(wasm.facts).toEqual(system.facts);
    expect(system.facts[0]).toMatchObject({ feature_count: 5, has_geometry: true });
    // GML's columns differ by release: the plan leaves them out.
    if (format !== "gml") expect(wasm.lines).toBe(system.lines);
    expect(wasm.lines.split("\n").length).toBeGreaterThanOrEqual(5);
  });
});
