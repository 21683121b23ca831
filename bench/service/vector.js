// @ts-check
// `npm run bench -- vector`: lines into a layer beside ogr2ogr's COPY; its features and vector tiles beside tipg from PyPI and plain SQL; raster
// tiles beside titiler from PyPI. Processor time of server and Postgres together, because walls depend on who else is there.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rasterTiles } from "./raster_tiles.js";
import { loadLines, makeLines } from "./vector_load.js";
import { serveLines } from "./vector_serve.js";

/** @param {import("./place.js").Place} place @param {{ n?: number, samples?: number }} options `n` lines, `samples` requests of each kind
 * @returns {Promise<import("./main.js").Found>} */
export async function vector(place, { n = 595_470, samples = 100 }) {
  const dir = mkdtempSync(join(tmpdir(), "fanfold-bench-vector-"));
  try {
    const source = makeLines(dir, n, place.say);
    const load = await loadLines(place, source, n);
    const serve = await serveLines(place, samples);
    const tiles = await rasterTiles(place, { n: Math.min(120, samples) });
    return {
      title: `Vectors: ${n.toLocaleString("en")} lines, ${samples} requests of each kind; raster tiles of a COG`,
      rows: [...load, ...serve.rows, ...tiles.rows],
      notes: [...serve.notes, ...tiles.notes],
    };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
