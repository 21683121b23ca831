// GeoJSON geometries as RFC 7946 has them, checked before a database sees them: every problem with the path to it. Pure.
import { jsonPath, kindOf, type Problem, quoted, type Step } from "../core/errors/problems.js";

/** Positions of one geometry: a search or an item with more is an attack or a mistake. */
const most_positions = 100_000;
const deepest_collection = 4;

/** How deep the arrays of positions are nested, and how many positions the innermost has at least. */
const shapes: Record<string, { depth: number; least: number; closed?: boolean }> = {
  Point: { depth: 0, least: 1 },
  MultiPoint: { depth: 1, least: 0 },
  LineString: { depth: 1, least: 2 },
  MultiLineString: { depth: 2, least: 2 },
  Polygon: { depth: 2, least: 4, closed: true },
  MultiPolygon: { depth: 3, least: 4, closed: true },
};

/** How far a position may be from zero. Beyond 1e9 the database's own geometry would not be the one that was meant. */
const farthest = [1e9, 1e9, 1e9, 1e9];
/** For longitude and latitude only. */
export const degrees = [180, 90, 1e9, 1e9];

export function geometryProblems(value: unknown, at: readonly Step[], most: readonly number[] = farthest): Problem[] {
  const walk = new Walk(most);
  walk.geometry(value, at, 0);
  return walk.problems;
}

class Walk {
  readonly problems: Problem[] = [];
  private positions = 0;

  constructor(private readonly most: readonly number[]) {}

  geometry(value: unknown, at: readonly Step[], depth: number): void {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      this.tell(at, `is ${kindOf(value)}, not a GeoJSON geometry`, 'give {"type": …, "coordinates": …}');
      return;
    }
    const { type, coordinates, geometries } = value as Record<string, unknown>;
    const shape = typeof type === "string" && Object.hasOwn(shapes, type) ? shapes[type] : undefined;
    if (type === "GeometryCollection") this.collection(geometries, at, depth);
    else if (shape !== undefined) this.nested(coordinates, [...at, "coordinates"], shape.depth, shape);
    else {
      const known = [...Object.keys(shapes), "GeometryCollection"].join(", ");
      this.tell([...at, "type"], `${quoted(type)} is not a type of geometry`, `one of ${known}`);
    }
  }

  private collection(geometries: unknown, at: readonly Step[], depth: number): void {
    if (!Array.isArray(geometries)) this.tell([...at, "geometries"], "is not an array", "give the geometries");
    else if (depth >= deepest_collection) this.tell(at, "is nested too deeply", "give one flat collection");
    else {
      for (const [place, one] of geometries.entries()) {
        if (this.isFull()) return;
        this.geometry(one, [...at, "geometries", place], depth + 1);
      }
    }
  }

  private nested(value: unknown, at: readonly Step[], depth: number, shape: { least: number; closed?: boolean }): void {
    if (this.isFull()) return;
    if (depth === 0) this.position(value, at);
    else if (!Array.isArray(value)) this.tell(at, `is ${kindOf(value)}, not an array`, "nest it as RFC 7946 says");
    else if (depth === 1 && value.length < shape.least)
      this.tell(at, `has ${value.length} positions`, `give at least ${shape.least}`);
    else {
      if (depth === 1 && shape.closed && !samePosition(value[0], value.at(-1)))
        this.tell(at, "is a ring that does not end where it begins", "repeat the first position at the end");
      for (const [place, one] of value.entries()) this.nested(one, [...at, place], depth - 1, shape);
    }
  }

  private position(value: unknown, at: readonly Step[]): void {
    this.positions++;
    const is_position =
      Array.isArray(value) && value.length >= 2 && value.length <= 4 && value.every((one) => Number.isFinite(one));
    if (this.positions > most_positions)
      this.tell(at, `is one of more than ${most_positions} positions`, "simplify the geometry");
    else if (!is_position) this.tell(at, "is not a position", "give [longitude, latitude] as numbers");
    else if (value.some((one, place) => Math.abs(one) > this.most[place]!))
      this.tell(
        at,
        `${value.slice(0, 2).join(", ")} is nowhere on Earth`,
        "longitude first, then latitude, in degrees",
      );
  }

  private isFull(): boolean {
    return this.problems.length >= 5 || this.positions > most_positions;
  }

  private tell(at: readonly Step[], problem: string, fix: string): void {
    if (this.problems.length < 5) this.problems.push({ path: jsonPath(at), problem, fix });
  }
}

function samePosition(a: unknown, b: unknown): boolean {
  return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((one, place) => one === b[place]);
}

/**
 * What is wrong with a bbox: west, south, east, north, with or without heights. West beyond east crosses the antimeridian and is right.
 * `widest`: the largest longitude.
 */
export function bboxProblem(value: unknown, widest = 180): string | null {
  if (!Array.isArray(value)) return `is ${kindOf(value)}, not 4 or 6 numbers`;
  if (value.length !== 4 && value.length !== 6) return `has ${value.length} numbers, not 4 or 6`;
  const wrong = value.findIndex((one) => !Number.isFinite(one));
  if (wrong >= 0) return `has ${quoted(value[wrong])}, which is not a number`;
  const half = value.length / 2;
  const [west, south] = value;
  const [east, north] = value.slice(half);
  if (south > north) return `has its south above its north: ${south}, ${north}`;
  if (half === 3 && value[2] > value[5]) return `has its bottom above its top: ${value[2]}, ${value[5]}`;
  if (south < -90 || north > 90) return `reaches beyond a pole: ${south}, ${north}`;
  const beyond = [west, east].find((longitude) => Math.abs(longitude) > widest);
  return beyond === undefined ? null : `has the longitude ${beyond}, which is beyond ${widest}`;
}

/** The same for a box that is not in degrees: nothing is known of how far it may reach. */
export function boxProblem(value: unknown): string | null {
  if (!Array.isArray(value)) return `is ${kindOf(value)}, not 4 or 6 numbers`;
  if (value.length !== 4 && value.length !== 6) return `has ${value.length} numbers, not 4 or 6`;
  const wrong = value.findIndex((one) => !Number.isFinite(one) || Math.abs(one) > farthest[0]!);
  if (wrong >= 0) return `has ${quoted(value[wrong])}, which is no coordinate`;
  const half = value.length / 2;
  const swapped = value.slice(0, half).findIndex((one, place) => one > value[place + half]);
  return swapped < 0 ? null : `has ${value[swapped]} as least and ${value[swapped + half]} as most`;
}

/** What a bbox covers: where its west is east of its east it crosses the antimeridian. Heights do not count: footprints have none. */
export function bboxGeometry(bbox: readonly number[]): { type: string; coordinates: unknown } {
  const half = bbox.length / 2;
  const [west = 0, south = 0] = bbox;
  const [east = 0, north = 0] = bbox.slice(half);
  if (west <= east) return boxGeometry(west, south, east, north);
  const parts = [boxGeometry(west, south, 180, north), boxGeometry(-180, south, east, north)];
  const type = parts[0]!.type === parts[1]!.type ? `Multi${parts[0]!.type}` : "GeometryCollection";
  return type === "GeometryCollection"
    ? ({ type, geometries: parts } as never)
    : { type, coordinates: parts.map(({ coordinates }) => coordinates) };
}

/** A box without width or height is a line or a point: as a polygon it would not be valid. */
function boxGeometry(west: number, south: number, east: number, north: number) {
  if (west === east && south === north) return { type: "Point", coordinates: [west, south] };
  if (west === east || south === north)
    return {
      type: "LineString",
      coordinates: [
        [west, south],
        [east, north],
      ],
    };
  const ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
  return { type: "Polygon", coordinates: [ring] };
}
