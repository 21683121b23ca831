// Where the pixels of a tile lie in a raster. The mathematics of reference systems is costly: it is asked at the corners of squares, and between
// them a straight line is drawn where that errs by less than an eighth of a pixel. Pure.
import type { GeoTransform } from "../raster.js";

/** From the tile's reference system to the raster's; null where there is no such place. */
export type Projecting = (x: number, y: number) => readonly [number, number] | null;

export interface TileGrid {
  /** West, south, east, north. */
  box: readonly [number, number, number, number];
  size: number;
}

export interface Positions {
  size: number;
  /** Column and row in the whole raster, with their parts; NaN: nowhere. */
  columns: Float64Array;
  rows: Float64Array;
  /** Pixels of the raster for one of the tile, where they are closest together. */
  ratio: number;
}

const largest_error = 0.125;
/** The side of the squares that are tried first, in pixels of the tile. */
const first_step = 32;
/** Where a square is nowhere at its corners and in its middle, it is taken for nowhere if it is this small. */
const small_step = 4;

/** Null for a transform that cannot be turned around. */
export function positionsOf({ box, size }: TileGrid, project: Projecting, transform: GeoTransform): Positions | null {
  const toPixel = inverseOf(transform);
  if (toPixel === null) return null;
  const [west, south, east, north] = box;
  const place = (column: number, row: number): Pixel => {
    const x = west + (column / size) * (east - west);
    const y = north - (row / size) * (north - south);
    const found = project(x, y);
    return found === null || !Number.isFinite(found[0] + found[1]) ? nowhere : toPixel(found[0], found[1]);
  };
  const found = { size, columns: new Float64Array(size * size), rows: new Float64Array(size * size) };
  for (let top = 0; top < size; top += first_step)
    for (let left = 0; left < size; left += first_step) square(found, left, top, first_step, place);
  return { ...found, ratio: ratioOf(size, found) };
}

type Pixel = readonly [number, number];
const nowhere: Pixel = [Number.NaN, Number.NaN];

type Places = Pick<Positions, "size" | "columns" | "rows">;

/** Filled with a straight line where that is close enough, else in four parts. */
function square(
  to: Places,
  left: number,
  top: number,
  step: number,
  place: (column: number, row: number) => Pixel,
): void {
  if (step === 1) {
    const at = top * to.size + left;
    [to.columns[at], to.rows[at]] = place(left + 0.5, top + 0.5) as [number, number];
    return;
  }
  const four = [
    place(left, top),
    place(left + step, top),
    place(left, top + step),
    place(left + step, top + step),
  ] as const;
  const half = step / 2;
  if (isStraight(four, place(left + half, top + half), step)) fill(four, left, top, step, to);
  else for (const down of [0, half]) for (const right of [0, half]) square(to, left + right, top + down, half, place);
}

type Four = readonly [Pixel, Pixel, Pixel, Pixel];

function isStraight([a, b, c, d]: Four, middle: Pixel, step: number): boolean {
  const known = [a, b, c, d, middle].filter(([column]) => !Number.isNaN(column)).length;
  if (known === 0) return step <= small_step;
  if (known < 5) return false;
  return [0, 1].every((axis) => {
    const straight = (a[axis]! + b[axis]! + c[axis]! + d[axis]!) / 4;
    return Math.abs(straight - middle[axis]!) < largest_error;
  });
}

function fill([a, b, c, d]: Four, left: number, top: number, step: number, { size, columns, rows }: Places): void {
  for (let y = 0; y < step; y++) {
    const v = (y + 0.5) / step;
    const from_column = a[0] + (c[0] - a[0]) * v;
    const to_column = b[0] + (d[0] - b[0]) * v;
    const from_row = a[1] + (c[1] - a[1]) * v;
    const to_row = b[1] + (d[1] - b[1]) * v;
    let at = (top + y) * size + left;
    for (let x = 0; x < step; x++, at++) {
      const u = (x + 0.5) / step;
      columns[at] = from_column + (to_column - from_column) * u;
      rows[at] = from_row + (to_row - from_row) * u;
    }
  }
}

/** The ratio at the lines through the tile's middle, and where those say nothing, at all lines. */
function ratioOf(size: number, { columns, rows }: Places): number {
  const last = size * size - 1;
  const diagonals = [
    [0, last],
    [size - 1, last - size + 1],
  ] as const;
  const spans = diagonals
    .map(([from, to]) => Math.hypot(columns[to]! - columns[from]!, rows[to]! - rows[from]!) / (Math.SQRT2 * (size - 1)))
    .filter((span) => span > 0);
  if (spans.length > 0) return Math.min(...spans);
  let least = Number.POSITIVE_INFINITY;
  for (let at = 0; at < last; at++) {
    const span = Math.hypot(columns[at + 1]! - columns[at]!, rows[at + 1]! - rows[at]!);
    if (span > 0 && at % size < size - 1) least = Math.min(least, span);
  }
  return Number.isFinite(least) ? least : 1;
}

function inverseOf([x0, dx, rx, y0, ry, dy]: GeoTransform): ((x: number, y: number) => Pixel) | null {
  const determinant = dx * dy - rx * ry;
  if (!Number.isFinite(determinant) || determinant === 0) return null;
  return (x, y) => [(dy * (x - x0) - rx * (y - y0)) / determinant, (dx * (y - y0) - ry * (x - x0)) / determinant];
}
