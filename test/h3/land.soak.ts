// A grid of all land at resolution 5 and a cascade of one country to 7, as the issue asks for them: connections, memory, valid outlines.
import * as h3 from "h3-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { catalogHere, RasterWorld } from "../jobs/raster_world.js";
import { layerOf } from "../vector/layer_rows.js";
import { collection, feature } from "../vector/vector_files.js";
import { cellsOf, invalidCells, sampleConnections } from "./cell_rows.js";
import { countryOf } from "./countries.js";

const here = await catalogHere("server");
const slots = 4;

describe.skipIf(here.skip)(`land${here.name}`, () => {
  let world: RasterWorld;
  beforeAll(async () => {
    world = await RasterWorld.open("server");
    await world.worker({ slots });
  }, 60_000);
  afterAll(() => world?.close());

  /** Runs a job with an eye on connections and on the memory of this process, which is the worker's and the test's. */
  async function watched(type: string, parameters: Record<string, unknown>) {
    const sampled = sampleConnections(world.db);
    let most_mb = 0;
    const timer = setInterval(() => {
      most_mb = Math.max(most_mb, process.memoryUsage.rss() / 1e6);
    }, 50);
    const job = await world.run(type, { register: false, ...parameters });
    clearInterval(timer);
    expect(job.error).toBeNull();
    return { connections: await sampled(), most_mb };
  }

  test("all land at resolution 5, and a country from 5 to 7", { timeout: 900_000 }, async () => {
    const land = await watched("create_h3_grid", { layer: "land_5", resolution: 5, land: true });
    expect(land.connections).toBeLessThanOrEqual(slots + 2);
    expect(land.most_mb).toBeLessThan(600);
    expect(await layerOf(world.db, "land_5")).toMatchObject({ geometry_type: "MultiPolygon", feature_count: 547_212 });
    expect(await invalidCells(world.db, "land_5")).toMatchObject({ invalid: 0, off_the_map: 0 });

    world.put("bronze:country.geojson", collection([feature({ name: "Fiji" }, countryOf("Fiji"))]));
    await world.run("process_vector", { source: "bronze:country.geojson", register: false });
    await watched("create_h3_grid", { layer: "fiji_5", resolution: 5, within: { layer: "country" } });
    const cascade = await watched("cascade_h3", { from_layer: "fiji_5", from: 6, to: 7, layer: "fiji_7" });
    expect(cascade.connections).toBeLessThanOrEqual(slots + 2);
    expect(cascade.most_mb).toBeLessThan(600);
    expect(await invalidCells(world.db, "fiji_7")).toMatchObject({ invalid: 0, off_the_map: 0 });
    const parents = await cellsOf(world.db, "fiji_5");
    expect(await cellsOf(world.db, "fiji_7")).toEqual(
      [6, 7].flatMap((r) => parents.flatMap((cell) => h3.cellToChildren(cell, r))).sort(),
    );
  });
});
