// What fanfold demo world would submit, and of what: nothing runs here. The run itself is demo_world.soak.ts.
import { expect, test } from "vitest";
import { heights_style, world_layers, world_prefix, world_steps } from "../../src/cli/demo/demo_world_plan.js";
import { worldTiles } from "../../src/cli/demo/demo_world_tiles.js";
import { layer_style } from "../../src/core/api/layers.js";
import type { Job } from "../../src/core/declare/declare.js";
import { validateParameters } from "../../src/core/declare/parameters.js";
import { Area, boxPolygons } from "../../src/geo/h3/area.js";
import { builtinRegistry } from "../../src/jobs/index.js";

test("every step is a job type of ours that takes its parameters, and the layers that are shown are made by them", async () => {
  const { jobs } = builtinRegistry();
  for (const { job_type, parameters } of world_steps) {
    const job = jobs.find(({ type }) => type === job_type)!;
    await validateParameters(job as Job, parameters);
  }
  const made = world_steps.map(({ job_type, parameters }) => job_type !== "export_vector" && parameters.layer);
  for (const layer of world_layers) expect(made).toContain(layer);
  expect(layer_style.safeParse(heights_style.style).success).toBe(true);
  expect(world_steps[0]!.parameters.sources).toEqual({ prefix: `bronze:${world_prefix}` });
});

test("the tiles cover the earth, are the same each time, and have pixels where there is land", () => {
  const land = new Area(boxPolygons([-170, 10, -100, 80]));
  const tiles = [...worldTiles(land)];
  expect(tiles.map(({ name }) => name)).toEqual(
    [1, 2].flatMap((row) => [1, 2, 3, 4].map((column) => `terrain-r${row}c${column}.tif`)),
  );
  const [north_west, south_east] = [tiles[0]!.content(), tiles[7]!.content()];
  expect(Buffer.compare(tiles[0]!.content(), north_west)).toBe(0);
  // What is all sea is one value, and packs to next to nothing.
  expect(south_east.length * 20).toBeLessThan(north_west.length);
});
