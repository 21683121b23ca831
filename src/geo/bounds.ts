// Boxes on the globe: edges dense enough to bend with a projection, and longitudes that may run over the antimeridian, where
// west is then greater than east (RFC 7946). Pure; coordinates are transformed by a function given.
import type { Bounds } from "./raster.js";

export type Point = [number, number];

/** As RasterEngine.transform: what cannot be transformed is null. */
export type PointTransform = (points: Point[]) => Promise<(Point | null)[]>;

/** The edge of a box, counter-clockwise and closed, each side in `per_side` parts. */
export function denseRing([west, south, east, north]: Bounds, per_side = 21): Point[] {
  const corners: Point[] = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
  return densify(corners, () => per_side);
}

/** Each edge in as many parts as `parts` says. */
export function densify(ring: readonly Point[], parts: (from: Point, to: Point) => number): Point[] {
  const dense: Point[] = [];
  ring.forEach((from, i) => {
    const to = ring[i + 1];
    if (!to) {
      dense.push(from);
      return;
    }
    const count = Math.max(1, parts(from, to));
    for (let k = 0; k < count; k++) {
      const share = k / count;
      dense.push([from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share]);
    }
  });
  return dense;
}

/**
 * Longitudes of a ring made continuous: a step of more than half the globe is one over the antimeridian. `turns` is how often
 * it runs round the globe: ±1 when a pole is inside.
 */
export function unwrap(ring: readonly Point[]): { ring: Point[]; turns: number } {
  let shift = 0;
  const continuous = ring.map(([lon, lat], i): Point => {
    const before = ring[i - 1];
    if (before) {
      const step = lon - before[0];
      if (step > 180) shift -= 360 * Math.ceil((step - 180) / 360);
      else if (step < -180) shift += 360 * Math.ceil((-step - 180) / 360);
    }
    return [lon + shift, lat];
  });
  const [first] = continuous;
  const last = continuous.at(-1);
  return { ring: continuous, turns: first && last ? Math.round((last[0] - first[0]) / 360) : 0 };
}

/** Into -180…180; 180 itself stays what it is. */
export function wrapLongitude(lon: number): number {
  if (lon >= -180 && lon <= 180) return lon;
  const wrapped = ((((lon + 180) % 360) + 360) % 360) - 180;
  return wrapped === -180 && lon > 0 ? 180 : wrapped;
}

/** Around a closed ring of longitudes and latitudes. Null when no point of it could be transformed. */
export function wgs84Bbox(points: readonly (Point | null)[]): Bounds | null {
  const known = points.filter((point) => point?.every(Number.isFinite)) as Point[];
  if (known.length === 0) return null;
  const { ring, turns } = unwrap(known);
  const lats = ring.map(([, lat]) => clampLatitude(lat));
  const south = Math.min(...lats);
  const north = Math.max(...lats);
  if (turns !== 0) return south + north >= 0 ? [-180, south, 180, 90] : [-180, -90, 180, north];
  const lons = ring.map(([lon]) => lon);
  const [west, east] = interval(Math.min(...lons), Math.max(...lons));
  return [west, south, east, north];
}

export function clampLatitude(lat: number): number {
  return Math.min(90, Math.max(-90, lat));
}

/** From continuous longitudes; west > east over the antimeridian. */
export function interval(low: number, high: number): [number, number] {
  if (high - low >= 360) return [-180, 180];
  // An edge that lies on the antimeridian belongs to the side that the box is on.
  const west = wrapLongitude(low);
  const east = wrapLongitude(high);
  if (west === 180 && high > low) return [-180, east];
  if (east === -180 && high > low) return [west, 180];
  return [west, east];
}

/** The smallest box around all, across the antimeridian if that is smaller. Also for 3-D boxes (heights are dropped). */
export function unionBboxes(bboxes: readonly (readonly number[])[]): Bounds | null {
  const flat = bboxes.map(flatBbox).filter((bbox) => bbox !== null);
  if (flat.length === 0) return null;
  const south = Math.min(...flat.map((bbox) => bbox[1]));
  const north = Math.max(...flat.map((bbox) => bbox[3]));
  const spans = flat
    .map(([west, , east]) => ({ from: west, to: east < west ? east + 360 : east }))
    .sort((a, b) => a.from - b.from);
  // The union is the globe without the widest gap between spans that follow each other.
  let reach = spans[0]!.to;
  let gap = { width: -1, from: 0, to: 0 };
  for (const { from, to } of [...spans.slice(1), { from: spans[0]!.from + 360, to: spans[0]!.to + 360 }]) {
    if (from - reach > gap.width) gap = { width: from - reach, from: reach, to: from };
    reach = Math.max(reach, to);
  }
  if (gap.width <= 0) return [-180, south, 180, north];
  const [west, east] = interval(gap.to, gap.from + 360);
  return [west, south, east, north];
}

function flatBbox(bbox: readonly number[]): Bounds | null {
  const flat = bbox.length === 6 ? [bbox[0]!, bbox[1]!, bbox[3]!, bbox[4]!] : [...bbox];
  return flat.length === 4 && flat.every(Number.isFinite) ? (flat as Bounds) : null;
}
