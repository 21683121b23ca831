// @ts-check
// A worker for rasters, measured with everything it starts: its processor time and that of all its processes, and the most memory they
// had at one time.
import { readdirSync, readFileSync } from "node:fs";
import { createRegistry, openEngine, startWorker } from "../../dist/index.js";
import { builtinRegistry } from "../../dist/jobs/index.js";

const TICKS = 100;
/** @type {import("../../dist/index.js").Engine} */
let engine;
/** @type {Awaited<ReturnType<typeof startWorker>>} */
let worker;
/** @type {NodeJS.Timeout} */
let looking;
let peak_mb = 0;

/** @param {{ database_url: string, storage_dir: string, slots: number, raster_engine: "auto" | "gdal" | "wasm", scratch_dir: string }} settings */
export async function open({ database_url, storage_dir, slots, raster_engine, scratch_dir }) {
  engine = await openEngine({ database_url, storage_dir, registry: createRegistry(builtinRegistry()), connections: 4 });
  worker = await startWorker(engine, { slots, scratch_dir, raster: { engine: raster_engine } });
  looking = setInterval(look, 200);
}

/** @param {{ type: string, parameters: Record<string, unknown> }} order */
export async function ask({ type, parameters }) {
  const began = performance.now();
  const { job_id } = await engine.submit(type, parameters);
  for (;;) {
    const { status, error } = await engine.status(job_id);
    if (["completed", "partial_success", "failed", "cancelled"].includes(status)) {
      const wall_s = (performance.now() - began) / 1000;
      await worker.stop();
      clearInterval(looking);
      return { status, error, wall_s, cpu_s: usedSeconds(), peak_mb };
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export async function close() {
  await engine.close();
}

/** What this process took, and every child that it has seen end, with the children of those. */
function usedSeconds() {
  const fields = statOf(process.pid).slice(11, 15).map(Number);
  return fields.reduce((sum, ticks) => sum + ticks, 0) / TICKS;
}

/** What follows the name, from the state on. @param {number} pid */
function statOf(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}

function look() {
  /** @type {Map<number, { parent: number, mb: number }>} */
  const all = new Map();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const fields = statOf(Number(name));
      all.set(Number(name), { parent: Number(fields[1]), mb: (Number(fields[21]) * 4096) / 2 ** 20 });
    } catch {
      // It has ended meanwhile.
    }
  }
  let mb = 0;
  for (const [pid, { mb: own }] of all) {
    let up = pid;
    while (up > 1 && up !== process.pid) up = all.get(up)?.parent ?? 0;
    if (up === process.pid) mb += own;
  }
  peak_mb = Math.max(peak_mb, mb);
}
