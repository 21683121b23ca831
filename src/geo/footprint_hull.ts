// The outline of a raster whose edge lies nowhere on Earth, as that of a whole disk seen from a geostationary satellite: a hull around those
// of its valid pixels that can be placed. Pure; coordinates are transformed by a function given.
import type { Point, PointTransform } from "./bounds.js";
import type { Mask } from "./mask_rings.js";
import { convexHull } from "./rings.js";

/** Pixels looked at along each side. */
const samples = 48;

/** A closed ring of continuous degrees, which may run over 180; null when fewer than three pixels can be placed. */
export async function hullOnGlobe(
  mask: Mask | null,
  /** From a place in the mask; without one, from 0 to 1 of the raster. */
  place: (point: Point) => Point,
  to_wgs84: PointTransform,
): Promise<Point[] | null> {
  const { width, height } = mask ?? { width: 1, height: 1 };
  const tried: Point[] = [];
  for (let down = 0; down < samples; down++) {
    for (let across = 0; across < samples; across++) {
      const [x, y] = [((across + 0.5) * width) / samples, ((down + 0.5) * height) / samples];
      if (mask === null || mask.data[Math.floor(y) * width + Math.floor(x)] !== 0) tried.push(place([x, y]));
    }
  }
  const known = (await to_wgs84(tried)).filter((point) => point?.every(Number.isFinite)) as Point[];
  // Around the middle one, so that a disk over the antimeridian stays in one piece.
  const middle = known[Math.floor(known.length / 2)];
  if (middle === undefined || known.length < 3) return null;
  const hull = convexHull(known.map(([lon, lat]): Point => [lon - 360 * Math.round((lon - middle[0]) / 360), lat]));
  return hull.length >= 4 ? hull : null;
}
