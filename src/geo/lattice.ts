// Where the tiles of a grid lie in degrees, known without a projection library: one look at a few points of the grid when it is
// planned, and between them a straight line. Good to a thousandth of the grid; what is made of a tile is measured anew. Pure.
import { denseRing, type Point, type PointTransform, unwrap, wgs84Bbox } from "./bounds.js";
import type { Bounds } from "./raster.js";

/** Parts of a side. */
const parts = 8;

/** Longitudes and latitudes of the grid's points, row by row from its south-west; longitudes run on over the antimeridian. */
export interface Lattice {
  bounds: Bounds;
  lon: number[];
  lat: number[];
}

/** Null where a point cannot be told in degrees, or a pole lies inside. */
export async function latticeOf(bounds: Bounds, to_wgs84: PointTransform): Promise<Lattice | null> {
  const [west, south, east, north] = bounds;
  const points: Point[] = [];
  for (let row = 0; row <= parts; row++) {
    // Back and forth: the next point is always a near one, and steps over the antimeridian show.
    for (let step = 0; step <= parts; step++) {
      const column = row % 2 === 0 ? step : parts - step;
      points.push([west + ((east - west) * column) / parts, south + ((north - south) * row) / parts]);
    }
  }
  const known = await to_wgs84(points);
  if (!known.every((point) => point?.every(Number.isFinite) === true)) return null;
  const { ring } = unwrap(known as Point[]);
  const lon: number[] = [];
  const lat: number[] = [];
  ring.forEach(([x, y], i) => {
    const row = Math.floor(i / (parts + 1));
    const step = i % (parts + 1);
    const at = row * (parts + 1) + (row % 2 === 0 ? step : parts - step);
    lon[at] = round(x);
    lat[at] = round(y);
  });
  // Half the globe apart: round a pole, neighbours are not near.
  const is_torn = lon.some((x, i) => i > parts && Math.abs(x - lon[i - parts - 1]!) > 180);
  return is_torn ? null : { bounds, lon, lat };
}

/** The box of a part of the grid; west > east over the antimeridian. */
export function bboxIn({ bounds: [west, south, east, north], lon, lat }: Lattice, part: Bounds): Bounds | null {
  return wgs84Bbox(
    denseRing(part, 3).map(([x, y]): Point => {
      const column = ((x - west) / (east - west)) * parts;
      const row = ((y - south) / (north - south)) * parts;
      const c = Math.min(parts - 1, Math.max(0, Math.floor(column)));
      const r = Math.min(parts - 1, Math.max(0, Math.floor(row)));
      const between = (values: number[]) => {
        const at = (dr: number, dc: number) => values[(r + dr) * (parts + 1) + c + dc]!;
        const low = at(0, 0) + (at(0, 1) - at(0, 0)) * (column - c);
        const high = at(1, 0) + (at(1, 1) - at(1, 0)) * (column - c);
        return low + (high - low) * (row - r);
      };
      return [between(lon), between(lat)];
    }),
  );
}

const earth_radius = 6_378_137;

/** The box in Web Mercator, exactly. */
export function mercatorBbox(part: Bounds): Bounds | null {
  const degrees = (radians: number) => (radians * 180) / Math.PI;
  return wgs84Bbox(
    denseRing(part, 4).map(
      ([x, y]): Point => [degrees(x / earth_radius), degrees(2 * Math.atan(Math.exp(y / earth_radius)) - Math.PI / 2)],
    ),
  );
}

function round(degrees: number): number {
  return Math.round(degrees * 1e6) / 1e6 + 0;
}
