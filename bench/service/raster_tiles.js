// @ts-check
// Raster tiles of one COG beside titiler from PyPI: the same file, the same tiles, the same look; CPU of the server (ours with that of Postgres)
// for each tile, by files never seen before and by known ones. Needs PostGIS and gdal_translate.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openCatalog } from "../../dist/catalog/open.js";
import { openServer } from "../../dist/engine/database/server_database.js";
import { migrate } from "../../dist/engine/schema/migrate.js";
import { createRegistry, openEngine } from "../../dist/index.js";
import { piecesOfFile } from "../../dist/storage/blob_store.js";
import { median } from "../statistics.js";
import { cpuOfTree, postmaster, startPeer } from "./peer_server.js";

const ROUNDS = 3;
const side = 6_000;
const corner = { west: 500_000, north: 5_580_000, pixel: 20 };
const bbox = [14.9, 49.2, 16.7, 50.4];

/** @param {import("./place.js").Place} place @param {{ n?: number }} options @returns {Promise<import("./main.js").Found>} */
export async function rasterTiles(place, { n = 120 }) {
  const { say } = place;
  const dir = mkdtempSync(join(tmpdir(), "fanfold-bench-tiles-"));
  const peer = await startPeer({
    name: "titiler",
    requirements: "tiles_requirements.txt",
    app: "tiles_app:app",
    ready: "/openapi.json",
    env: { GDAL_DISABLE_READDIR_ON_OPEN: "EMPTY_DIR", GDAL_CACHEMAX: "200" },
    say,
  });
  try {
    const items = Array.from({ length: ROUNDS + 1 }, (_, k) => `cog-${k}`);
    const cog = makeCog(dir);
    say(`a COG of ${side} × ${side} pixels, ${Math.round(readFileSync(cog).length / 2 ** 20)} MB`);
    // A file of its own for each round, or the second would find the blocks of the first.
    const files = items.map((item) => join(dir, `${item}.tif`));
    for (const file of files) writeFileSync(file, readFileSync(cog));
    await publish(place, items, cog);
    const server = await place.start("server");
    const key = await place.key("default", ["read"]);
    const tiles = tilesOf(n);
    const postgres = await postmaster(place);
    const sides = [
      {
        name: "fanfold",
        address: (/** @type {number} */ file, /** @type {string} */ at, /** @type {string} */ look) =>
          `${server.ready.url}/tiles/bench/${items[file]}/${at}.png?resampling=nearest&rescale=${look}`,
        headers: { authorization: `Bearer ${key}` },
        cpu: async () => (await server.ask({ what: "usage" })).cpu_ms + cpuOfTree(postgres),
      },
      ...(peer === null
        ? []
        : [
            {
              name: "titiler",
              address: (/** @type {number} */ file, /** @type {string} */ at, /** @type {string} */ look) =>
                `${peer.url}/tiles/WebMercatorQuad/${at}.png?url=${files[file]}&rescale=${look}&resampling=nearest`,
              headers: {},
              cpu: async () => cpuOfTree(peer.pid),
            },
          ]),
    ];
    /** @type {Record<string, Record<string, number[]>>} */
    const found = { fanfold: { cold: [], warm: [], again: [] }, titiler: { cold: [], warm: [], again: [] } };
    for (const one of sides)
      await fetched(
        one,
        tiles.map((at) => one.address(0, at, "0,1500")),
      );
    for (let round = 1; round <= ROUNDS; round++) {
      for (const one of round % 2 === 0 ? sides : [...sides].reverse()) {
        const of = /** @type {Record<string, number[]>} */ (found[one.name]);
        const looks = /** @type {const} */ ([
          ["cold", "0,1600"],
          ["warm", "0,1700"],
          ["again", "0,1700"],
        ]);
        for (const [kind, look] of looks)
          of[kind]?.push(
            await fetched(
              one,
              tiles.map((at) => one.address(round, at, look)),
            ),
          );
        say(`${one.name}: ${looks.map(([kind]) => `${kind} ${of[kind]?.at(-1)?.toFixed(2)} ms`).join(", ")}`);
      }
    }
    return {
      title: `Raster tiles: ${n} of a COG, CPU for each`,
      rows: rowsOf(found, peer !== null),
      notes: notesOf(peer),
    };
  } finally {
    peer?.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

const words = {
  cold: "of a file never read before",
  warm: "another look at known blocks",
  again: "the very same tiles again",
};

/** @param {Record<string, Record<string, number[]>>} found @param {boolean} has_peer */
function rowsOf(found, has_peer) {
  /** @type {import("./main.js").Found["rows"]} */
  const rows = [];
  for (const [kind, what] of Object.entries(words)) {
    const ours = median(found.fanfold?.[kind] ?? []);
    rows.push({ what: `fanfold: ${what}`, value: ours, unit: "ms CPU" });
    if (!has_peer) continue;
    const theirs = median(found.titiler?.[kind] ?? []);
    rows.push({ what: `titiler: ${what}`, value: theirs, unit: "ms CPU" });
    const ratio = ours / theirs;
    const goal = kind === "again" ? {} : { wanted: "≤ 1.5", met: ratio <= 1.5 };
    rows.push({ what: `fanfold / titiler: ${what}`, value: ratio, unit: "×", ...goal });
  }
  return rows;
}

/** @param {unknown} peer */
function notesOf(peer) {
  return peer === null
    ? ["titiler was not measured: it could not be installed from PyPI, or there is no Python."]
    : [
        "Server and Postgres together; titiler has no catalogue and asks nobody who may read what.",
        "The same tiles again come from what the server keeps; titiler keeps blocks only.",
      ];
}

/** CPU for each, in ms. @param {{ cpu(): Promise<number>, headers: Record<string, string> }} one @param {string[]} addresses */
async function fetched({ cpu, headers }, addresses) {
  const before = await cpu();
  for (const address of addresses) {
    const answer = await fetch(address, { headers });
    const bytes = await answer.arrayBuffer();
    if (answer.status !== 200)
      throw new Error(`${address}: ${answer.status} ${Buffer.from(bytes).toString().slice(0, 300)}`);
  }
  return ((await cpu()) - before) / addresses.length;
}

/** Over all zooms from the whole raster to its own pixels. @param {number} n */
function tilesOf(n) {
  const tiles = [];
  for (let k = 0; k < n; k++) {
    const z = 8 + (k % 6);
    const [lon, lat] = [15.1 + ((k * 37) % 100) / 100, 49.4 + ((k * 53) % 100) / 140];
    const size = 2 ** z;
    const s = Math.sin((lat * Math.PI) / 180);
    const [x, y] = [((lon + 180) / 360) * size, (0.5 - Math.log((1 + s) / (1 - s)) / (4 * Math.PI)) * size];
    tiles.push(`${z}/${Math.floor(x)}/${Math.floor(y)}`);
  }
  return tiles;
}

/** Hills with noise on them, in UTM: every tile has to be reprojected. @param {string} dir */
function makeCog(dir) {
  const raw = Buffer.alloc(side * side * 2);
  for (let row = 0, at = 0; row < side; row++)
    for (let column = 0; column < side; column++, at += 2)
      raw.writeInt16LE(
        Math.round(800 + 600 * Math.sin(column / 170) * Math.cos(row / 130) + ((column * 7 + row * 13) % 31)),
        at,
      );
  writeFileSync(join(dir, "raw.bin"), raw);
  const head = [
    "ENVI",
    `samples = ${side}`,
    `lines = ${side}`,
    "bands = 1",
    "header offset = 0",
    "data type = 2",
    "interleave = bsq",
    "byte order = 0",
  ];
  writeFileSync(join(dir, "raw.hdr"), `${head.join("\n")}\n`);
  const { west, north, pixel } = corner;
  const place = ["-a_srs", "EPSG:32633", "-a_ullr", west, north, west + side * pixel, north - side * pixel].map(String);
  const options = ["COMPRESS=DEFLATE", "PREDICTOR=YES", "BLOCKSIZE=512"].flatMap((one) => ["-co", one]);
  execFileSync("gdal_translate", [
    "-q",
    "-of",
    "COG",
    ...place,
    ...options,
    join(dir, "raw.bin"),
    join(dir, "cog.tif"),
  ]);
  return join(dir, "cog.tif");
}

/** @param {import("./place.js").Place} place @param {string[]} items @param {string} cog */
async function publish({ server, storage_dir, say }, items, cog) {
  const owner = openServer(server.url("service"), { max: 1 });
  const { catalog: state } = await migrate(owner, { catalog: "stac" }).finally(() => owner.close());
  if (state?.obstacle) throw new Error(`${state.obstacle.problem}: ${state.obstacle.fix}`);
  const engine = await openEngine({
    database_url: server.url("service"),
    storage_dir,
    registry: createRegistry({}),
    migrate: true,
  });
  try {
    const bytes = readFileSync(cog);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const catalog = await openCatalog(engine.db, { tenant: "default" });
    const [west, south, east, north] = bbox;
    const ring = [
      [west, south],
      [east, south],
      [east, north],
      [west, north],
      [west, south],
    ];
    const extent = { spatial: { bbox: [bbox] }, temporal: { interval: [[null, null]] } };
    const record = { stac_version: "1.1.0", stac_extensions: [], links: [] };
    await catalog.putCollection(
      engine.db,
      /** @type {any} */ ({
        ...record,
        type: "Collection",
        id: "bench",
        description: "Bench",
        license: "other",
        extent,
      }),
    );
    const writer = await catalog.prepare(engine.db, "bench");
    for (const id of items) {
      const key = `${id}.tif`;
      const store = engine.zones.store("silver", "default");
      await store.write(key, piecesOfFile(cog));
      await engine.assets.adopt({
        zone: "silver",
        key,
        name: key,
        bytes: bytes.length,
        sha256,
        media_type: "image/tiff",
      });
      const geometry = { type: "Polygon", coordinates: [ring] };
      const data = { href: store.href(key), type: "image/tiff; application=geotiff", roles: ["data"] };
      const properties = { datetime: "2024-01-01T00:00:00Z" };
      await writer.put(engine.db, [
        /** @type {any} */ ({
          ...record,
          type: "Feature",
          id,
          collection: "bench",
          bbox,
          geometry,
          properties,
          assets: { data },
        }),
      ]);
    }
    say(`${items.length} items`);
  } finally {
    await engine.close();
  }
}
