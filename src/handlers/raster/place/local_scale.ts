// How a raster comes out in another CRS, measured at points of it: how long its pixels are there, and whether its edge runs over the
// antimeridian. Pure; coordinates are transformed by a function given.
import { denseRing, type Point, type PointTransform, unwrap } from "../../../geo/bounds.js";
import type { Bounds, GeoTransform } from "../../../geo/raster.js";

interface Grid {
  width: number;
  height: number;
  transform: GeoTransform;
}

/** The side of a pixel in units of the target, in the middle of what is found at nine points. */
export async function localPixelSize(
  raster: Grid,
  toTarget: PointTransform,
  is_degrees: boolean,
): Promise<number | null> {
  const shares = [1 / 6, 1 / 2, 5 / 6];
  const corners = shares.flatMap((x) => shares.map((y): Point => [x * raster.width, y * raster.height]));
  const points = corners.flatMap(([c, r]): Point[] => [
    [c, r],
    [c + 1, r],
    [c, r + 1],
  ]);
  const placed = await toTarget(points.map((point) => onGround(raster, point)));
  const sides: number[] = [];
  for (let i = 0; i < placed.length; i += 3) {
    const [at, right, down] = placed.slice(i, i + 3);
    if (!at || !right || !down) continue;
    const step = (to: Point): Point => {
      const dx = to[0] - at[0];
      return [is_degrees ? dx - 360 * Math.round(dx / 360) : dx, to[1] - at[1]];
    };
    const [a, b] = [step(right), step(down)];
    const area = Math.abs(a[0] * b[1] - a[1] * b[0]);
    if (Number.isFinite(area) && area > 0) sides.push(Math.sqrt(area));
  }
  sides.sort((one, other) => one - other);
  return sides[Math.floor(sides.length / 2)] ?? null;
}

/** Its box in degrees with an east beyond 180, when its edge runs over the antimeridian and round no pole; else null. */
export async function boundsOnGlobe(raster: Grid, toDegrees: PointTransform): Promise<Bounds | null> {
  const ring = denseRing([0, 0, raster.width, raster.height]);
  const placed = await toDegrees(ring.map((point) => onGround(raster, point)));
  const known = placed.filter((point) => point !== null);
  if (known.length < placed.length) return null;
  const { ring: continuous, turns } = unwrap(known);
  if (turns !== 0 || continuous.every(([lon], i) => lon === known[i]![0])) return null;
  const lons = continuous.map(([lon]) => lon);
  const lats = continuous.map(([, lat]) => lat);
  const west = Math.min(...lons);
  // Both ways round say the same; the west is kept between -180 and 180.
  const turn = 360 * Math.floor((west + 180) / 360);
  return [west - turn, Math.min(...lats), Math.max(...lons) - turn, Math.max(...lats)];
}

function onGround({ transform: [x0, dx, rx, y0, ry, dy] }: Grid, [column, row]: Point): Point {
  return [x0 + column * dx + row * rx, y0 + column * ry + row * dy];
}
