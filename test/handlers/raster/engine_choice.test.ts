import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { engineFor, openRasterEngine } from "../../../src/handlers/raster/gdal/engine_choice.js";
import { gdal } from "./both_engines.js";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fanfold-choice-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("without GDAL's programs it is the WASM build, unless the operator insists", async () => {
  expect((await openRasterEngine({ prefer: "auto", path: folder })).name).toBe("gdal-wasm");
  await expect(openRasterEngine({ prefer: "gdal", path: folder })).rejects.toMatchObject({
    code: "gdal_missing",
    message: expect.stringContaining("apt-get install gdal-bin"),
  });
});

test("a GDAL that is too old, or half of one, counts as none", async () => {
  for (const version of ["2.4.0", "3.1.4", "3.9.0"]) {
    const path = await mkdtemp(join(folder, "bin-"));
    await writeFile(join(path, "gdalinfo"), `#!/bin/sh\necho "GDAL ${version}, released 2019/01/01"\n`);
    await chmod(join(path, "gdalinfo"), 0o755);
    const found = openRasterEngine({ prefer: "gdal", path: `${path}:${folder}` });
    await expect(found).rejects.toMatchObject({ code: "gdal_missing" });
  }
});

const unless = gdal.available ? "" : ` (skipped: ${gdal.why_not})`;
test.skipIf(!gdal.available)(`where there is GDAL it is used, unless the operator says wasm${unless}`, async () => {
  const path = process.env.PATH ?? "";
  expect((await engineFor({ engine: "auto", path, env: {} })).name).toBe("gdal");
  expect((await engineFor({ engine: "wasm", path, env: {} })).name).toBe("gdal-wasm");
});

test("an engine is opened once, however many tasks ask for it", async () => {
  const asked = Array.from({ length: 3 }, () => openRasterEngine({ prefer: "wasm" }));
  expect(new Set(await Promise.all(asked)).size).toBe(1);
});
