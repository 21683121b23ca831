// @ts-check
// The lines of vector_load.js served: pages of features, boxes and vector tiles, from us, from tipg with the same rows, and as one statement from
// Node without any server. Every request asks for what no other asked for.
import postgres from "postgres";
import { median } from "../statistics.js";
import { cpuOfTree, postmaster, startPeer } from "./peer_server.js";
import { peer_database } from "./vector_load.js";

const ROUNDS = 3;

/** @typedef {{ items: string } | { tile: [number, number, number] }} Wish */
/** @type {Record<string, { goal_peer: number, goal_sql: number | null, wish: (k: number) => Wish }>} */
const kinds = {
  "items, limit 10": { goal_peer: 0.25, goal_sql: 1.5, wish: () => ({ items: "limit=10" }) },
  "items, limit 1,000": { goal_peer: 0.25, goal_sql: 1.5, wish: () => ({ items: "limit=1000" }) },
  "items, a degree, limit 1,000": {
    goal_peer: 0.25,
    goal_sql: 1.5,
    wish: (k) => ({ items: `limit=1000&bbox=${boxOf(k).join(",")}` }),
  },
  "tile, zoom 6": { goal_peer: 0.5, goal_sql: null, wish: (k) => ({ tile: tileOf(6, k) }) },
  "tile, zoom 8": { goal_peer: 0.5, goal_sql: null, wish: (k) => ({ tile: tileOf(8, k) }) },
  "tile, zoom 10": { goal_peer: 0.5, goal_sql: null, wish: (k) => ({ tile: tileOf(10, k) }) },
};

/** @param {number} k */
function placeOf(k) {
  return [-23 + ((k * 0.618_033_988_75) % 1) * 95, 25 + ((k * 0.754_877_666_25) % 1) * 45];
}

/** @param {number} k */
function boxOf(k) {
  const [lon = 0, lat = 0] = placeOf(k);
  return [lon, lat, lon + 1, lat + 1].map((edge) => Number(edge.toFixed(4)));
}

/** @param {number} z @param {number} k @returns {[number, number, number]} */
function tileOf(z, k) {
  const [lon = 0, lat = 0] = placeOf(k);
  const s = Math.sin((lat * Math.PI) / 180);
  const [x, y] = [(lon + 180) / 360, 0.5 - Math.log((1 + s) / (1 - s)) / (4 * Math.PI)];
  return [z, Math.floor(x * 2 ** z), Math.floor(y * 2 ** z)];
}

/** @param {import("./place.js").Place} place @param {number} n */
export async function serveLines(place, n) {
  const { say, server: database } = place;
  const server = await place.start("server");
  const key = await place.key("default", ["read"]);
  const tree = await postmaster(place);
  const peer = await startPeer({
    name: "tipg",
    requirements: "features_requirements.txt",
    app: "tipg.main:app",
    ready: "/healthz",
    env: { DATABASE_URL: database.url(peer_database), TIPG_DB_SCHEMAS: '["public"]' },
    say,
  });
  const sql = postgres(database.url("service"), { max: 1 });
  try {
    const [layer] = await sql`select table_name from geo.layers where name = 'lines'`;
    /** @type {{ name: string, ask: (wish: Wish) => Promise<number>, cpu: () => Promise<number> }[]} */
    const sides = [
      {
        name: "fanfold",
        ask: (wish) => fetched(ourAddress(server.ready.url, wish), { authorization: `Bearer ${key}` }),
        cpu: async () => (await server.ask({ what: "usage" })).cpu_ms + cpuOfTree(tree),
      },
      {
        name: "plain SQL",
        ask: (wish) => plainly(sql, String(layer?.table_name), wish),
        cpu: async () => {
          const { user, system } = process.cpuUsage();
          return (user + system) / 1000 + cpuOfTree(tree);
        },
      },
      ...(peer === null
        ? []
        : [
            {
              name: "tipg",
              ask: (/** @type {Wish} */ wish) => fetched(theirAddress(peer.url, wish), {}),
              cpu: async () => cpuOfTree(peer.pid) + cpuOfTree(tree),
            },
          ]),
    ];
    const rows = [];
    for (const [kind, { goal_peer, goal_sql, wish }] of Object.entries(kinds)) {
      /** @type {Record<string, number[]>} */
      const found = {};
      for (let round = 0; round <= ROUNDS; round++) {
        for (const side of sides) {
          if (side.name === "plain SQL" && goal_sql === null) continue;
          const before = await side.cpu();
          let bytes = 0;
          for (let k = 0; k < n; k++) bytes += await side.ask(wish(round * n + k));
          const each = ((await side.cpu()) - before) / n;
          // The first round is for what is made once.
          if (round > 0) found[side.name] = [...(found[side.name] ?? []), each];
          else say(`${kind}: ${side.name} ${Math.round(bytes / n)} bytes`);
        }
      }
      rows.push(...rowsOf(kind, found, goal_peer, goal_sql));
    }
    return {
      rows,
      notes: [
        "Plain SQL is one statement of GeoJSON a row, read by Node without HTTP, keys, links or versions: a floor, not a server.",
        ...(peer === null
          ? ["tipg was not measured: it could not be installed from PyPI, or there is no Python."]
          : []),
      ],
    };
  } finally {
    peer?.stop();
    await sql.end();
  }
}

/** @param {string} kind @param {Record<string, number[]>} found @param {number} goal_peer @param {number | null} goal_sql */
function rowsOf(kind, found, goal_peer, goal_sql) {
  /** @type {import("./main.js").Found["rows"]} */
  const rows = Object.entries(found).map(([name, all]) => ({
    what: `${name}: ${kind}`,
    value: median(all),
    unit: "ms CPU",
  }));
  const ours = median(found.fanfold ?? []);
  for (const [name, goal] of /** @type {const} */ ([
    ["tipg", goal_peer],
    ["plain SQL", goal_sql],
  ])) {
    const theirs = found[name];
    if (theirs === undefined || goal === null) continue;
    const value = ours / median(theirs);
    rows.push({ what: `fanfold / ${name}: ${kind}`, value, unit: "×", wanted: `≤ ${goal}`, met: value <= goal });
  }
  return rows;
}

/** @param {string} url @param {Wish} wish */
function ourAddress(url, wish) {
  const layer = `${url}/ogc/collections/lines`;
  if ("items" in wish) return `${layer}/items?f=json&${wish.items}`;
  const [z, x, y] = wish.tile;
  return `${layer}/tiles/WebMercatorQuad/${z}/${y}/${x}`;
}

/** @param {string} url @param {Wish} wish */
function theirAddress(url, wish) {
  const layer = `${url}/collections/public.lines`;
  if ("items" in wish) return `${layer}/items?f=geojson&${wish.items}`;
  return `${layer}/tiles/WebMercatorQuad/${wish.tile.join("/")}`;
}

/** Bytes of the answer. @param {string} address @param {Record<string, string>} headers */
async function fetched(address, headers) {
  const answer = await fetch(address, { headers });
  const bytes = await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`${address}: ${answer.status} ${Buffer.from(bytes).toString().slice(0, 300)}`);
  return bytes.byteLength;
}

/** @param {import("postgres").Sql} sql @param {string} table @param {Wish} wish */
async function plainly(sql, table, wish) {
  if (!("items" in wish)) return 0;
  const asked = new URLSearchParams(wish.items);
  const limit = Number(asked.get("limit"));
  const box = (asked.get("bbox") ?? "").split(",").map(Number);
  const rows =
    box.length < 4
      ? await sql`select fid, river, basin, flow, st_asgeojson(geom) as geom from geo.${sql(table)} order by fid limit ${limit}`
      : await sql`select fid, river, basin, flow, st_asgeojson(geom) as geom from geo.${sql(table)}
          where st_intersects(geom, st_makeenvelope(${box[0] ?? 0}, ${box[1] ?? 0}, ${box[2] ?? 0}, ${box[3] ?? 0}, 4326)) order by fid limit ${limit}`;
  return JSON.stringify(rows).length;
}
