import { expect, test } from "vitest";
import type { Point } from "../../src/geo/bounds.js";
import { transformKnown } from "../../src/geo/known_crs.js";
import { openRasterEngine } from "../../src/handlers/raster/gdal/engine_choice.js";

const codes = ["EPSG:4326", "EPSG:3857", "EPSG:32601", "EPSG:32631", "EPSG:32636", "EPSG:32660", "EPSG:32719"];

test("degrees, Web Mercator and UTM are transformed as PROJ does it, to a thousandth of a millimetre", async () => {
  const engine = await openRasterEngine({ prefer: "wasm" });
  const points: Point[] = [];
  for (const lon of [-180, -179.99, -120, -69, -3, 0, 3.0001, 33, 60, 179.5, 180]) {
    for (const lat of [-85, -80, -33.3, 0, 0.001, 12, 51.5, 84]) points.push([lon, lat]);
  }
  // A CRS that is spelt otherwise is not known here, and goes to PROJ.
  const wkt = await spelt(engine);
  for (const code of codes.slice(1)) {
    const wanted = await engine.transform(points, wkt, code);
    const found = transformKnown(points, "EPSG:4326", code)!;
    expect(apart(found, wanted), `to ${code}`).toBeLessThan(1e-6);
    const back = wanted.filter((point) => point !== null);
    const degrees = await engine.transform(back, code, wkt);
    expect(apart(transformKnown(back, code, "EPSG:4326")!, degrees), `from ${code}`).toBeLessThan(1e-11);
  }
});

test("a point that is nowhere comes back as none, and a CRS that is not known is left to others", () => {
  const nowhere: Point[] = [
    [1e30, 4],
    [Number.NaN, 1],
    [500_000, Number.POSITIVE_INFINITY],
  ];
  expect(transformKnown(nowhere, "EPSG:32636", "EPSG:4326")).toEqual([null, null, null]);
  expect(transformKnown([[0, 91]], "EPSG:4326", "EPSG:3857")).toEqual([null]);
  expect(transformKnown([[0, 0]], "EPSG:4326", "EPSG:3035")).toBeNull();
  expect(transformKnown([[0, 0]], "EPSG:32661", "EPSG:4326")).toBeNull();
});

/** Far apart where only one of them has a point. */
function apart(found: (Point | null)[], wanted: (Point | null)[]): number {
  return Math.max(
    ...wanted.map((point, at) => {
      const own = found[at] ?? null;
      if (point === null || own === null) return point === own ? 0 : 1e9;
      return Math.hypot(point[0] - own[0], point[1] - own[1]);
    }),
  );
}

async function spelt(engine: Awaited<ReturnType<typeof openRasterEngine>>): Promise<string> {
  const ellipsoid = 'ELLIPSOID["WGS 84",6378137,298.257223563]';
  const axes = 'CS[ellipsoidal,2],AXIS["latitude",north],AXIS["longitude",east],ANGLEUNIT["degree",0.0174532925199433]';
  const wkt = `GEOGCRS["WGS 84",DATUM["World Geodetic System 1984",${ellipsoid}],${axes}]`;
  expect(await engine.transform([[3, 4]], wkt, wkt)).toEqual([[3, 4]]);
  return wkt;
}
