// fanfold demo world as it ships, once from nothing, once again, and served.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { PMTiles } from "pmtiles";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type WorldResult, worldLines } from "../../src/cli/demo/demo_world_result.js";
import { readParquet } from "../export/read_parquet.js";
import { build, spawnFanfold } from "./built_program.js";

let cwd: string;
let told: WorldResult;

beforeAll(async () => {
  cwd = mkdtempSync(path.join(tmpdir(), "fanfold-world-test-"));
  await build();
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const world = async (...more: string[]) => spawnFanfold(["demo", "world", ...more], { cwd }).ended;
const pathOf = (name: string, file: string) => {
  const { folder } = told.exports.find((one) => one.name === name)!;
  return path.join(told.gold_folder, folder.slice("gold:exports/".length), file);
};

test("the world is made from nothing: every export is there with its files, and every layer with its cells", async () => {
  const ended = await world("--json");
  expect([ended.code, ended.err]).toEqual([0, ""]);
  told = JSON.parse(ended.out);
  expect(told.jobs.map(({ job_type, is_new }) => [job_type, is_new])).toEqual([
    ["process_raster_collection", true],
    ["create_h3_grid", true],
    ["raster_to_h3", true],
    ["export_vector", true],
    ["export_vector", true],
    ["export_stac", true],
  ]);
  const cells = Object.fromEntries(told.layers.map(({ name, feature_count }) => [name, feature_count]));
  expect(cells.world_cells).toBeGreaterThan(10_000);
  // A pixel of land lies in a cell that touches land.
  expect(cells.world_heights).toBeGreaterThan(10_000);
  expect(cells.world_heights).toBeLessThanOrEqual(cells.world_cells!);

  expect((await readParquet(pathOf("world-heights", "world_heights.parquet"))).rows).toHaveLength(cells.world_heights!);
  const bytes = readFileSync(pathOf("world-heights", "world_heights.pmtiles"));
  const tiles = new PMTiles({
    getKey: () => "world_heights",
    getBytes: async (at, length) => ({ data: Uint8Array.from(bytes.subarray(at, at + length)).buffer }),
  });
  expect(await tiles.getHeader()).toMatchObject({ minZoom: 0, maxZoom: 4 });
  const catalog = JSON.parse(readFileSync(pathOf("world-terrain", "collection.json"), "utf8"));
  expect(catalog.links.filter(({ rel }: { rel: string }) => rel === "item")).toHaveLength(8);
});

test("a second run finds everything done and makes nothing twice", async () => {
  const again = await world("--json");
  expect([again.code, again.err]).toEqual([0, ""]);
  const second: WorldResult = JSON.parse(again.out);
  expect(second.jobs).toEqual(told.jobs.map((job) => ({ ...job, is_new: false })));
  expect([second.exports, second.layers]).toEqual([told.exports, told.layers]);
  const text = [...worldLines(second)].join("\n");
  expect(text).toContain("The world was there already: ");
  expect(text).toContain("world_heights.pmtiles, ");
  expect(text).toContain("npx fanfold demo up --data-dir .fanfold-demo");
});

test("demo up serves the world without making anything else, its layer drawn by height", async () => {
  const up = spawnFanfold(["demo", "up", "--port", "0", "--json"], { cwd });
  try {
    await up.until('"demo":');
    const { demo } = JSON.parse(up.out());
    const headers = { authorization: `Bearer ${demo.key}` };
    const found = (await (await fetch(demo.search_url, { headers })).json()) as { features: { id: string }[] };
    expect(found.features.map(({ id }) => id)).toEqual(expect.arrayContaining(["terrain-r1c1", "world-heights"]));
    expect(demo.layers.map(({ name }: { name: string }) => name)).toEqual(["world_cells", "world_heights"]);
    const { origin } = new URL(demo.search_url);
    const layer = await (await fetch(`${origin}/api/layers/world_heights`, { headers })).json();
    expect(layer).toMatchObject({ style: { kind: "steps", column: "mean" } });
  } finally {
    up.child.kill("SIGINT");
  }
  expect((await up.ended).code).toBe(0);
});
