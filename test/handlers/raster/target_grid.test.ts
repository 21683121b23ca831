import { expect, test } from "vitest";
import { type NewGeoTiff, writeGeoTiff } from "../../../src/cli/demo/geotiff_writer.js";
import type { CogOptions } from "../../../src/geo/raster.js";
import { targetGrid } from "../../../src/handlers/raster/place/target_grid.js";
import { engineOf, newPath, scene, signal, withBothEngines, written } from "./both_engines.js";

const cog: CogOptions = {
  target_crs: "EPSG:4326",
  resampling: "nearest",
  overview_resampling: "nearest",
  compression: "deflate",
  block_size: 256,
};

type Place = Pick<NewGeoTiff, "transform" | "crs">;

withBothEngines("the grid of a raster in the target CRS", (name) => {
  async function gridOf(place: Place, options: Partial<CogOptions> = {}) {
    const engine = await engineOf(name);
    const file = await written(writeGeoTiff({ ...scene("dem"), ...place }));
    const info = await engine.info(file, signal);
    return { engine, file, ...(await targetGrid(engine, file, info, { ...cog, ...options }, undefined, signal)) };
  }

  test("of one across the antimeridian runs on beyond 180, and holds all of it", async () => {
    const utm_1: Place = {
      transform: [150_000, 1000, 0, 2_000_000, 0, -1000],
      crs: { epsg: 32_601, kind: "projected" },
    };
    const { engine, file, grid, findings } = await gridOf(utm_1);
    expect(findings).toEqual([]);
    const [west, dx, , north, , dy] = grid.transform;
    expect(west).toBeCloseTo(179.68, 1);
    expect(west + dx * grid.width).toBeCloseTo(181.1, 1);
    expect(grid.width * grid.height).toBeGreaterThan((150 * 110) / 2);
    const target = await newPath("cog.tif");
    const bounds = [west, north + dy * grid.height, west + dx * grid.width, north] as const;
    await engine.cog(file, target, { ...cog, bounds: [...bounds], resolution: [dx, -dy], nodata: -1 }, signal);
    const [statistics] = await engine.statistics(target, { approximate: false }, signal);
    expect(statistics!.valid_percent).toBeGreaterThan(90);
  });

  test("around a pole is refused in degrees, with what to do, and kept as it is in its own CRS", async () => {
    const polar: Place = {
      transform: [-750_000, 10_000, 0, 550_000, 0, -10_000],
      crs: { epsg: 3413, kind: "projected" },
    };
    const { findings } = await gridOf(polar);
    expect(findings).toMatchObject([{ code: "resolution_lost", severity: "error" }]);
    expect(findings[0]!.hint).toContain("`target_crs` source");
    const own = await gridOf(polar, { target_crs: "EPSG:3413" });
    expect(own).toMatchObject({ findings: [], grid: { width: 150, height: 110, transform: polar.transform } });
  });

  test("is refused with pixels larger than all of it, as metres given for degrees", async () => {
    const engine = await engineOf(name);
    const file = await written(writeGeoTiff(scene("dem")));
    const info = await engine.info(file, signal);
    const { findings } = await targetGrid(engine, file, info, cog, 30, signal);
    expect(findings).toMatchObject([{ code: "resolution_too_coarse", severity: "error" }]);
  });

  test("in its own CRS is its own, also with longitudes from 0 to 360", async () => {
    const globe: Place = { transform: [0, 2.4, 0, 90, 0, -1.6], crs: { epsg: 4326, kind: "geographic" } };
    const { grid } = await gridOf(globe);
    expect(grid).toEqual({ width: 150, height: 110, transform: globe.transform });
  });
});
