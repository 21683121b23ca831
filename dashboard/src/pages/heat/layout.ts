// Where each cell of a stage lies on the canvas, and which cells lie where somebody points. In device pixels, because a cell that
// begins between two pixels is blurred. Pure.
import type { Range } from "../../selection.js";

export interface Grid {
  cells: number;
  columns: number;
  rows: number;
  /** From one cell to the next. */
  pitch: number;
  /** How much of it is filled. */
  fill: number;
  width: number;
  height: number;
}

/** In CSS pixels. Larger than this a cell is no easier to hit; smaller it cannot be told from its neighbours. */
const largest = 24;
const smallest = 4;
/** From here on cells are apart, and from `glyph_from` on they carry a sign. */
const gap_from = 5;
export const glyph_from = 8;

/** As large as cells can be for all of them to be seen at once; where that is too small, the canvas grows downwards. */
export function layOut(cells: number, width_css: number, height_css: number, ratio: number): Grid {
  const width = Math.max(1, Math.floor(width_css * ratio));
  const fits = (pitch: number) => {
    const columns = Math.floor(width_css / pitch);
    return columns > 0 && Math.ceil(cells / columns) * pitch <= height_css;
  };
  let pitch_css = smallest;
  for (let pitch = largest; pitch >= smallest; pitch--) {
    if (!fits(pitch)) continue;
    pitch_css = pitch;
    break;
  }
  const pitch = Math.max(1, Math.round(pitch_css * ratio));
  const gap = pitch_css >= gap_from ? Math.max(1, Math.round(ratio)) : 0;
  const columns = Math.max(1, Math.min(Math.floor(width / pitch), Math.max(1, cells)));
  const rows = Math.ceil(cells / columns);
  return { cells, columns, rows, pitch, fill: pitch - gap, width: columns * pitch, height: Math.max(1, rows * pitch) };
}

/** The cell at a place of the canvas, or null beside them. What lies between two cells belongs to the one before. */
export function cellAt({ cells, columns, pitch }: Grid, x: number, y: number): number | null {
  const [column, row] = [Math.floor(x / pitch), Math.floor(y / pitch)];
  if (column < 0 || row < 0 || column >= columns) return null;
  const cell = row * columns + column;
  return cell < cells ? cell : null;
}

/** As cellAt, but of the nearest cell: a drag may end outside. */
export function nearestCell(grid: Grid, x: number, y: number): number {
  const { columns, rows, pitch, cells } = grid;
  const column = Math.min(columns - 1, Math.max(0, Math.floor(x / pitch)));
  const row = Math.min(rows - 1, Math.max(0, Math.floor(y / pitch)));
  return Math.min(cells - 1, row * columns + column);
}

export function placeOf({ columns, pitch }: Grid, cell: number): { x: number; y: number } {
  return { x: (cell % columns) * pitch, y: Math.floor(cell / columns) * pitch };
}

export type DragShape = "box" | "run";

/** Cells [lo, hi) between two corners: those of the rectangle, row by row, or all from one to the other in their order. */
export function cellsBetween({ columns, cells }: Grid, from: number, to: number, shape: DragShape): Range[] {
  if (shape === "run") return [[Math.min(from, to), Math.max(from, to) + 1]];
  const [left, right] = ordered(from % columns, to % columns);
  const [top, bottom] = ordered(Math.floor(from / columns), Math.floor(to / columns));
  const ranges: Range[] = [];
  for (let row = top; row <= bottom; row++) {
    const lo = row * columns + left;
    const hi = Math.min(cells, row * columns + right + 1);
    if (hi > lo) ranges.push([lo, hi]);
  }
  return ranges;
}

function ordered(a: number, b: number): [number, number] {
  return a < b ? [a, b] : [b, a];
}

export interface Binning {
  first: number;
  total: number;
  tasks_per_cell: number;
  cells: number;
}

/** Ordinals of ranges of cells. */
export function ordinalsOfCells({ first, total, tasks_per_cell }: Binning, cells: readonly Range[]): Range[] {
  return cells.map(([lo, hi]) => [first + lo * tasks_per_cell, first + Math.min(total, hi * tasks_per_cell)]);
}

/** 1 for each cell that has a task of these ordinals: a cell of several tasks may have been selected in part, on the map. */
export function cellsOfOrdinals({ first, tasks_per_cell, cells }: Binning, ranges: readonly Range[]): Uint8Array {
  const marked = new Uint8Array(cells);
  for (const [lo, hi] of ranges) {
    const from = Math.max(0, Math.floor((lo - first) / tasks_per_cell));
    marked.fill(1, from, Math.min(cells, Math.ceil((hi - first) / tasks_per_cell)));
  }
  return marked;
}

/** Cells [lo, hi) whose byte is one of these, for "all that failed". */
export function cellsWith(bytes: Uint8Array, wanted: (byte: number) => boolean): Range[] {
  const ranges: Range[] = [];
  let from = -1;
  for (let cell = 0; cell <= bytes.length; cell++) {
    const is_in = cell < bytes.length && wanted(bytes[cell] as number);
    if (is_in && from < 0) from = cell;
    else if (!is_in && from >= 0) {
      ranges.push([from, cell]);
      from = -1;
    }
  }
  return ranges;
}

/** Where a key leads from a cell; null when it is not for us. */
export function moved(grid: Grid, cell: number, key: string): number | null {
  const { cells, columns } = grid;
  const page = columns * 10;
  const steps: Record<string, number> = {
    ArrowLeft: -1,
    ArrowRight: 1,
    ArrowUp: -columns,
    ArrowDown: columns,
    PageUp: -page,
    PageDown: page,
  };
  if (key === "Home") return 0;
  if (key === "End") return cells - 1;
  const step = steps[key];
  if (step === undefined) return null;
  const next = cell + step;
  // Up and down stay in their column, as far as there are rows.
  if (next >= 0 && next < cells) return next;
  return Math.abs(step) === 1 ? cell : next < 0 ? cell % columns : cells - 1;
}

/** Without those already in it: [lo, hi) added when any of it is missing, taken out when all of it is there. */
export function toggled(ranges: readonly Range[], [lo, hi]: Range): Range[] {
  const is_whole = ranges.some(([from, to]) => from <= lo && hi <= to);
  if (!is_whole) return [...ranges, [lo, hi]];
  return ranges.flatMap(([from, to]): Range[] =>
    from <= lo && hi <= to
      ? [
          [from, lo],
          [hi, to],
        ]
      : [[from, to]],
  );
}
