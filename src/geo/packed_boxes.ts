// Boxes and the states of tasks as they go over the wire: columns of whole numbers, each the difference from the one before, since
// tiles lie in rows; states as letters with how often they follow each other. Pure, without imports that weigh: the dashboard unpacks.
import type { BoxSet } from "./boxes.js";
import type { Bounds } from "./raster.js";

/** A tenth of a metre. */
export const box_scale = 1e6;

/** Differences from the one before, of the ordinal and of the edges in parts of a degree. */
export interface PackedBoxes {
  ordinal: number[];
  west: number[];
  south: number[];
  east: number[];
  north: number[];
}

export function packBoxes(set: BoxSet, ordinals: readonly number[]): PackedBoxes {
  const column = (value: (ordinal: number) => number) => differences(ordinals.map(value));
  const edge = (edges: Float64Array) => column((ordinal) => Math.round(edges[ordinal]! * box_scale));
  return {
    ordinal: column((ordinal) => ordinal),
    west: edge(set.west),
    south: edge(set.south),
    east: edge(set.east),
    north: edge(set.north),
  };
}

export interface UnpackedBox {
  ordinal: number;
  box: Bounds;
}

export function unpackBoxes(packed: PackedBoxes, scale: number): UnpackedBox[] {
  const at = { ordinal: 0, west: 0, south: 0, east: 0, north: 0 };
  return packed.ordinal.map((step, i) => {
    at.ordinal += step;
    at.west += packed.west[i]!;
    at.south += packed.south[i]!;
    at.east += packed.east[i]!;
    at.north += packed.north[i]!;
    const box: Bounds = [at.west / scale, at.south / scale, at.east / scale, at.north / scale];
    return { ordinal: at.ordinal, box };
  });
}

function differences(values: number[]): number[] {
  let before = 0;
  return values.map((value) => {
    const step = value - before;
    before = value;
    return step;
  });
}

/** `c120f1c3`: a letter for what is alike and follows, and how many when it is more than one. */
export function packLetters(letters: Iterable<string>): string {
  let packed = "";
  let current = "";
  let count = 0;
  const flush = () => {
    if (count > 0) packed += count === 1 ? current : current + count;
  };
  for (const letter of letters) {
    if (letter === current) count++;
    else {
      flush();
      current = letter;
      count = 1;
    }
  }
  flush();
  return packed;
}

export function unpackLetters(packed: string): string {
  return packed.replaceAll(/([a-z])(\d*)/g, (_, letter: string, count: string) => letter.repeat(Number(count || 1)));
}

/** `0-99,120,200-300`, the last ones included, as ranges [lo, hi), sorted and apart. Null when it is none. */
export function parseOrdinals(text: string): [number, number][] | null {
  const ranges: [number, number][] = [];
  for (const part of text.split(",")) {
    const found = /^(\d{1,12})(?:-(\d{1,12}))?$/.exec(part.trim());
    if (found === null) return null;
    const lo = Number(found[1]);
    const hi = Number(found[2] ?? lo) + 1;
    if (hi <= lo) return null;
    ranges.push([lo, hi]);
  }
  return joined(ranges);
}

function joined(ranges: readonly (readonly [number, number])[]): [number, number][] {
  const apart: [number, number][] = [];
  for (const [lo, hi] of [...ranges].sort(([a], [b]) => a - b)) {
    const last = apart.at(-1);
    if (last !== undefined && lo <= last[1]) last[1] = Math.max(last[1], hi);
    else apart.push([lo, hi]);
  }
  return apart;
}

export function formatOrdinals(ranges: readonly (readonly [number, number])[]): string {
  return ranges.map(([lo, hi]) => (hi - lo === 1 ? String(lo) : `${lo}-${hi - 1}`)).join();
}

/** Numbers in any order as ranges [lo, hi), sorted and apart. */
export function rangesOf(numbers: readonly number[]): [number, number][] {
  return joined(numbers.map((number) => [number, number + 1]));
}
