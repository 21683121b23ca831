// export_vector of ten million rows: the process that writes them stays as large as with a tenth of them, and every row is there.
// FANFOLD_TEST_ROWS makes it another number.

import { readdirSync, readFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { parquetMetadataAsync } from "hyparquet";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { catalogHere, RasterWorld } from "../jobs/raster_world.js";
import { makeLayer } from "./made_layer.js";

const here = await catalogHere("server");
const most = Number(process.env.FANFOLD_TEST_ROWS ?? 10_000_000);

describe.skipIf(here.skip)(`many rows${here.name}`, () => {
  let world: RasterWorld;
  beforeAll(async () => {
    world = await RasterWorld.open("server");
    await world.worker();
  }, 300_000);
  afterAll(() => world?.close());

  async function exported(name: string, rows: number) {
    const began = performance.now();
    const job = await world.submit("export_vector", { layer: name });
    const sampler = setInterval(() => sample(), 100);
    let peak = 0;
    const sample = () => {
      for (const size of childSizes()) peak = Math.max(peak, size);
    };
    const done = await world.ended(job);
    clearInterval(sampler);
    expect(done.error).toBeNull();
    const { files } = done.result as { files: { file: string }[] };
    const handle = await open(world.path("gold", files[0]!.file.slice("gold:".length)));
    const { size } = await handle.stat();
    const slice = async (start: number, end = size) => {
      const bytes = Buffer.alloc(end - start);
      await handle.read(bytes, 0, bytes.length, start);
      return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
    };
    const metadata = await parquetMetadataAsync({ byteLength: size, slice });
    await handle.close();
    expect(Number(metadata.num_rows)).toBe(rows);
    process.stdout.write(
      `${rows} rows: ${Math.round((performance.now() - began) / 1000)} s, ${Math.round(peak)} MB, file ${Math.round(size / 2 ** 20)} MB\n`,
    );
    return peak;
  }

  test("memory does not grow with the rows", { timeout: 3_600_000 }, async () => {
    await makeLayer(world, "few", most / 10);
    await makeLayer(world, "many", most);
    const few = await exported("few", most / 10);
    const many = await exported("many", most);
    expect(many).toBeLessThan(few * 1.5);
  });
});

/** Resident megabytes of the processes below this one. */
function childSizes(): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "latin1");
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
    } catch {
      // It has gone meanwhile.
    }
  }
  const isOurs = (pid: number): boolean => {
    const parent = parents.get(pid);
    return parent !== undefined && parent > 1 && (parent === process.pid || isOurs(parent));
  };
  return [...parents.keys()].filter(isOurs).flatMap((pid) => {
    try {
      const found = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "latin1"));
      return found === null ? [] : [Number(found[1]) / 1024];
    } catch {
      return [];
    }
  });
}
