// @ts-check
// Two-point lines, as many as a large river network has, from a GeoPackage into Postgres: by ogr2ogr with COPY into a table with an index, and by
// process_vector into a layer (checked, counted, indexed, with its low zooms and its record).
import { execFileSync, spawn } from "node:child_process";
import { closeSync, copyFileSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { tenantPrefix } from "../../dist/core/places/store.js";
import { openServer } from "../../dist/engine/database/server_database.js";
import { migrate } from "../../dist/engine/schema/migrate.js";
import { cpuOfTree, postmaster } from "./peer_server.js";

const TIMED = fileURLToPath(new URL("../raster/timed.py", import.meta.url));

/** Where the peers of the serving find the same lines. */
export const peer_database = "peer_lines";

/** Where Europe is: 24 W to 74 E, 24 to 72 N. @param {string} dir @param {number} n @param {(line: string) => void} say */
export function makeLines(dir, n, say) {
  const [csv, gpkg] = [join(dir, "lines.csv"), join(dir, "lines.gpkg")];
  const file = openSync(csv, "w");
  let text = "river,basin,flow,WKT\n";
  for (let at = 0; at < n; at++) {
    // Spread evenly without a pattern that any grid has, too.
    const [lon, lat] = [-24 + ((at * 0.618_033_988_75) % 1) * 98, 24 + ((at * 0.754_877_666_25) % 1) * 48];
    const [to_lon, to_lat] = [lon + 0.03 * Math.sin(at), lat + 0.03 * Math.cos(at)];
    text += `${at},b${at % 977},${(at % 1000) / 7},"LINESTRING(${lon.toFixed(6)} ${lat.toFixed(6)},${to_lon.toFixed(6)} ${to_lat.toFixed(6)})"\n`;
    if (text.length > 1_000_000) {
      writeSync(file, text);
      text = "";
    }
  }
  writeSync(file, text);
  closeSync(file);
  const options = ["-oo", "AUTODETECT_TYPE=YES", "-oo", "KEEP_GEOM_COLUMNS=NO", "-a_srs", "EPSG:4326", "-nln", "lines"];
  execFileSync("ogr2ogr", ["-f", "GPKG", gpkg, csv, ...options]);
  say(`${n.toLocaleString("en")} lines made`);
  return gpkg;
}

/** @param {import("./place.js").Place} place @param {string} source @param {number} n */
export async function loadLines(place, source, n) {
  const postgres = await postmaster(place);
  const peer = await byOgr2ogr(place, source, postgres);
  const ours = await byUs(place, source, postgres);
  const each = (/** @type {{ cpu_s: number, server_s: number }} */ used) => ((used.cpu_s + used.server_s) / n) * 1e6;
  const more = (/** @type {{ cpu_s: number, server_s: number, peak_mb: number }} */ used) =>
    `${used.cpu_s.toFixed(1)} s, Postgres ${used.server_s.toFixed(1)} s, ${Math.round(used.peak_mb)} MB at most`;
  for (const [name, used] of Object.entries({ ogr2ogr: peer, fanfold: ours })) place.say(`${name}: ${more(used)}`);
  const ratio = each(ours) / each(peer);
  return [
    { what: "ogr2ogr: COPY and an index, CPU a line", value: each(peer), unit: "µs", more: more(peer) },
    { what: "fanfold: process_vector, CPU a line", value: each(ours), unit: "µs", more: more(ours) },
    { what: "fanfold / ogr2ogr: a line", value: ratio, unit: "×", wanted: "≤ 1.3", met: ratio <= 1.3 },
    { what: "fanfold: memory of the load", value: ours.peak_mb, unit: "MB", wanted: "< 300", met: ours.peak_mb < 300 },
  ];
}

/** @param {import("./place.js").Place} place @param {string} source @param {number} postgres */
async function byOgr2ogr({ server }, source, postgres) {
  await server.admin.unsafe(`create database ${peer_database}`);
  const db = openServer(server.url(peer_database), { max: 1 });
  await db.script("create extension postgis");
  await db.close();
  const { hostname, port, username } = new URL(server.url(peer_database));
  const to = `PG:host=${hostname} port=${port} user=${username} dbname=${peer_database}`;
  const options = ["--config", "PG_USE_COPY", "YES", "-nln", "lines", "-lco", "GEOMETRY_NAME=geom"];
  const before = cpuOfTree(postgres);
  const used = await timed(["ogr2ogr", "-f", "PostgreSQL", to, source, ...options]);
  return { ...used, server_s: (cpuOfTree(postgres) - before) / 1000 };
}

/** @param {import("./place.js").Place} place @param {string} source @param {number} postgres */
async function byUs({ server, storage_dir, start }, source, postgres) {
  const database_url = server.url("service");
  const db = openServer(database_url, { max: 1 });
  const { catalog } = await migrate(db, { catalog: "stac" }).finally(() => db.close());
  if (catalog?.obstacle) throw new Error(`${catalog.obstacle.problem}: ${catalog.obstacle.fix}`);
  const bronze = join(storage_dir, "zones", "bronze", tenantPrefix("default"));
  mkdirSync(bronze, { recursive: true });
  copyFileSync(source, join(bronze, "lines.gpkg"));
  const scratch_dir = join(storage_dir, "scratch");
  const settings = { database_url, slots: 1, raster_engine: "gdal", scratch_dir };
  const worker = await start("raster_worker", settings);
  const before = cpuOfTree(postgres);
  const used = await worker.ask({
    type: "process_vector",
    parameters: { source: "bronze:lines.gpkg", layer: "lines" },
  });
  if (used.status !== "completed") throw new Error(`the job ended as ${used.status}: ${JSON.stringify(used.error)}`);
  const server_s = (cpuOfTree(postgres) - before) / 1000;
  await worker.stop();
  return { ...used, server_s };
}

/** @param {string[]} command @returns {Promise<{ wall_s: number, cpu_s: number, peak_mb: number }>} */
function timed(command) {
  return new Promise((resolve, reject) => {
    const child = spawn("python3", [TIMED, ...command], { stdio: ["ignore", "pipe", "inherit"] });
    let told = "";
    child.stdout.on("data", (text) => {
      told += text;
    });
    child.on("error", reject);
    child.on("close", () => {
      const used = told === "" ? { code: 1 } : JSON.parse(told);
      if (used.code === 0) resolve(used);
      else reject(new Error(`${command.slice(0, 3).join(" ")} failed`));
    });
  });
}
