// What is wrong with a geometry or a bounding box that a caller gave, in longitude and latitude.
import { geometryProblems } from "../../../catalog/geojson.js";
import { type Problem, quoted } from "../../../core/problems.js";

/** `path`: where it is in the request. */
export function areaProblems(value: unknown, path: string): Problem[] {
  const found = geometryProblems(value, []).map((one) => ({ ...one, path: path + one.path.slice(1) }));
  if (found.length > 0) return found;
  const { coordinates, geometries = [] } = value as { coordinates?: unknown; geometries?: unknown[] };
  const stray = strayOf(coordinates);
  if (stray !== null) {
    const problem = `${stray.slice(0, 2).join(", ")} is nowhere in longitude and latitude`;
    return [{ path: `${path}.coordinates`, problem, fix: "Longitude first, then latitude, in degrees." }];
  }
  return geometries.flatMap((one, at) => areaProblems(one, `${path}.geometries[${at}]`)).slice(0, 5);
}

/** The first position beyond the Earth. */
function strayOf(value: unknown): number[] | null {
  if (!Array.isArray(value)) return null;
  if (typeof value[0] === "number") return Math.abs(value[0]) > 180 || Math.abs(value[1]) > 90 ? value : null;
  for (const one of value) {
    const stray = strayOf(one);
    if (stray !== null) return stray;
  }
  return null;
}

/** Four numbers, or six with heights. West beyond east crosses the antimeridian and is right. */
export function bboxProblems(value: readonly unknown[], path: string): Problem[] {
  const fix = "Give west,south,east,north in degrees; or six numbers with heights.";
  if (value.length !== 4 && value.length !== 6)
    return [{ path, problem: `has ${value.length} numbers, not 4 or 6`, fix }];
  const wrong = value.findIndex((one) => !Number.isFinite(one));
  if (wrong >= 0) return [{ path, problem: `${quoted(value[wrong])} is not a number`, fix }];
  const numbers = value as number[];
  const half = numbers.length / 2;
  const [west, south] = numbers as [number, number];
  const [east, north] = numbers.slice(half) as [number, number];
  const problems: Problem[] = [];
  const tell = (problem: string) => problems.push({ path, problem, fix });
  for (const longitude of [west, east])
    if (Math.abs(longitude) > 180) tell(`the longitude ${longitude} is not between -180 and 180`);
  for (const latitude of [south, north])
    if (Math.abs(latitude) > 90) tell(`the latitude ${latitude} is not between -90 and 90`);
  if (south > north) tell(`its south (${south}) is north of its north (${north})`);
  if (half === 3 && numbers[2]! > numbers[5]!)
    tell(`its lowest height (${numbers[2]}) is above its highest (${numbers[5]})`);
  return problems;
}
