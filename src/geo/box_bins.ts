// Too many boxes to draw one by one become a grid over where they are: in each bin, how many tasks have which state. Pure.
import { type BoxSet, widthOf } from "./boxes.js";
import type { Bounds } from "./raster.js";

/** Bins of a grid; each is one rectangle on the screen. */
const most_bins = 4096;

export interface BinGrid {
  /** South-west corner, and the sides of a bin in degrees. West may run on over the antimeridian: wrap the sum. */
  west: number;
  south: number;
  width: number;
  height: number;
  columns: number;
  rows: number;
}

export interface Bins {
  grid: BinGrid;
  /** Only bins that hold something. */
  column: number[];
  row: number[];
  /** By state, then by bin. */
  counts: number[][];
}

/** Square on the globe's middle latitudes as far as it goes: as many columns to rows as the area is wide to high. */
export function gridOver([west, south, east, north]: Bounds, bins = most_bins): BinGrid {
  const wide = Math.max(widthOf(west, east), 1e-6);
  const high = Math.max(north - south, 1e-6);
  const columns = Math.max(1, Math.min(bins, Math.round(Math.sqrt((bins * wide) / high))));
  const rows = Math.max(1, Math.floor(bins / columns));
  return { west, south, width: wide / columns, height: high / rows, columns, rows };
}

/** Each box is where its middle is. */
export function binOf(grid: BinGrid, [west, south, east, north]: Bounds): number {
  const middle = west + widthOf(west, east) / 2;
  const apart = (((middle - grid.west) % 360) + 360) % 360;
  const column = clamp(Math.floor(apart / grid.width), grid.columns);
  const row = clamp(Math.floor(((south + north) / 2 - grid.south) / grid.height), grid.rows);
  return row * grid.columns + column;
}

export function binBoxes(
  set: BoxSet,
  ordinals: readonly number[],
  grid: BinGrid,
  stateOf: (ordinal: number) => number,
  states: number,
): Bins {
  const all = new Map<number, number[]>();
  for (const ordinal of ordinals) {
    const bin = binOf(grid, set.get(ordinal)!);
    let counts = all.get(bin);
    if (counts === undefined) {
      counts = new Array<number>(states).fill(0);
      all.set(bin, counts);
    }
    counts[stateOf(ordinal)]!++;
  }
  const bins = [...all].sort(([a], [b]) => a - b);
  return {
    grid,
    column: bins.map(([bin]) => bin % grid.columns),
    row: bins.map(([bin]) => Math.floor(bin / grid.columns)),
    counts: Array.from({ length: states }, (_, state) => bins.map(([, counts]) => counts[state]!)),
  };
}

function clamp(value: number, count: number): number {
  return Math.min(count - 1, Math.max(0, value));
}
