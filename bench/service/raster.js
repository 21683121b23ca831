// @ts-check
// `npm run bench -- raster`: rasters into COGs, statistics, pictures, checksums and STAC items, beside a shell loop over GDAL's programs and
// a Python script (rio-cogeo, rio-stac) that do the same and load with pypgstac; and one large raster beside gdalwarp. Needs GDAL (gdal-bin)
// and PostGIS; peers that cannot be had are named and left out. Processor time is that of all processes but Postgres.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { deflateSync } from "node:zlib";
import { tenantPrefix } from "../../dist/core/places/store.js";
import { openServer } from "../../dist/engine/database/server_database.js";
import { migrate } from "../../dist/engine/schema/migrate.js";
import { syntheticScene, writeGeoTiff } from "../../dist/index.js";
import { UsageError } from "../options.js";
import { median } from "../statistics.js";

const HERE = fileURLToPath(new URL("../raster", import.meta.url));
const WORKER = fileURLToPath(new URL("raster_worker.js", import.meta.url));
const COG = fileURLToPath(new URL("raster_cog.js", import.meta.url));
const SIDE = 512;
const LARGE = 8192;

/**
 * @typedef {{ wall_s: number, cpu_s: number, peak_mb: number }} Used
 * @typedef {{ name: string, runs: Used[] }} Side
 */

const PARTS = ["tiles", "wasm", "large"];
/** WASM is compared with programs on fewer tiles. */
const WASM_TILES = 24;

/** @param {import("./place.js").Place} place
 * @param {{ n?: number | undefined, samples?: number | undefined, only?: string[] | undefined }} options `n` tiles, `samples` rounds, `only` these parts
 * @returns {Promise<import("./main.js").Found>} */
export async function raster({ server, say }, { n = 234, samples = 3, only = PARTS }) {
  const unknown = only.filter((part) => !PARTS.includes(part));
  if (unknown.length > 0) throw new UsageError(`--only: there is no ${unknown.join(", ")}: ${PARTS.join(", ")}`);
  if (spawnSync("gdalwarp", ["--version"]).status !== 0)
    throw new Error("there is no GDAL here: apt-get install gdal-bin");
  const dir = mkdtempSync(join(tmpdir(), "fanfold-bench-raster-"));
  const peers = environment(say);
  try {
    const bench = { server, say, dir, samples, python: typeof peers === "string" ? null : peers.python };
    const notes = typeof peers === "string" ? [`Without the Python peers: ${peers}`] : [];
    const rows = [];
    if (only.includes("tiles")) rows.push(...(await tilesPart(bench, n)));
    if (only.includes("wasm")) rows.push(...(await wasmPart(bench)));
    if (only.includes("large")) rows.push(...(await largePart(bench)));
    return { title: `Rasters at 2 slots, medians of ${samples}; CPU without Postgres`, rows, notes };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** @param {Bench} bench @param {number} n */
async function tilesPart(bench, n) {
  const sources = tiles(bench.dir, n, bench.say);
  const ours = await rounds(bench, "Fanfold", () => fanfold(bench, sources, "source", "auto"));
  const cold = await rounds(bench, "Fanfold, GDAL's programs", () => fanfold(bench, sources, "source", "gdal"));
  const rows = [...lines(`${n} tiles of ${SIDE}²`, ours), ...lines(`${n} tiles`, cold)];
  if (bench.python === null) return rows;
  const loop = await rounds(bench, "shell loop", () => shellLoop(bench, sources, "source"));
  const script = await rounds(bench, "Python script", () => pythonScript(bench, sources, "source"));
  for (const peer of [loop, script]) rows.push(...lines(`${n} tiles`, peer), ...ratios(ours, peer, 2, 1.2));
  return rows;
}

/** @param {Bench} bench */
async function wasmPart(bench) {
  const sources = tiles(bench.dir, WASM_TILES, bench.say);
  const wasm = await rounds(bench, "Fanfold, WASM", () => fanfold(bench, sources, "source", "wasm"));
  const native = await rounds(bench, "Fanfold, GDAL's programs", () => fanfold(bench, sources, "source", "gdal"));
  return [
    ...lines(`${WASM_TILES} tiles`, wasm),
    ...lines(`${WASM_TILES} tiles`, native),
    ...ratios(wasm, native, 4, null),
  ];
}

/** @param {Bench} bench */
async function largePart(bench) {
  const large = largeSource(bench.dir, bench.say);
  const wanted = { resampling: "bilinear" };
  const whole = await rounds(bench, "Fanfold, to EPSG:3857", () =>
    fanfold(bench, [large], "EPSG:3857", "auto", wanted),
  );
  const cog = await rounds(bench, "its COG by itself", () => cogAlone(bench, large));
  const warp = await rounds(bench, "gdalwarp -of COG", () => gdalwarp(bench, large));
  const what = `${LARGE}² × 4`;
  const rows = [whole, cog, warp].flatMap((side) => lines(what, side));
  return [...rows, ...ratios(whole, warp, 1.3, null), ...ratios(cog, warp, 1.15, null)];
}

/** @typedef {{ server: import("../server.js").Server, say: (line: string) => void, dir: string, samples: number, python: string | null }} Bench */

/** @param {Bench} bench @param {string} name @param {() => Promise<Used>} run @returns {Promise<Side>} */
async function rounds({ say, samples }, name, run) {
  const runs = [];
  for (let at = 0; at < samples; at++) {
    const used = await run();
    say(`${name}: ${used.wall_s.toFixed(1)} s, ${used.cpu_s.toFixed(1)} CPU s, ${Math.round(used.peak_mb)} MB`);
    runs.push(used);
  }
  return { name, runs };
}

/** @param {Side} side @param {"wall_s" | "cpu_s" | "peak_mb"} field */
const middle = ({ runs }, field) => median(runs.map((one) => one[field]));

/** @param {string} what @param {Side} side */
function lines(what, side) {
  const more = `${middle(side, "wall_s").toFixed(1)} s wall, ${Math.round(middle(side, "peak_mb"))} MB at most`;
  return [{ what: `${what}: ${side.name}`, value: middle(side, "cpu_s"), unit: "CPU s", more }];
}

/** @param {Side} ours @param {Side} peer @param {number} cpu @param {number | null} wall */
function ratios(ours, peer, cpu, wall) {
  const ratio = (/** @type {"wall_s" | "cpu_s"} */ field) => middle(ours, field) / middle(peer, field);
  const wanted = (/** @type {number | null} */ most, /** @type {number} */ value) =>
    most === null ? {} : { wanted: `≤ ${most} ×`, met: value <= most };
  return [
    {
      what: `CPU of ${ours.name} to that of ${peer.name}`,
      value: ratio("cpu_s"),
      unit: "×",
      ...wanted(cpu, ratio("cpu_s")),
    },
    {
      what: `time of ${ours.name} to that of ${peer.name}`,
      value: ratio("wall_s"),
      unit: "×",
      ...wanted(wall, ratio("wall_s")),
    },
  ];
}

let jobs = 0;
/** In a database and a folder of its own, made before the clock runs. @param {Bench} bench @param {string[]} sources
 * @param {string} target_crs @param {"auto" | "gdal" | "wasm"} engine @param {object} [more] parameters @returns {Promise<Used>} */
async function fanfold({ server, dir }, sources, target_crs, engine, more = {}) {
  const database = `fanfold${jobs++}`;
  await server.admin.unsafe(`create database ${database}`);
  const database_url = server.url(database);
  const db = openServer(database_url, { max: 1 });
  const { catalog } = await migrate(db, { catalog: "stac" });
  await db.close();
  if (catalog?.obstacle) throw new Error(`${catalog.obstacle.problem}: ${catalog.obstacle.fix}`);
  const storage_dir = join(dir, database);
  const bronze = join(storage_dir, "zones", "bronze", tenantPrefix("default"));
  mkdirSync(bronze, { recursive: true });
  for (const [at, source] of sources.entries()) writeFileSync(join(bronze, `t${at}.tif`), readFileSync(source));
  const list = sources.map((_, at) => `bronze:t${at}.tif`);
  const parameters = { sources: { list }, collection: "bench", target_crs, homogeneity: "warn", ...more };
  const told = join(storage_dir, "told.json");
  const job = { type: "process_raster_collection", parameters };
  const scratch_dir = join(storage_dir, "scratch");
  const settings = { database_url, storage_dir, scratch_dir, slots: 2, engine, job, told };
  try {
    const used = await timed([process.execPath, WORKER, JSON.stringify(settings)]);
    const { status, error, wall_s } = JSON.parse(readFileSync(told, "utf8"));
    if (status !== "completed") throw new Error(`the job ended as ${status}: ${JSON.stringify(error)}`);
    return { ...used, wall_s };
  } finally {
    rmSync(storage_dir, { recursive: true, force: true });
  }
}

/** @param {Bench} bench @param {string[]} sources @param {string} crs */
async function shellLoop(bench, sources, crs) {
  const folder = freshFolder(bench);
  const loop = ["xargs", "-P2", "-I{}", join(HERE, "peer_loop.sh"), "{}", folder, crs];
  const made = await timed(loop, { stdin: sources.join("\n") });
  return sum([
    made,
    await timed([bench.python ?? "", join(HERE, "peers.py"), "items", folder]),
    await load(bench, folder),
  ]);
}

/** @param {Bench} bench @param {string[]} sources @param {string} crs */
async function pythonScript(bench, sources, crs) {
  const folder = freshFolder(bench);
  const made = await timed([bench.python ?? "", join(HERE, "peers.py"), "cogs", folder, crs, ...sources]);
  return sum([made, await load(bench, folder)]);
}

/** @param {Bench} bench @param {string} source */
function cogAlone(bench, source) {
  const made = { compression: "deflate", block_size: 512, resampling: "bilinear", overview_resampling: "average" };
  const target = join(freshFolder(bench), "cog.tif");
  return timed([process.execPath, COG, JSON.stringify({ source, target, target_crs: "EPSG:3857", ...made })]);
}

/** @param {Bench} bench @param {string} source */
function gdalwarp(bench, source) {
  const options = ["COMPRESS=DEFLATE", "PREDICTOR=YES", "NUM_THREADS=1", "OVERVIEW_RESAMPLING=AVERAGE"];
  const creation = options.flatMap((one) => ["-co", one]);
  const target = join(freshFolder(bench), "cog.tif");
  return timed(["gdalwarp", "-q", "-t_srs", "EPSG:3857", "-r", "bilinear", "-of", "COG", ...creation, source, target]);
}

let loads = 0;
/** Into a database of its own, whose tables are made before the clock runs. @param {Bench} bench @param {string} folder */
async function load(bench, folder) {
  const name = `peers${loads++}`;
  await bench.server.admin.unsafe(`create database ${name}`);
  const { hostname, port, username } = new URL(bench.server.url(name));
  const env = { PGHOST: hostname, PGPORT: port, PGUSER: username, PGDATABASE: name };
  const run = (/** @type {string[]} */ args) => timed([bench.python ?? "", ...args], { env });
  await run(["-m", "pypgstac.pypgstac", "migrate"]);
  const extent = {
    spatial: { bbox: [[-180, -90, 180, 90]] },
    temporal: { interval: [["2020-01-01T00:00:00Z", null]] },
  };
  const about = {
    type: "Collection",
    stac_version: "1.0.0",
    id: "peers",
    description: "Bench",
    license: "other",
    extent,
    links: [],
  };
  const collection = join(folder, "collection.json");
  writeFileSync(collection, JSON.stringify(about));
  await run(["-m", "pypgstac.pypgstac", "load", "collections", collection, "--method", "upsert"]);
  return run([join(HERE, "peers.py"), "load", folder]);
}

/** @param {string[]} command @param {{ stdin?: string, env?: Record<string, string> }} [more] @returns {Promise<Used>} */
function timed(command, { stdin = "", env = {} } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn("python3", [join(HERE, "timed.py"), ...command], { env: { ...process.env, ...env } });
    let [told, said] = ["", ""];
    child.stdout.on("data", (text) => {
      told += text;
    });
    child.stderr.on("data", (text) => {
      said = (said + text).slice(-2000);
    });
    child.stdin.end(stdin);
    child.on("error", reject);
    child.on("close", () => {
      const used = told === "" ? { code: 1 } : JSON.parse(told);
      if (used.code === 0) resolve(used);
      else reject(new Error(`${command.slice(0, 4).join(" ")} failed: ${said}`));
    });
  });
}

/** @param {Used[]} parts @returns {Used} */
function sum(parts) {
  return parts.reduce((all, one) => ({
    wall_s: all.wall_s + one.wall_s,
    cpu_s: all.cpu_s + one.cpu_s,
    peak_mb: Math.max(all.peak_mb, one.peak_mb),
  }));
}

let folders = 0;
/** @param {Bench} bench */
function freshFolder({ dir }) {
  const folder = join(dir, `peer${folders++}`);
  mkdirSync(folder);
  return folder;
}

/** Hills of floats, each tile another part of them. @param {string} dir @param {number} n @param {(line: string) => void} say */
function tiles(dir, n, say) {
  say(`making ${n} tiles`);
  return Array.from({ length: n }, (_, at) => {
    const pixels = syntheticScene({ seed: at % 16, width: SIDE, height: SIDE, look: "dem" });
    const origin = [500_000 + (at % 40) * SIDE * 10, 4_500_000 - Math.floor(at / 40) * SIDE * 10];
    const file = join(dir, `tile${at}.tif`);
    writeFileSync(file, geoTiff(pixels, /** @type {[number, number]} */ (origin), 10, 256));
    return file;
  });
}

/** Four bands of 16 bits, stretched from a smaller one. @param {string} dir @param {(line: string) => void} say */
function largeSource(dir, say) {
  say(`making one raster of ${LARGE}² × 4`);
  const side = LARGE / 8;
  const bands = [1, 2, 3, 4].map((band) =>
    Uint16Array.from({ length: side * side }, (_, at) => {
      const [x, y] = [at % side, Math.floor(at / side)];
      return 2000 + band * 300 + 900 * Math.sin(x / 21) * Math.cos(y / 17) + ((x * 7 + y * 13) % 97);
    }),
  );
  const [small, large] = [join(dir, "small.tif"), join(dir, "large.tif")];
  const scene = { width: side, height: side, data_type: /** @type {const} */ ("uint16"), bands, nodata: 0 };
  writeFileSync(small, geoTiff(scene, [500_000, 4_500_000], 80, 256));
  const size = ["-outsize", String(LARGE), String(LARGE), "-r", "bilinear"];
  const options = ["TILED=YES", "BLOCKXSIZE=512", "BLOCKYSIZE=512", "COMPRESS=DEFLATE", "PREDICTOR=2"];
  const made = spawnSync("gdal_translate", ["-q", ...size, ...options.flatMap((one) => ["-co", one]), small, large]);
  if (made.status !== 0) throw new Error(`the large raster could not be made: ${made.stderr}`);
  return large;
}

/** @param {any} pixels @param {[number, number]} origin @param {number} pixel @param {number} tile */
function geoTiff(pixels, [x, y], pixel, tile) {
  return writeGeoTiff({
    ...pixels,
    transform: [x, pixel, 0, y, 0, -pixel],
    crs: { epsg: 32636, kind: "projected" },
    tile,
    deflate: (bytes) => new Uint8Array(deflateSync(bytes)),
  });
}

/** Made once; why not, where it cannot be. @param {(line: string) => void} say @returns {{ python: string } | string} */
function environment(say) {
  const venv = join(HERE, ".venv");
  const python = join(venv, "bin", "python");
  const wanted = readFileSync(join(HERE, "requirements.txt"), "utf8");
  const mark = join(venv, "made_of");
  if (existsSync(mark) && readFileSync(mark, "utf8") === wanted) return { python };
  say("installing the peers");
  const pip = ["-m", "pip", "--disable-pip-version-check", "--quiet", "install", "--prefer-binary"];
  for (const [command = "", ...args] of [
    ["python3", "-m", "venv", "--clear", venv],
    [python, ...pip, "-r", join(HERE, "requirements.txt")],
  ]) {
    const { status, stderr } = spawnSync(command, args, { encoding: "utf8" });
    if (status !== 0) return `they cannot be installed: ${stderr.trim().split("\n").at(-1)}`;
  }
  writeFileSync(mark, wanted);
  return { python };
}
