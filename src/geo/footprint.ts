// Where a raster has data, as GeoJSON: the outline of its valid pixels, simplified, in degrees, with counter-clockwise outer
// rings, cut at the antimeridian and closed over a pole (RFC 7946). Pure; coordinates are transformed by a function given.
import {
  clampLatitude,
  denseRing,
  densify,
  type Point,
  type PointTransform,
  unionBboxes,
  unwrap,
  wgs84Bbox,
} from "./bounds.js";
import { hullOnGlobe } from "./footprint_hull.js";
import { boundsOf } from "./georeference.js";
import { type Mask, type MaskPart, maskParts } from "./mask_rings.js";
import type { Bounds, GeoTransform } from "./raster.js";
import { areSimple, convexHull, cutAt, signedArea, simplifyRing, withoutStairs } from "./rings.js";

export interface Footprint {
  geometry: { type: "Polygon"; coordinates: Point[][] } | { type: "MultiPolygon"; coordinates: Point[][][] };
  /** west > east over the antimeridian. */
  bbox: Bounds;
}

export interface FootprintOptions {
  /** Default false: a lake of nodata belongs to the scene. */
  keep_holes?: boolean;
  /** The most vertices of all rings together, before edges are made dense for the projection. */
  max_vertices?: number;
  /** More parts than this become one, around all. */
  max_parts?: number;
  /** Parts smaller than this share of all valid pixels are left out. */
  min_part_share?: number;
  /** Decimals of a degree; 7 is a centimetre. */
  precision?: number;
}

/** `mask` null: all of the raster. Null when nothing is valid, or nothing of it can be transformed to degrees. */
export async function footprintOf(
  mask: Mask | null,
  raster: { width: number; height: number; transform: GeoTransform },
  to_wgs84: PointTransform,
  options: FootprintOptions = {},
): Promise<Footprint | null> {
  const parts = mask ? maskOutline(mask, options) : [[denseRing([0, 0, 1, 1], 1)]];
  if (parts.length === 0) return null;
  const [x0, dx, rx, y0, ry, dy] = raster.transform;
  const scale: Point = mask ? [raster.width / mask.width, raster.height / mask.height] : [raster.width, raster.height];
  const place = ([column, row]: Point): Point => {
    const [c, r] = [column * scale[0], row * scale[1]];
    return [x0 + c * dx + r * rx, y0 + c * ry + r * dy];
  };
  const [west, south, east, north] = boundsOf(raster.transform, raster.width, raster.height);
  const longest = Math.max(east - west, north - south) / 20;
  const polygons: Point[][][] = [];
  const boxes: Bounds[] = [];
  const inDegrees = (ring: Point[]) => {
    const placed = ring.map(place);
    return to_wgs84(densify(placed, (a, b) => Math.ceil(Math.hypot(b[0] - a[0], b[1] - a[1]) / longest)));
  };
  // All asked for at once, so that who answers may do it in one go.
  const transformed = await Promise.all(parts.map((rings) => Promise.all(rings.map(inDegrees))));
  for (const rings of transformed) {
    const outlines: Point[][] = [];
    for (const ring of rings) {
      const points = ring.filter((point) => point?.every(Number.isFinite)) as Point[];
      if (points.length < 4) continue;
      // A point that was lost at the end leaves the ring open.
      outlines.push(same(points[0]!, points.at(-1)!) ? points : [...points, points[0]!]);
    }
    const [outer, ...holes] = outlines;
    if (!outer) continue;
    const box = wgs84Bbox(outer);
    const cut = onGlobe(outer, holes, options.precision ?? 7).map(valid);
    if (!box || cut.length === 0) continue;
    boxes.push(box);
    polygons.push(...cut);
  }
  const hull = polygons.length === 0 ? await hullOnGlobe(mask, place, to_wgs84) : null;
  if (hull) {
    polygons.push(...onGlobe(hull, [], options.precision ?? 7));
    boxes.push(wgs84Bbox(hull)!);
  }
  const bbox = unionBboxes(boxes);
  if (!bbox || polygons.length === 0) return null;
  const rounded = bbox.map((value) => round(value, options.precision ?? 7)) as Bounds;
  return {
    bbox: rounded,
    geometry:
      polygons.length === 1
        ? { type: "Polygon", coordinates: polygons[0]! }
        : { type: "MultiPolygon", coordinates: polygons },
  };
}

/** Simplified outlines in pixels of the mask: no more vertices and parts than asked for, and no ring that crosses another. */
function maskOutline(mask: Mask, options: FootprintOptions): Point[][][] {
  const { max_vertices = 200, max_parts = 16, min_part_share = 0.001 } = options;
  const all = maskParts(mask);
  const area = all.reduce((sum, part) => sum + part.area, 0);
  const parts = all.filter((part) => part.area >= area * min_part_share);
  if (parts.length === 0) return [];
  const kept = parts.map(({ outer, holes }: MaskPart) =>
    [outer, ...(options.keep_holes ? holes.filter((hole) => -signedArea(hole) >= area * min_part_share) : [])].map(
      withoutStairs,
    ),
  );
  if (kept.length <= max_parts) {
    for (let tolerance = 0.75; tolerance < Math.max(mask.width, mask.height) / 8; tolerance *= 1.5) {
      const simple = kept.map((rings) => rings.map((ring) => simplifyRing(ring, tolerance)));
      const rings = simple.flat();
      if (rings.reduce((sum, ring) => sum + ring.length, 0) > max_vertices) continue;
      if (rings.every((ring) => ring.length >= 4) && areSimple(rings)) return simple;
    }
  }
  return [[simplifyHull(convexHull(parts.flatMap(({ outer }) => outer)), max_vertices)]];
}

/** The projection and the rounding may lay what was apart on each other: what is around it is never invalid. */
function valid(polygon: Point[][]): Point[][] {
  if (areSimple(polygon)) return polygon;
  const [outer] = polygon as [Point[]];
  return areSimple([outer]) ? [outer] : [convexHull(outer)];
}

function simplifyHull(hull: Point[], max_vertices: number): Point[] {
  let simple = hull;
  for (let tolerance = 0.5; simple.length > max_vertices; tolerance *= 2) simple = simplifyRing(hull, tolerance);
  return simple;
}

/** One polygon in continuous degrees becomes one or more between -180 and 180. */
function onGlobe(outer: Point[], holes: Point[][], precision: number): Point[][][] {
  const { ring, turns } = unwrap(outer);
  const closed = turns === 0 ? ring : overPole(ring);
  const lons = closed.map(([lon]) => lon);
  const middle = (Math.min(...lons) + Math.max(...lons)) / 2;
  const polygons: Point[][][] = [];
  const first = Math.floor((Math.min(...lons) + 180) / 360);
  const last = Math.ceil((Math.max(...lons) - 180) / 360);
  for (let k = first; k <= Math.max(first, last); k++) {
    for (const part of strip(closed, k)) {
      const tidy = tidyRing(part, precision);
      if (tidy) polygons.push([signedArea(tidy) >= 0 ? tidy : tidy.reverse()]);
    }
  }
  // Holes of a scene over the antimeridian or a pole are let go: which part they fall to is not worth a wrong answer.
  if (polygons.length !== 1 || turns !== 0) return polygons;
  for (const hole of holes) {
    const near = unwrap(hole).ring.map(
      ([lon, lat]): Point => [lon + 360 * Math.round((middle - hole[0]![0]) / 360), lat],
    );
    const tidy = tidyRing(strip(near, first)[0] ?? [], precision);
    if (tidy) polygons[0]!.push(signedArea(tidy) <= 0 ? tidy : tidy.reverse());
  }
  return polygons;
}

/** What of a ring lies between -180 + 360k and 180 + 360k, moved to between -180 and 180. */
function strip(ring: Point[], k: number): Point[][] {
  const [low, high] = [-180 + 360 * k, 180 + 360 * k];
  const left = low <= Math.min(...ring.map(([lon]) => lon)) ? [ring] : cutAt(ring, low).right;
  const parts = left.flatMap((part) =>
    Math.max(...part.map(([lon]) => lon)) <= high ? [part] : cutAt(part, high).left,
  );
  return parts.map((part) => part.map(([lon, lat]): Point => [lon - 360 * k, lat]));
}

/** A ring once round the globe is closed along the pole that it goes round, from one end of the map to the other. */
function overPole(ring: Point[]): Point[] {
  const pole = ring.reduce((sum, [, lat]) => sum + lat, 0) >= 0 ? 90 : -90;
  const [start, end] = [ring[0]!, ring.at(-1)!];
  return [...ring, [end[0], pole], [start[0], pole], start];
}

function tidyRing(ring: Point[], precision: number): Point[] | null {
  const tidy: Point[] = [];
  for (const [lon, lat] of ring) {
    const point: Point = [round(lon, precision), round(clampLatitude(lat), precision)];
    const before = tidy.at(-1);
    if (!before || !same(before, point)) tidy.push(point);
  }
  if (tidy.length > 0 && !same(tidy[0]!, tidy.at(-1)!)) tidy.push(tidy[0]!);
  // Points on a straight line came from making edges dense, and say nothing where the projection did not bend them.
  const lean = simplifyRing(tidy, extent(tidy) * 1e-5);
  return lean.length >= 4 && signedArea(lean) !== 0 ? lean : null;
}

function extent(ring: Point[]): number {
  if (ring.length === 0) return 0;
  const [lons, lats] = [ring.map(([lon]) => lon), ring.map(([, lat]) => lat)];
  return Math.max(Math.max(...lons) - Math.min(...lons), Math.max(...lats) - Math.min(...lats));
}

function same(a: Point, b: Point): boolean {
  return a[0] === b[0] && a[1] === b[1];
}

function round(value: number, digits: number): number {
  // Adding zero turns -0 into 0.
  return Math.round(value * 10 ** digits) / 10 ** digits + 0;
}

/** The box of bounds in another CRS, by their dense edge. */
export async function wgs84BoundsOf(bounds: Bounds, to_wgs84: PointTransform): Promise<Bounds | null> {
  return wgs84Bbox(await to_wgs84(denseRing(bounds)));
}
