// Where the tiles of a raster are on the map before any of them is made.
import { describe, expect, test } from "vitest";
import type { RasterPlan } from "../../../src/handlers/raster/facts.js";
import { cogTasks } from "../../../src/handlers/raster/handlers/cog_tasks.js";

function planOf(target_crs: string, transform: RasterPlan["grid"]["transform"], more: Partial<RasterPlan> = {}) {
  return {
    collection: "dem",
    item_id: "scene",
    source: "bronze:a.tif",
    source_sha256: "00",
    raster_type: "dem",
    dates: { datetime: "2024-01-01T00:00:00Z", source: "given" },
    cog: { target_crs, block_size: 512 },
    grid: { width: 2048, height: 1024, transform },
    tiling: { max_single_px: 512, tile_px: 1024, overlap_px: 0, bytes_per_pixel: 2 },
    ...more,
  } as unknown as RasterPlan;
}
const boxes = (plan: RasterPlan) => [...cogTasks(plan)].map(({ bbox }) => bbox?.map((edge) => Number(edge.toFixed(4))));

describe("tiles of a raster", () => {
  test("in degrees are where they say, over the antimeridian too", () => {
    expect(boxes(planOf("EPSG:4326", [7, 0.001, 0, 47, 0, -0.001]))).toEqual([
      [7, 45.976, 8.024, 47],
      [8.024, 45.976, 9.048, 47],
    ]);
    expect(boxes(planOf("EPSG:4326", [179, 0.001, 0, -17, 0, -0.001]))[0]).toEqual([179, -18.024, -179.976, -17]);
  });

  test("in Web Mercator are told in degrees", () => {
    const [first] = boxes(planOf("EPSG:3857", [779_236.4355, 10, 0, 6_106_854.8349, 0, -10]));
    expect(first![0]).toBeCloseTo(7, 3);
    expect(first![3]).toBeCloseTo(48, 3);
    expect(first![2]).toBeCloseTo(7.092, 3);
  });

  test("of another projection follow the lattice; without one they have no box, and a whole raster has its own", () => {
    const transform: RasterPlan["grid"]["transform"] = [500_000, 10, 0, 5_200_000, 0, -10];
    const bounds: [number, number, number, number] = [500_000, 5_189_760, 520_480, 5_200_000];
    const points = Array.from({ length: 81 }, (_, i) => [9 + (i % 9) * 0.03, 46.8 + Math.floor(i / 9) * 0.01]);
    const lattice = { bounds, lon: points.map(([lon]) => lon!), lat: points.map(([, lat]) => lat!) };
    expect(boxes(planOf("EPSG:32632", transform, { lattice }))).toEqual([
      [9, 46.8, 9.12, 46.88],
      [9.12, 46.8, 9.24, 46.88],
    ]);
    expect(boxes(planOf("EPSG:32632", transform))).toEqual([undefined, undefined]);
    const whole = planOf("EPSG:32632", transform, { bbox: [9, 46.8, 9.24, 46.88] });
    whole.tiling.max_single_px = 4096;
    expect(boxes(whole)).toEqual([[9, 46.8, 9.24, 46.88]]);
  });

  test("what a task is given does not grow by where it is", () => {
    const [task] = [...cogTasks(planOf("EPSG:4326", [7, 0.001, 0, 47, 0, -0.001], { bbox: [7, 45, 9, 47] }))];
    expect(Object.keys(task!.parameters!)).not.toContain("bbox");
    expect(Object.keys(task!.parameters!)).not.toContain("lattice");
  });
});
