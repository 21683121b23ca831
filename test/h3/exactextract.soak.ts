// raster_to_h3 beside exactextract, which counts the share of a pixel that lies in a cell where we count the whole pixel in the cell of its
// centre: what it finds whole in a cell we count there, what it does not find there we do not, and sums differ by the pixels on the edge at most.
import { deflateSync } from "node:zlib";
import * as h3 from "h3-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeGeoTiff } from "../../src/cli/demo/geotiff_writer.js";
import { catalogHere, RasterWorld } from "../jobs/raster_world.js";
import { exactTools } from "../python_tools.js";
import { rowsOf } from "./cell_rows.js";

const here = await catalogHere("server");
const python = await exactTools();
const why_not = here.skip ? here.name : typeof python === "string" ? ` (skipped: ${python})` : "";
const nodata = -9999;

interface Exact {
  h3: string;
  count: number;
  sum: number;
  values: number[];
  coverage: number[];
}

describe.skipIf(why_not !== "")(`cells beside exactextract${why_not}`, () => {
  let world: RasterWorld;
  beforeAll(async () => {
    world = await RasterWorld.open("server");
    await world.worker();
  }, 300_000);
  afterAll(() => world?.close());

  test.each([5, 6])(
    "at resolution %i every cell is within its definition",
    { timeout: 600_000 },
    async (resolution) => {
      const [width, height] = [400, 300];
      const values = Float64Array.from({ length: width * height }, (_, at) =>
        at % 17 === 0 ? nodata : Math.fround(500 + 300 * Math.sin(at / 977) + (at % 7)),
      );
      const source = `silver:exact${resolution}.tif`;
      world.put(
        source,
        writeGeoTiff({
          ...{ width, height, bands: [values], data_type: "float32", tile: 128, cog: true, nodata },
          transform: [5, 0.01, 0, 48, 0, -0.01],
          crs: { epsg: 4326, kind: "geographic" },
          deflate: deflateSync,
        }),
      );
      const layer = `exact_${resolution}`;
      const job = await world.run("raster_to_h3", {
        source,
        layer,
        resolution,
        statistics: ["count", "sum", "mean"],
        register: false,
      });
      expect(job.error).toBeNull();
      const rows = (await rowsOf(world.db, layer)) as { h3: string; count: number; sum: number; mean: number }[];
      const cells = rows.map(({ h3: cell }) => ({
        type: "Feature",
        properties: { h3: cell },
        geometry: { type: "Polygon", coordinates: [h3.cellToBoundary(cell, true)] },
      }));
      if (typeof python === "string") throw new Error(python);
      const raster = world.path("silver", source.slice("silver:".length));
      const exact = await python.run<Exact[]>("judge_exactextract.py", { raster, nodata, cells });
      const theirs = new Map(exact.map((one) => [one.h3, one]));
      let [pixels, shares] = [0, 0];
      for (const { h3: cell, count, sum, mean } of rows) {
        const one = theirs.get(cell)!;
        // A cell's edges are arcs, and straight in degrees to exactextract: a hundredth of a pixel is neither in nor out.
        const whole = one.coverage.filter((share) => share > 0.99).length;
        const touched = one.coverage.filter((share) => share > 0.01).length;
        expect([cell, count >= whole && count <= touched]).toEqual([cell, true]);
        const edge = one.values.reduce((most, value, at) => most + (one.coverage[at]! > 0.99 ? 0 : Math.abs(value)), 0);
        expect(Math.abs(sum - one.sum)).toBeLessThanOrEqual(edge + 0.011 * Math.abs(one.sum));
        const [least, most] = [Math.min(...one.values), Math.max(...one.values)];
        expect(mean >= least && mean <= most).toBe(true);
        pixels += count;
        shares += one.count;
      }
      expect(pixels).toBe(values.filter((value) => value !== nodata).length);
      // All shares of a pixel together are the pixel, but for those outside of the cells that have one.
      expect(Math.abs(pixels - shares) / pixels).toBeLessThan(0.001);
      expect(rows.length).toBeGreaterThan(50);
    },
  );
});
