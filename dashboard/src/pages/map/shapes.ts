// What is drawn on a map, as it is handed to it, and the geometry of it: boxes that run on over the antimeridian, views that may show
// the globe more than once. Pure.
import type { Feature, FeatureCollection, Geometry, Polygon } from "geojson";
import type { FootprintState } from "../../../../src/core/shown/footprints.js";
import { BoxSet } from "../../../../src/geo/boxes.js";
import type { Bounds } from "../../../../src/geo/raster.js";

export interface MapBox {
  /** The ordinal of its task. */
  id: number;
  box: Bounds;
}

export interface MapBin {
  id: number;
  box: Bounds;
  /** The worst of its tasks. */
  state: FootprintState;
  count: number;
  selected: boolean;
}

export interface MapItem {
  id: number;
  geometry: Geometry;
}

/** What lies under the pointer. */
export interface Hit {
  kind: "boxes" | "bins" | "items" | "features";
  /** The keys of the features. */
  ids: number[];
  /** In pixels of the map. */
  x: number;
  y: number;
  /** By a finger: there is no hovering. */
  is_touch: boolean;
}

/** From best to worst, as the heat map has it: where several tasks share a place, the last one of these is shown. */
export const from_best: readonly FootprintState[] = [
  "completed",
  "skipped",
  "queued",
  "later",
  "processing",
  "cancelled",
  "retrying",
  "failed",
];

/** Tasks that will bring nothing unless somebody does something: drawn above all others. */
export const missing_states: ReadonlySet<FootprintState> = new Set(["failed", "cancelled"]);

export function worstIn(counts: Readonly<Partial<Record<FootprintState, number>>>): FootprintState {
  return from_best.findLast((state) => (counts[state] ?? 0) > 0) ?? "queued";
}

/** West to east without a jump: over the antimeridian, east is beyond 180. */
export function unbroken([west, south, east, north]: Bounds): Bounds {
  return [west, south, east < west ? east + 360 : east, north];
}

export function polygonOf(box: Bounds): Polygon {
  const [west, south, east, north] = unbroken(box);
  return {
    type: "Polygon",
    coordinates: [
      [
        [west, south],
        [east, south],
        [east, north],
        [west, north],
        [west, south],
      ],
    ],
  };
}

export function collectionOf<Properties extends Record<string, unknown>>(
  shapes: readonly { id: number; geometry: Geometry; properties?: Properties }[],
): FeatureCollection {
  return {
    type: "FeatureCollection",
    features: shapes.map(
      ({ id, geometry, properties }): Feature => ({ type: "Feature", id, geometry, properties: properties ?? {} }),
    ),
  };
}

/** What a view shows, between -180 and 180: all of it when the globe is seen more than once. */
export function viewOf(west: number, south: number, east: number, north: number): Bounds {
  const low = Math.max(-90, Math.min(south, north));
  const high = Math.min(90, Math.max(south, north));
  if (east - west >= 360) return [-180, low, 180, high];
  return [wrapped(west), low, wrapped(east), high];
}

function wrapped(lon: number): number {
  if (lon >= -180 && lon <= 180) return lon;
  return ((((lon + 180) % 360) + 360) % 360) - 180;
}

/** Around a geometry of an item that has no bbox, or a bad one. Null of one without a point. */
export function boxAround(geometry: Geometry | null): Bounds | null {
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity];
  const look = (value: unknown): void => {
    if (!Array.isArray(value)) return;
    if (typeof value[0] === "number" && typeof value[1] === "number") {
      west = Math.min(west, value[0]);
      east = Math.max(east, value[0]);
      south = Math.min(south, value[1]);
      north = Math.max(north, value[1]);
    } else for (const one of value) look(one);
  };
  if (geometry === null) return null;
  if (geometry.type === "GeometryCollection")
    for (const one of geometry.geometries) look("coordinates" in one ? one.coordinates : []);
  else look(geometry.coordinates);
  return west <= east ? [west, south, east, north] : null;
}

/** 47.3° N, 8.5° E; as many decimals as the size of what is shown deserves. */
export function placeText(lon: number, lat: number, span = 1): string {
  const digits = span > 20 ? 0 : span > 2 ? 1 : span > 0.2 ? 2 : span > 0.02 ? 3 : 4;
  const part = (value: number, plus: string, minus: string) =>
    `${Math.abs(value).toFixed(digits)}° ${value < 0 ? minus : plus}`;
  return `${part(lat, "N", "S")}, ${part(lon, "E", "W")}`;
}

export function boxText(box: Bounds): string {
  const [west, south, east, north] = unbroken(box);
  const span = Math.max(east - west, north - south);
  return `${placeText(box[0], south, span)} to ${placeText(box[2], north, span)}`;
}

/** An address can be only so long. */
const MOST_RANGES = 250;
type Range = readonly [lo: number, hi: number];

/** No more than fit into an address: gaps are closed, the smallest first. */
export function roughly(ranges: readonly Range[], most = MOST_RANGES): readonly Range[] {
  if (ranges.length <= most) return ranges;
  const gaps = ranges.slice(1).map(([lo], i) => lo - ranges[i]![1]);
  const widest = gaps.toSorted((a, b) => b - a)[most - 2]!;
  const out: [number, number][] = [];
  for (const [i, [lo, hi]] of ranges.entries()) {
    const last = out.at(-1);
    if (last !== undefined && (gaps[i - 1]! < widest || out.length === most)) last[1] = hi;
    else out.push([lo, hi]);
  }
  return out;
}

/** The box that holds all of them; null: there are none. */
export function around(boxes: readonly Bounds[]): Bounds | null {
  const set = new BoxSet(boxes.length);
  for (const [i, box] of boxes.entries()) set.set(i, box);
  return set.extent();
}

/** The ordinal in the task's id, when the task is one of this stage. */
export function ordinalIn(task_id: string, stage_id: number): number | null {
  const found = /^(\d+)-(\d{1,12})$/.exec(task_id);
  return found !== null && Number(found[1]) === stage_id ? Number(found[2]) : null;
}

/** A box with as much around it on every side as it is large: alone it says little about where it is. */
export function withSurroundings([west, south, east, north]: Bounds): Bounds {
  // One that crosses the antimeridian keeps its sides.
  const wide = west <= east ? Math.max(east - west, 0.01) : 0;
  const high = Math.max(north - south, 0.01);
  return [
    Math.max(-180, west - wide),
    Math.max(-85, south - high),
    Math.min(180, east + wide),
    Math.min(85, north + high),
  ];
}
