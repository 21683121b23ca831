// @ts-check
// `npm run bench -- h3`. Cells: how many a CPU second generates and writes as lines of COPY, with and without outlines, and how many pixels it counts into them.
// CPU of this process, not wall time: other work on the machine does not count.
import { setImmediate as rest } from "node:timers/promises";
import { openServer } from "../dist/engine/database/server_database.js";
import { Area, walkArea } from "../dist/geo/h3/area.js";
import { allBaseCells, forEachDescendant, resolutionOf } from "../dist/geo/h3/cell.js";
import { CellFinder } from "../dist/geo/h3/cell_finder.js";
import { tallyBlock } from "../dist/geo/h3/pixel_cells.js";
import { Tallies } from "../dist/geo/h3/tallies.js";
import { toDegrees } from "../dist/geo/projections.js";
import { cellLines } from "../dist/handlers/h3/cell_lines.js";
import { UsageError } from "./options.js";
import { startServer } from "./server.js";

const quiet = new AbortController().signal;

/** @param {() => Promise<number>} work @returns {Promise<{ count: number, cpu_s: number, per_cpu_s: number }>} */
async function perCpuSecond(work) {
  await rest();
  const before = process.cpuUsage();
  const count = await work();
  const { user, system } = process.cpuUsage(before);
  const cpu_s = (user + system) / 1e6;
  return { count, cpu_s, per_cpu_s: Math.round(count / cpu_s) };
}

/** @param {number} resolution @param {"none" | "polygon"} geometry */
async function cells(resolution, geometry) {
  let count = 0;
  for (const base of allBaseCells()) {
    /** @type {number[]} */
    const found = [];
    forEachDescendant(base, resolution, (cell) => void found.push(cell));
    const pieces = await cellLines(found, geometry, quiet);
    for (const { rows } of pieces) count += rows;
  }
  return count;
}

/** Nine million pixels of 32 bits, as the page of measured facts has them. @param {number} resolution */
async function pixels(resolution) {
  const side = 3000;
  const values = Float32Array.from({ length: side * side }, (_, i) => (i % 100 === 0 ? -9999 : (i * 7919) % 1000));
  const finder = new CellFinder(resolution);
  const tallies = new Tallies(false);
  const place = {
    transform: /** @type {[number, number, number, number, number, number]} */ ([7, 0.001, 0, 48, 0, -0.001]),
    to_degrees: /** @type {import("../dist/geo/projections.js").ToDegrees} */ (toDegrees("EPSG:4326")),
    nodata: -9999,
    also_nodata: Number.NaN,
  };
  const block = { column: 0, row: 0, width: side, height: side, stride: side, values, step: 1, first: 0, valid: null };
  tallyBlock(block, place, finder, tallies);
  return side * side;
}

/** A star of 20,000 edges: what is tested is its border. */
async function border() {
  const ring = /** @type {[number, number][]} */ (
    Array.from({ length: 20_001 }, (_, i) => {
      const angle = (i * 2 * Math.PI) / 20_000;
      const radius = 20 + 3 * Math.sin(angle * 97);
      return [10 + radius * Math.cos(angle), 20 + radius * Math.sin(angle)];
    })
  );
  let count = 0;
  walkArea(allBaseCells(), {
    areas: [new Area([[ring]])],
    resolution: 6,
    membership: "centre",
    whole: (cell) => forEachDescendant(cell, 6 - resolutionOf(cell), () => void count++),
  });
  return count;
}

/** Generated and copied into an unlogged table, a COPY for each base cell. */
async function copied() {
  const server = await startServer();
  try {
    await server.admin`create unlogged table cells (n bigint, c1 text, c2 text)`;
    const db = openServer(server.url("postgres"));
    const measured = await perCpuSecond(async () => {
      let count = 0;
      for (const base of allBaseCells()) {
        /** @type {number[]} */
        const found = [];
        forEachDescendant(base, 5, (cell) => void found.push(cell));
        count += await db.copy("cells", ["n", "c1", "c2"], await cellLines(found, "none", quiet));
      }
      return count;
    });
    await db.close();
    return measured;
  } finally {
    await server.stop();
  }
}

/** @param {string[]} args */
export async function benchH3(args) {
  const unknown = args.find((arg) => arg !== "--json");
  if (unknown !== undefined) throw new UsageError(`h3: there is no option ${unknown}`);
  await cells(2, "polygon");
  const found = {
    "cells without outlines, resolution 5, generated and copied": await copied(),
    "cells without outlines, resolution 5": await perCpuSecond(() => cells(5, "none")),
    "cells with outlines, resolution 4": await perCpuSecond(() => cells(4, "polygon")),
    "cells of an area, resolution 6": await perCpuSecond(border),
    "pixels into cells of resolution 6": await perCpuSecond(() => pixels(6)),
    "pixels into cells of resolution 8": await perCpuSecond(() => pixels(8)),
  };
  if (args.includes("--json")) {
    process.stdout.write(`${JSON.stringify(found, null, 2)}\n`);
    return;
  }
  for (const [name, { count, cpu_s, per_cpu_s }] of Object.entries(found)) {
    const words = [name.padEnd(60), String(count).padStart(10), `${cpu_s.toFixed(2)} CPU s`.padStart(12)];
    process.stdout.write(`${words.join(" ")} ${String(per_cpu_s).padStart(12)} a CPU second\n`);
  }
}
