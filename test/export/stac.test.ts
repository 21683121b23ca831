// export_stac on the embedded database: a catalogue of files that leads to nothing but files, and the same items as stac-geoparquet.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { RasterWorld, scene } from "../jobs/raster_world.js";
import { pythonTools } from "../python_tools.js";
import { eventually } from "../worker/shop.js";
import { readParquet } from "./read_parquet.js";

const python = await pythonTools();
let world: RasterWorld;
beforeAll(async () => {
  world = await RasterWorld.open("embedded");
  await world.worker();
  world.put("bronze:scenes/a.tif", scene({ seed: 1 }));
  world.put("bronze:scenes/b.tif", scene({ seed: 2 }, {}));
  const wanted = {
    sources: { prefix: "bronze:scenes/" },
    collection: "scenes",
    title: "Scenes",
    datetime: "2024-06-21T10:30:00Z",
  };
  const job = await world.run("process_raster_collection", wanted);
  expect(job.error).toBeNull();
}, 180_000);
afterAll(() => world?.close());

interface Exported {
  item_count: number;
  copied_files: number;
  files: Record<string, string>;
  manifest: string;
}

const pathOf = (ref: string) => world.path("gold", ref.slice("gold:".length));
const exported = async (parameters: Record<string, unknown>): Promise<Exported> => {
  const job = await world.run("export_stac", parameters, { mode: "force" });
  expect(job.error).toBeNull();
  return job.result as Exported;
};
const read = (path: string) => JSON.parse(readFileSync(path, "utf8"));

test("a static catalogue with its files stands alone: every link and asset is a file beside it", {
  timeout: 60_000,
}, async () => {
  const made = await exported({ source: "scenes", name: "whole", copy_assets: true });
  expect(made).toMatchObject({ item_count: 2, copied_files: 4 });
  const root = pathOf(made.files.catalog!);
  const folder = dirname(root);
  const seen = new Set<string>();
  const walk = (file: string) => {
    if (seen.has(file)) return;
    seen.add(file);
    const record = read(join(folder, file));
    const hrefs = [...record.links, ...Object.values(record.assets ?? {})].map(({ href }) => href as string);
    for (const href of hrefs) {
      expect(href).toMatch(/^\.\/[\w.-]+$/);
      expect(existsSync(join(folder, href))).toBe(true);
      if (href.endsWith(".json")) walk(href.slice(2));
    }
  };
  walk("catalog.json");
  expect([...seen].filter((file) => file.startsWith("item-"))).toHaveLength(2);
  const listed = read(pathOf(made.manifest)).files.map(({ file }: { file: string }) => file);
  expect(
    readdirSync(folder)
      .filter((file) => file !== "manifest.json")
      .sort(),
  ).toEqual([...listed].sort());
  const item = await world.item("exports", "whole");
  expect(item.properties).toMatchObject({ "fanfold:collection": "scenes", "fanfold:item_count": 2 });
});

test.skipIf(typeof python === "string")(
  "pystac opens the catalogue from its files alone, and finds it valid",
  {
    timeout: 90_000,
  },
  async () => {
    const made = await exported({ source: "scenes", name: "judged", formats: ["static"] });
    if (typeof python === "string") throw new Error(python);
    const verdict = await python.run<Record<string, unknown>>("static.py", pathOf(made.files.catalog!));
    const ids = (await world.items("scenes")).map(({ id }) => id);
    expect(verdict).toEqual({ items: ids, collections: ["scenes"], problems: {} });
  },
);

test("stac-geoparquet has a row for each item, with moments, lists and assets typed", { timeout: 60_000 }, async () => {
  const made = await exported({ source: "scenes", name: "rows", formats: ["geoparquet"] });
  expect(Object.keys(made.files)).toEqual(["items_parquet"]);
  const { rows, geo, metadata } = await readParquet(pathOf(made.files.items_parquet!));
  const items = await world.items("scenes");
  expect(rows.map(({ id }) => id)).toEqual(items.map(({ id }) => id));
  expect(rows[0]).toMatchObject({
    type: "Feature",
    collection: "scenes",
    datetime: new Date("2024-06-21T10:30:00Z"),
    "proj:code": items[0]!.properties["proj:code"],
    assets: { data: { href: items[0]!.assets.data!.href, roles: ["data"] } },
  });
  expect(geo!.columns.geometry).toMatchObject({ encoding: "WKB", geometry_types: ["Polygon"] });
  const told = metadata.key_value_metadata!.find(({ key }) => key === "stac-geoparquet")!;
  expect(JSON.parse(told.value!).collections.scenes).toMatchObject({ title: "Scenes" });
});

test("taking an exported catalogue back takes every file of it, and leaves the collection", {
  timeout: 60_000,
}, async () => {
  const made = await exported({ source: "scenes", name: "leaving" });
  const folder = dirname(pathOf(made.files.catalog!));
  const told = await world.run("unpublish_export", { exports: ["leaving"] });
  expect(told.result).toMatchObject({ dry_run: true, would_remove: { item_count: 1, file_count: 6 } });
  const job = await world.run("unpublish_export", { exports: ["leaving"], dry_run: false });
  expect(job.error).toBeNull();
  await eventually(() => !existsSync(folder) || readdirSync(folder).length === 0);
  expect(await world.items("scenes")).toHaveLength(2);
  // A record goes once its file has gone.
  await expect.poll(() => world.db.sql`select from app.assets where key like 'exports/leaving/%'`).toEqual([]);
});

test("a collection that is not there is named", { timeout: 60_000 }, async () => {
  const job = await world.run("export_stac", { source: "nowhere" });
  expect(job).toMatchObject({ status: "failed", error: { message: expect.stringContaining("no collection nowhere") } });
});
