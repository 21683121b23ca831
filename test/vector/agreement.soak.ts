// Every format as a whole job on both engines: the same layer comes out. agreement.test.ts compares what the engines say themselves.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemGdal } from "../gdal_bin.js";
import { catalogHere, RasterWorld } from "../jobs/raster_world.js";
import { formats } from "./all_formats.js";
import { featuresOf, layerOf } from "./layer_rows.js";

const here = await catalogHere("server");
const gdal = await systemGdal();

describe.skipIf(here.skip || !gdal.available)(`formats${here.name}${gdal.why_not}`, () => {
  let world: RasterWorld;
  beforeAll(async () => {
    world = await RasterWorld.open("server");
    for (const [name, { file, make }] of Object.entries(formats)) world.put(`bronze:${name}/${file}`, await make());
    for (const engine of ["wasm", "gdal"] as const) {
      const worker = await world.worker({ raster: { engine } });
      const jobs = Object.entries(formats).map(([name, { file }]) =>
        world.submit("process_vector", { source: `bronze:${name}/${file}`, layer: `${engine}_${name}` }),
      );
      for (const job of await Promise.all(jobs)) {
        const { status, error } = await world.ended(job);
        expect(error).toBeNull();
        expect(status).toBe("completed");
      }
      await worker.stop();
    }
  }, 600_000);
  afterAll(() => world?.close());

  test.each(Object.keys(formats))("%s is the same layer on both engines", async (name) => {
    const [wasm, system] = [await layerOf(world.db, `wasm_${name}`), await layerOf(world.db, `gdal_${name}`)];
    const features = await featuresOf(world.db, wasm!);
    expect(features).toHaveLength(5);
    expect(await featuresOf(world.db, system!)).toEqual(features);
    const { columns, geometry_type, srid, feature_count, version } = wasm!;
    expect(system).toMatchObject({ columns, geometry_type, srid, feature_count, version });
  });
});
