// What a Zarr store declares about itself costs its writer nothing: it is bounded before any of it is unpacked.
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { FormatEngine } from "../../../src/handlers/raster/formats/format_engine.js";
import { variablesOf } from "../../../src/handlers/raster/formats/layers.js";

const folder = mkdtempSync(join(tmpdir(), "fanfold-zarr-"));
afterAll(() => rm(folder, { recursive: true, force: true }));
const { signal } = new AbortController();

/** Arrays as name: [shape, dimensions], without any values. */
function store(name: string, arrays: Record<string, [number[], string[]]>): string {
  const path = join(folder, name);
  for (const [array, [shape, dimensions]] of Object.entries(arrays)) {
    mkdirSync(join(path, array), { recursive: true });
    writeFileSync(join(path, array, ".zarray"), JSON.stringify({ shape }));
    writeFileSync(join(path, array, ".zattrs"), JSON.stringify({ _ARRAY_DIMENSIONS: dimensions }));
  }
  return path;
}

/** Stands in for GDAL: notes what it is asked to unpack. */
async function listed(path: string, wanted?: string) {
  const unpacked: string[] = [];
  const engine = {
    info: async () => "{}",
    translate: async ({ part }: { part: string }) => {
      unpacked.push(part);
      throw new Error("unpacked");
    },
  } as unknown as FormatEngine;
  const file = { path, driver: "Zarr" } as Parameters<typeof variablesOf>[1];
  return { variables: await variablesOf(engine, file, signal, wanted), unpacked };
}

test("an axis that is longer than a file may have steps is none, and is not unpacked", async () => {
  const arrays = (length: number): Record<string, [number[], string[]]> => ({
    heat: [
      [3, 4, 5],
      ["time", "y", "x"],
    ],
    time: [[length], ["time"]],
  });
  const { variables, unpacked } = await listed(store("long.zarr", arrays(100_001)));
  expect(unpacked).toEqual([]);
  expect(variables[0]!.steps.map(({ labels }) => labels)).toEqual([{ time: 0 }, { time: 1 }, { time: 2 }]);
  await expect(listed(store("short.zarr", arrays(3)))).rejects.toThrow("unpacked");
});

test("the steps of all its arrays are counted together, and those of one that is asked for alone", async () => {
  const array: [number[], string[]] = [
    [60_000, 4, 5],
    ["time", "y", "x"],
  ];
  const path = store("many.zarr", { heat: array, rain: array });
  await expect(listed(path)).rejects.toMatchObject({ code: "too_many_layers" });
  expect((await listed(path, "rain")).variables).toMatchObject([{ name: "rain", steps: { length: 60_000 } }]);
});

test("a store of too many arrays is refused before one of them is looked at", async () => {
  const arrays = Array.from({ length: 1001 }, (_, at) => [
    `a${at}`,
    [
      [4, 5],
      ["y", "x"],
    ],
  ]);
  await expect(listed(store("arrays.zarr", Object.fromEntries(arrays)))).rejects.toMatchObject({
    code: "too_many_layers",
  });
});
