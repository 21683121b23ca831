// Which cells belong to an area of polygons. From the base cells downwards: where no edge of the area is near, a cell goes in or out with
// everything below it; only the others are taken apart. So the land of the world costs its coast, not its surface. Pure.
import { cellToLatLng } from "h3-js";
import type { Point } from "../bounds.js";
import { signedArea } from "../rings.js";
import { type CellNumber, childrenOf, reachOf, resolutionOf, splitIndex } from "./cell.js";
import { overlapsCell } from "./cell_overlap.js";

/** Rings of one polygon, the outer one first, in degrees and within ±180. */
export type PolygonRings = readonly (readonly Point[])[];

/** Which cells count at the area's edge: those whose centre lies in it, all that touch it, or all that may have such below them. */
export type Membership = "centre" | "overlap" | "near";

const bands_per_degree = 4;
const band_count = 180 * bands_per_degree;

/** Polygons that may lie over each other; what is in any of them is in. */
export class Area {
  /** x1, y1, x2, y2 of each edge; outer rings counter-clockwise, holes clockwise. */
  readonly edges: Float64Array;
  private readonly bands: Int32Array[] = [];
  /** All of them, for the walk to begin with. */
  readonly every: Int32Array;

  constructor(polygons: readonly PolygonRings[]) {
    const edges: number[] = [];
    for (const rings of polygons) {
      rings.forEach((ring, place) => {
        const is_turned = signedArea(ring) > 0 !== (place === 0);
        for (let i = 0; i + 1 < ring.length; i++) {
          const [x1, y1] = ring[is_turned ? i + 1 : i]!;
          const [x2, y2] = ring[is_turned ? i : i + 1]!;
          if (x1 !== x2 || y1 !== y2) edges.push(x1, y1, x2, y2);
        }
      });
    }
    this.edges = Float64Array.from(edges);
    this.every = Int32Array.from({ length: edges.length / 4 }, (_, i) => i * 4);
    const bands: number[][] = Array.from({ length: band_count }, () => []);
    for (let at = 0; at < edges.length; at += 4) {
      const low = bandOf(Math.min(edges[at + 1]!, edges[at + 3]!));
      const high = bandOf(Math.max(edges[at + 1]!, edges[at + 3]!));
      for (let band = low; band <= high; band++) bands[band]!.push(at);
    }
    this.bands = bands.map((band) => Int32Array.from(band));
  }

  /** How often the polygons' edges go round the point: above zero within any of them. */
  contains(x: number, y: number): boolean {
    const { edges } = this;
    const band = this.bands[bandOf(y)]!;
    let turns = 0;
    for (let i = 0; i < band.length; i++) {
      const at = band[i]!;
      const y1 = edges[at + 1]!;
      const y2 = edges[at + 3]!;
      if (y1 > y === y2 > y) continue;
      const x1 = edges[at]!;
      const crossing = x1 + ((y - y1) / (y2 - y1)) * (edges[at + 2]! - x1);
      if (crossing > x) turns += y2 > y1 ? 1 : -1;
    }
    return turns > 0;
  }

  /** Returns those of these edges whose box comes near the place; longitudes also from the other side of the antimeridian. */
  near(candidates: Int32Array, x: number, y: number, reach: number): Int32Array {
    const { edges } = this;
    const south = y - reach;
    const north = y + reach;
    const widest = Math.max(Math.abs(south), Math.abs(north));
    const half = widest >= 90 ? 360 : Math.min(360, reach / Math.cos((widest * Math.PI) / 180));
    const found: number[] = [];
    for (let i = 0; i < candidates.length; i++) {
      const at = candidates[i]!;
      const y1 = edges[at + 1]!;
      const y2 = edges[at + 3]!;
      if ((y1 > y2 ? y1 : y2) < south || (y1 < y2 ? y1 : y2) > north) continue;
      const x1 = edges[at]!;
      const x2 = edges[at + 2]!;
      const least = x1 < x2 ? x1 : x2;
      const most = x1 < x2 ? x2 : x1;
      if (
        (most >= x - half && least <= x + half) ||
        (most >= x + 360 - half && least <= x + 360 + half) ||
        (most >= x - 360 - half && least <= x - 360 + half)
      ) {
        found.push(at);
      }
    }
    return Int32Array.from(found);
  }
}

function bandOf(y: number): number {
  return Math.max(0, Math.min(band_count - 1, Math.floor((y + 90) * bands_per_degree)));
}

export interface Walk {
  areas: readonly Area[];
  resolution: number;
  membership: Membership;
  /** Everything below this cell down to the resolution of the walk is in. */
  whole(cell: CellNumber): void;
}

/** All members below these cells that lie in every one of the areas, as cells of the walk's resolution or whole ancestors of them. */
export function walkArea(roots: readonly CellNumber[], walk: Walk): void {
  for (const root of roots) {
    visit(
      root,
      walk.areas.map((area) => area.every),
      walk,
    );
  }
}

/** `edges`: for each area those that may be near the cell; null where all of the cell is known to be in. */
function visit(cell: CellNumber, edges: readonly (Int32Array | null)[], walk: Walk): void {
  const resolution = resolutionOf(cell);
  const [lat, lon] = cellToLatLng(splitIndex(cell));
  const reach = (reachOf(resolution) * 180) / Math.PI;
  const is_last = resolution === walk.resolution;
  const near: (Int32Array | null)[] = [];
  let is_settled = true;
  for (let i = 0; i < edges.length; i++) {
    const area = walk.areas[i]!;
    const candidates = edges[i]!;
    const found = candidates === null ? null : area.near(candidates, lon, lat, reach);
    if (found === null) near.push(null);
    else if (found.length === 0 || (is_last && walk.membership === "centre")) {
      if (!area.contains(lon, lat)) return;
      near.push(null);
    } else if (is_last) {
      if (walk.membership === "overlap" && !area.contains(lon, lat) && !overlapsCell(cell, area.edges, found)) return;
      near.push(null);
    } else {
      near.push(found);
      is_settled = false;
    }
  }
  if (is_settled) walk.whole(cell);
  else for (const child of childrenOf(cell)) visit(child, near, walk);
}

/** A box as polygons; west beyond east goes over the antimeridian. */
export function boxPolygons([west, south, east, north]: readonly number[]): PolygonRings[] {
  const box = (from: number, to: number): PolygonRings => [
    [
      [from, south!],
      [to, south!],
      [to, north!],
      [from, north!],
      [from, south!],
    ],
  ];
  return west! <= east! ? [box(west!, east!)] : [box(west!, 180), box(-180, east!)];
}
