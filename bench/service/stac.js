// @ts-check
// `npm run bench -- stac`: items a second into each catalogue in batches of 1,000, with pgSTAC's own staging beside our way into its tables,
// and how long searches take afterwards. Needs PostGIS; pgSTAC's figures need its SQL (PGSTAC_SQL, or the test suite's cache).
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { openCatalog } from "../../dist/catalog/open.js";
import { openServer } from "../../dist/engine/database/server_database.js";
import { migrate } from "../../dist/engine/schema/migrate.js";
import { median } from "../statistics.js";

const BATCH = 1_000;
const GOAL = 2_000;

/** About 1.7 kB each, as real items are: three assets that the collection declares, projection and raster fields.
 * @param {number} n */
function anItem(n) {
  const [west, south] = [(n % 3_590) / 10 - 180, ((n * 7) % 1_790) / 10 - 90];
  const ring = [
    [west, south],
    [west + 0.1, south],
    [west + 0.1, south + 0.1],
    [west, south + 0.1],
    [west, south],
  ];
  const asset = (/** @type {string} */ name) => ({
    href: `https://example.com/silver/acme/terrain/2024/tile-${n}/${name}.tif`,
    type: "image/tiff; application=geotiff; profile=cloud-optimized",
    title: `${name} of tile ${n}`,
    roles: ["data"],
    "file:checksum": `1220${String(n).padStart(64, "0")}`,
    "raster:bands": [
      {
        data_type: "float32",
        nodata: -9999,
        statistics: { minimum: n % 100, maximum: 4_000 + (n % 7), mean: 1_234.5678 },
      },
    ],
  });
  return {
    type: "Feature",
    stac_version: "1.1.0",
    stac_extensions: [
      "https://stac-extensions.github.io/projection/v2.0.0/schema.json",
      "https://stac-extensions.github.io/raster/v1.1.0/schema.json",
    ],
    id: `tile-${n}`,
    collection: "bench",
    geometry: { type: "Polygon", coordinates: [ring] },
    bbox: [west, south, west + 0.1, south + 0.1],
    properties: {
      datetime: new Date(Date.UTC(2020, 0, 1) + (n % 1_000_000) * 60_000).toISOString(),
      "eo:cloud_cover": n % 101,
      platform: `platform-${n % 5}`,
      "proj:code": "EPSG:32633",
      "proj:shape": [512, 512],
      "proj:transform": [10, 0, 300_000, 0, -10, 5_000_000],
    },
    links: [],
    assets: { data: asset("data"), mask: asset("mask"), thumbnail: asset("thumbnail") },
  };
}

const declared = { type: "image/tiff; application=geotiff; profile=cloud-optimized", roles: ["data"] };
const collection = {
  type: "Collection",
  stac_version: "1.1.0",
  stac_extensions: [],
  id: "bench",
  description: "Bench",
  license: "other",
  extent: { spatial: { bbox: [[-180, -90, 180, 90]] }, temporal: { interval: [[null, null]] } },
  links: [],
  item_assets: { data: declared, mask: declared, thumbnail: declared },
};

const searches = {
  "newest 100": {},
  "one collection and a bbox, 100": { collections: ["bench"], bbox: [-10, -10, 10, 10] },
  "a month, 100": { datetime: ["2020-01-10T00:00:00Z", "2020-02-10T00:00:00Z"] },
  "CQL2 of two properties, 100": { filter: "eo:cloud_cover < 10 AND platform = 'platform-3'" },
  "sorted by a property, 100": { sortby: [{ field: "eo:cloud_cover", direction: "asc" }] },
  "two ids": { ids: ["tile-7", "tile-999"] },
};

/** @param {import("./place.js").Place} place @param {{ n: number | undefined }} options */
export async function stac({ server, say }, { n }) {
  const most = n ?? 20_000;
  const items = Array.from({ length: most }, (_, k) => anItem(k));
  say(`${most.toLocaleString("en")} items of ${Math.round(JSON.stringify(items[0]).length / 100) / 10} kB`);
  const pgstac = pgstacScript();
  /** @type {import("./main.js").Found["rows"]} */
  const rows = [];
  for (const store of pgstac === null ? ["stac"] : ["stac", "pgstac"]) {
    await server.admin.unsafe(`create database bench_${store}`);
    const url = server.url(`bench_${store}`);
    if (store === "pgstac") await runScript(url, /** @type {string} */ (pgstac));
    const db = openServer(url, { max: 2 });
    try {
      const { catalog: state } = await migrate(db, { catalog: /** @type {"stac" | "pgstac"} */ (store) });
      if (state === undefined || state.obstacle !== null)
        throw new Error(`${state?.obstacle?.problem}: ${state?.obstacle?.fix}`);
      await measure(db, store, items, rows, say);
    } finally {
      await db.close();
    }
  }
  const notes = pgstac === null ? ["pgSTAC was not measured: its SQL is not here (PGSTAC_SQL names the file)."] : [];
  return { title: `Catalogues, ${most.toLocaleString("en")} items in batches of ${BATCH}`, rows, notes };
}

/** @param {any} db @param {string} store @param {any[]} items @param {any[]} rows @param {(line: string) => void} say */
async function measure(db, store, items, rows, say) {
  const catalog = await openCatalog(db, { tenant: "default" });
  const fresh = await rate(db, catalog, "bench", items);
  rows.push({ what: `${store}: inserted`, value: fresh, unit: "items/s", wanted: `≥ ${GOAL}`, met: fresh >= GOAL });
  rows.push({ what: `${store}: replaced`, value: await rate(db, catalog, "bench", items), unit: "items/s" });
  say(`${store}: ${Math.round(fresh)} items/s`);
  if (store === "pgstac") {
    const few = items.slice(0, 2 * BATCH).map((item) => ({ ...item, collection: "staged" }));
    await catalog.putCollection(db, /** @type {any} */ ({ ...collection, id: "staged" }));
    const began = performance.now();
    for (let at = 0; at < few.length; at += BATCH)
      await /** @type {any} */ (catalog).upsert(db, "staged", few.slice(at, at + BATCH));
    rows.push({
      what: "pgstac: through its own staging (upsert_items)",
      value: (few.length * 1_000) / (performance.now() - began),
      unit: "items/s",
    });
    await catalog.deleteCollection(db, "staged");
  }
  await db.script("analyze");
  for (const [name, query] of Object.entries(searches)) {
    const took = [];
    for (let k = 0; k < 9; k++) {
      const began = performance.now();
      await catalog.search(db, /** @type {any} */ ({ ...query, limit: 100 }));
      took.push(performance.now() - began);
    }
    rows.push({ what: `${store}: ${name}`, value: median(took), unit: "ms" });
  }
}

/** @param {any} db @param {any} catalog @param {string} into @param {any[]} items */
async function rate(db, catalog, into, items) {
  await catalog.putCollection(db, collection);
  const writer = await catalog.prepare(db, into);
  const began = performance.now();
  for (let at = 0; at < items.length; at += BATCH) await writer.put(db, items.slice(at, at + BATCH));
  return (items.length * 1_000) / (performance.now() - began);
}

function pgstacScript() {
  const cached = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "fanfold-tests", "pgstac.0.9.11.sql");
  const path = process.env.PGSTAC_SQL || cached;
  return existsSync(path) ? readFileSync(path, "utf8") : null;
}

/** On a connection of its own: pgSTAC's script leaves a role and a search path behind.
 * @param {string} url @param {string} text */
async function runScript(url, text) {
  const db = openServer(url);
  try {
    await db.script(`set client_min_messages = warning; ${text}`);
  } finally {
    await db.close();
  }
}
