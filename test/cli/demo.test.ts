// The raster demo as it ships, once from nothing, and what can be done with what it leaves. The embedded database with PostGIS takes its
// time to start; everything here shares the one folder.
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type DemoResult, resultLines } from "../../src/cli/demo/demo_result.js";
import { demoScenes } from "../../src/cli/demo/demo_scenes.js";
import { checkCogFile } from "../../src/geo/cog_check.js";
import { build, root, type Spawned, spawnFanfold } from "./built_program.js";
import { fanfold } from "./fake_terminal.js";

// Of a machine that has much else to do.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 });

let cwd: string;
let told: DemoResult;

beforeAll(async () => {
  cwd = mkdtempSync(path.join(tmpdir(), "fanfold-demo-test-"));
  await build();
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

test("the demo ends in partial success and exits with 0: the whole scenes are usable, the broken one is named", async () => {
  const argv = ["demo", "--scenes", "4", "--size", "256", "--engine", "wasm", "--json"];
  const ended = await spawnFanfold(argv, { cwd }).ended;
  expect([ended.code, ended.err]).toEqual([0, ""]);
  told = JSON.parse(ended.out);
  expect(told).toMatchObject({
    status: "partial_success",
    scene_count: 4,
    usable: {
      cog_count: 3,
      item_count: 3,
      collection: "demo-terrain",
      item_ids: ["terrain-r1c1", "terrain-r1c2", "terrain-r2c2"],
    },
    broken: [{ scene: "terrain-r2c1", error: expect.stringContaining("bronze:demo/terrain-r2c1.tif") }],
  });
  expect(told.vector).toMatchObject({
    status: "completed",
    layers: [
      { name: "land", feature_count: 125 },
      { name: "stations", feature_count: 2996 },
    ],
  });
  const files = readdirSync(told.usable.cogs_folder, { recursive: true, encoding: "utf8" });
  const cogs = files.filter((name) => name.endsWith(".tif")).map((name) => path.join(told.usable.cogs_folder, name));
  expect(cogs).toHaveLength(3);
  for (const cog of cogs) {
    const bytes = readFileSync(cog);
    const check = await checkCogFile(async (at, length) => bytes.subarray(at, at + length), bytes.length);
    expect(check).toEqual({ valid: true, errors: [], warnings: [] });
  }
});

test("a person reads what is usable, what is broken, how to repair it and where to search", () => {
  const text = [...resultLines(told, cwd)].join("\n");
  expect(text).toContain("Partial success, as planned: 3 of 4 scenes are usable now, 1 can be repaired.");
  expect(text).toContain("3 COGs in silver:demo-terrain/ (.fanfold-demo/zones/silver/");
  expect(text).toContain("3 items in the STAC collection demo-terrain");
  expect(text).toContain("broken   terrain-r2c1: ");
  expect(text).toContain(
    "npx fanfold files put --force .fanfold-demo/mended/terrain-r2c1.tif bronze:demo/terrain-r2c1.tif --data-dir .fanfold-demo\n",
  );
  expect(text).toContain(`npx fanfold resume ${told.job_id.slice(0, 12)} --wait --data-dir .fanfold-demo\n`);
  expect(text).toContain("http://127.0.0.1:8080/stac/search?collections=demo-terrain");
  expect(text).toContain("features http://127.0.0.1:8080/ogc/collections/land/items\n");
  expect(text).toContain("tiles    http://127.0.0.1:8080/ogc/collections/stations/tiles/WebMercatorQuad/{z}/{y}/{x}\n");
});

test("demo up serves what the demo left, and its calls as pasted search, open a COG and repair", async () => {
  const up = spawnFanfold(["demo", "up", "--port", "0", "--json"], { cwd });
  const { demo } = await announced(up);
  try {
    const headers = { authorization: `Bearer ${demo.key}` };
    const search = async () => ((await (await fetch(demo.search_url, { headers })).json()) as Found).features;
    const items = await search();
    expect(items.map(({ id }) => id).sort()).toEqual(told.usable.item_ids);
    const part = await fetch(items[0]!.assets.data.href, { headers: { range: "bytes=0-3" } });
    expect([part.status, Buffer.from(await part.arrayBuffer()).toString("hex")]).toEqual([206, "49492a00"]);

    const features = await fetch(demo.layers[0].features_url, { headers });
    expect(await features.json()).toMatchObject({ numberMatched: 125 });
    const tile = demo.layers[0].tiles_url.replace("{z}/{y}/{x}", "0/0/0");
    expect((await fetch(tile, { headers })).headers.get("content-type")).toContain("vector-tile");

    // Another demo would remove what is served.
    const second = await spawnFanfold(["demo"], { cwd }).ended;
    expect(second.code).toBe(5);
    expect(second.err).toContain(new URL(demo.search_url).origin);

    const [put, resume] = demo.repair as [string, string];
    const mended = await spawnFanfold(put.replace("npx fanfold ", "").split(" "), { cwd }).ended;
    expect([mended.code, mended.err]).toEqual([0, ""]);
    const resumed = await fetch(resume.split(" ").at(-1)!, { method: "POST", headers });
    expect(resumed.status).toBe(200);
    await vi.waitFor(async () => expect(await search()).toHaveLength(4), { timeout: 240_000, interval: 500 });
  } finally {
    up.child.kill("SIGINT");
  }
  expect((await up.ended).code).toBe(0);
});

interface Found {
  features: { id: string; assets: { data: { href: string } } }[];
}

// biome-ignore lint/suspicious/noExplicitAny: a document, looked into by the test
function announced(up: Spawned): Promise<any> {
  return up.until('"demo":').then(() => JSON.parse(up.out()));
}

test("the README's commands for a raster of one's own run as they stand", async () => {
  const readme = readFileSync(path.join(root, "README.md"), "utf8");
  copyFileSync(path.join(cwd, ".fanfold-demo/mended/terrain-r2c1.tif"), path.join(cwd, "dem.tif"));
  const lines = ["files put", "submit process_raster "].map((start) => {
    const [, words] = new RegExp(`^npx fanfold (${start}.*?)(?:\\s+#.*)?$`, "m").exec(readme)!;
    return words!.split(" ");
  });
  for (const line of lines) {
    const env = { FANFOLD_DATA_DIR: ".fanfold-demo", FANFOLD_CATALOG: "stac" };
    const ended = await spawnFanfold([...line, "--json"], { cwd, env }).ended;
    expect([line, ended.code, ended.err]).toEqual([line, 0, ""]);
  }
});

test("a folder that is not the demo's is left alone", async () => {
  const folder = path.join(cwd, "precious");
  mkdirSync(folder);
  writeFileSync(path.join(folder, "thesis.txt"), "all of it");
  const refused = await fanfold(["demo", "--data-dir", folder], { cwd });
  expect(refused.code).toBe(2);
  expect(refused.err).toContain("precious holds something that is not the demo's");
  expect(readdirSync(folder)).toEqual(["thesis.txt"]);
});

test("what cannot be meant is refused with what can be", async () => {
  const folder = await fanfold(["demo", "pictures"], { cwd });
  expect([folder.code, folder.err]).toEqual([2, expect.stringContaining("fanfold demo files pictures")]);
  const options = await fanfold(["demo", "--scenes", "1", "--size", "big", "--engine", "gdl"], { cwd });
  expect(options.code).toBe(2);
  for (const word of ["--scenes", "--size", "--engine", "wasm"]) expect(options.err).toContain(word);
});

test("the scenes are the same each time and fit together; one is cut short", () => {
  const [one, again] = [[...demoScenes({ scenes: 3, size: 64 })], [...demoScenes({ scenes: 3, size: 64 })]];
  expect(again).toEqual(one);
  expect(one.map(({ name }) => name)).toEqual(["terrain-r1c1.tif", "terrain-r1c2.tif", "terrain-r2c1.tif"]);
  const broken = one.filter(({ mended }) => mended !== null);
  expect(broken.map(({ name }) => name)).toEqual(["terrain-r1c2.tif"]);
  expect(broken[0]!.content.length).toBeLessThan(broken[0]!.mended!.length);
});

test("npm run demo and npm start are these commands", () => {
  const { scripts } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
  expect([scripts.demo, scripts.start]).toEqual([
    "node scripts/build.mjs --stale && node dist/cli/main.js demo",
    "node scripts/build.mjs --stale && node dist/cli/main.js demo up",
  ]);
});
