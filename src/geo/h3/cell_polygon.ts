// The outline of a cell as layers have it: in degrees, counter-clockwise, cut at the antimeridian, and round a pole closed along it. H3
// itself gives corners only, which as a polygon would cross the whole map there. Pure.
import { cellToBoundary } from "h3-js";
import { type Point, unwrap } from "../bounds.js";
import { type CellNumber, splitIndex } from "./cell.js";

/** Closed rings without holes: one, or one on each side of the antimeridian. */
export function cellRings(cell: CellNumber): Point[][] {
  const corners = cellToBoundary(splitIndex(cell), true) as Point[];
  let west = 180;
  let east = -180;
  for (const [lon] of corners) {
    if (lon < west) west = lon;
    if (lon > east) east = lon;
  }
  if (east - west <= 180) return [corners];
  const { ring, turns } = unwrap(corners);
  if (turns !== 0) return [poleRing(corners.slice(0, -1))];
  // East of it longitudes are above 180 now, or west of it below -180: both are brought to the first.
  const shifted = ring.map(([lon, lat]): Point => [ring.some((point) => point[0] < -180) ? lon + 360 : lon, lat]);
  return [
    clip(shifted, (lon) => lon <= 180),
    clip(shifted, (lon) => lon >= 180).map(([lon, lat]): Point => [lon - 360, lat]),
  ].filter((part) => areaOf(part) > 0);
}

/** From antimeridian to antimeridian along its corners, and back along the pole. */
function poleRing(corners: readonly Point[]): Point[] {
  const sorted = [...corners].sort((a, b) => a[0] - b[0]);
  const first = sorted[0]!;
  const last = sorted.at(-1)!;
  const at_edge = latitudeAt(last, [first[0] + 360, first[1]]);
  const line: Point[] = sorted.filter(([lon]) => lon > -180 && lon < 180);
  const is_north = first[1] > 0;
  const pole = is_north ? 90 : -90;
  const ring: Point[] = [[-180, at_edge], ...line, [180, at_edge], [180, pole], [-180, pole], [-180, at_edge]];
  return is_north ? ring : ring.reverse();
}

/** The latitude of the line between two points where it is at 180°. */
function latitudeAt(from: Point, to: Point): number {
  if (to[0] === from[0]) return from[1];
  return from[1] + ((180 - from[0]) / (to[0] - from[0])) * (to[1] - from[1]);
}

/** The part of a convex ring on one side of 180°, closed; empty when nothing of it is there. */
function clip(ring: readonly Point[], keeps: (lon: number) => boolean): Point[] {
  const part: Point[] = [];
  const add = (point: Point) => {
    const before = part.at(-1);
    if (before?.[0] !== point[0] || before[1] !== point[1]) part.push(point);
  };
  for (let i = 0; i + 1 < ring.length; i++) {
    const from = ring[i]!;
    const to = ring[i + 1]!;
    if (keeps(from[0])) add(from);
    // In one direction always, so that both parts and both neighbours have the very same point.
    if (keeps(from[0]) !== keeps(to[0])) add([180, from[0] < to[0] ? latitudeAt(from, to) : latitudeAt(to, from)]);
  }
  if (part.length < 3) return [];
  add(part[0]!);
  return part;
}

function areaOf(ring: readonly Point[]): number {
  let sum = 0;
  for (let i = 0; i + 1 < ring.length; i++) sum += ring[i]![0] * ring[i + 1]![1] - ring[i + 1]![0] * ring[i]![1];
  return sum / 2;
}
