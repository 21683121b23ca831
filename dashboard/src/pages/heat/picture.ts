// The two canvases of a heat map: the cells below, and above them what is selected, where the cursor is and what has just changed.
import type { Range } from "../../selection.js";
import { colourOf } from "../../status.js";
import { cellsBetween, type DragShape, type Grid, placeOf } from "./layout.js";
import { changedCells, type Paint, paintAll, paintCell } from "./paint.js";

export interface Overlay {
  selected: Uint8Array | null;
  cursor: number | null;
  hovered: number | null;
  drag: { from: number; to: number; shape: DragShape } | null;
  lit: Iterable<[cell: number, left: number]>;
}

export class Picture {
  #image: ImageData | null = null;
  #pixels = new Uint32Array(0);
  #shown: { grid: Grid; paint: Paint; values: Uint8Array } | null = null;

  constructor(
    private readonly below: HTMLCanvasElement,
    private readonly above: HTMLCanvasElement,
  ) {}

  /** Paints what is different from what is shown; all of it when it lies or looks otherwise. Returns the cells that changed. */
  draw(grid: Grid, values: Uint8Array, paint: Paint): number[] {
    const start = performance.now();
    const shown = this.#shown;
    const context = this.below.getContext("2d");
    if (context === null) return [];
    let changed: number[] = [];
    let painted = grid.cells;
    if (shown === null || this.#image === null || shown.paint !== paint || !isSame(shown.grid, grid)) {
      for (const canvas of [this.below, this.above]) {
        if (canvas.width !== grid.width) canvas.width = grid.width;
        if (canvas.height !== grid.height) canvas.height = grid.height;
      }
      this.#image = context.createImageData(grid.width, grid.height);
      this.#pixels = new Uint32Array(this.#image.data.buffer);
      paintAll(this.#pixels, grid, values, paint);
      context.putImageData(this.#image, 0, 0);
    } else {
      changed = changedCells(shown.values, values);
      painted = changed.length;
      for (const cell of changed) paintCell(this.#pixels, grid, cell, values[cell] as number, paint);
      if (changed.length > 500) context.putImageData(this.#image, 0, 0);
      else {
        for (const cell of changed) {
          const { x, y } = placeOf(grid, cell);
          context.putImageData(this.#image, 0, 0, x, y, grid.fill, grid.fill);
        }
      }
    }
    this.#shown = { grid, paint, values };
    // Read by the benchmark, and by developers who look into the browser's profile.
    performance.measure("fanfold:heat:draw", {
      start,
      detail: { cells: grid.cells, painted },
    });
    return changed;
  }

  overlay(grid: Grid, { selected, cursor, hovered, drag, lit }: Overlay): void {
    const context = this.above.getContext("2d");
    if (context === null) return;
    context.clearRect(0, 0, grid.width, grid.height);
    const line = Math.max(1, Math.round(grid.pitch / 10));
    if (selected?.includes(1)) {
      // What is not selected steps back; what is keeps its colours, and has an edge.
      context.globalAlpha = 0.62;
      context.fillStyle = colourOf("--bg");
      context.fillRect(0, 0, grid.width, grid.height);
      context.globalAlpha = 1;
      context.fillStyle = colourOf("--st-selected");
      for (let cell = 0; cell < grid.cells; cell++) {
        if (selected[cell] !== 1) continue;
        const { x, y } = placeOf(grid, cell);
        context.clearRect(x, y, grid.pitch, grid.pitch);
      }
      for (let cell = 0; cell < grid.cells; cell++)
        if (selected[cell] === 1) edges(context, grid, selected, cell, line);
    }
    if (drag !== null) {
      context.fillStyle = colourOf("--accent");
      context.globalAlpha = 0.35;
      for (const [lo, hi] of cellsBetween(grid, drag.from, drag.to, drag.shape)) fillCells(context, grid, [lo, hi]);
      context.globalAlpha = 1;
    }
    context.fillStyle = colourOf("--text");
    for (const [cell, left] of lit) {
      const { x, y } = placeOf(grid, cell);
      context.globalAlpha = left * 0.5;
      context.fillRect(x, y, grid.fill, grid.fill);
    }
    context.globalAlpha = 1;
    if (hovered !== null) frame(context, grid, hovered, colourOf("--text"), line);
    if (cursor !== null) frame(context, grid, cursor, colourOf("--focus"), line + 1);
  }
}

function isSame(a: Grid, b: Grid): boolean {
  return a.cells === b.cells && a.columns === b.columns && a.pitch === b.pitch && a.fill === b.fill;
}

/** Row by row, each in one piece. */
function fillCells(context: CanvasRenderingContext2D, grid: Grid, [lo, hi]: Range): void {
  for (let from = lo; from < hi; ) {
    const end = Math.min(hi, (Math.floor(from / grid.columns) + 1) * grid.columns);
    const { x, y } = placeOf(grid, from);
    context.fillRect(x, y, (end - from) * grid.pitch, grid.pitch);
    from = end;
  }
}

function edges(context: CanvasRenderingContext2D, grid: Grid, selected: Uint8Array, cell: number, line: number): void {
  const { columns, pitch } = grid;
  const { x, y } = placeOf(grid, cell);
  const column = cell % columns;
  if (selected[cell - columns] !== 1) context.fillRect(x, y, pitch, line);
  if (selected[cell + columns] !== 1) context.fillRect(x, y + pitch - line, pitch, line);
  if (column === 0 || selected[cell - 1] !== 1) context.fillRect(x, y, line, pitch);
  if (column === columns - 1 || selected[cell + 1] !== 1) context.fillRect(x + pitch - line, y, line, pitch);
}

function frame(context: CanvasRenderingContext2D, grid: Grid, cell: number, colour: string, line: number): void {
  const { x, y } = placeOf(grid, cell);
  context.strokeStyle = colour;
  context.lineWidth = line;
  context.strokeRect(x + line / 2, y + line / 2, grid.pitch - line, grid.pitch - line);
}
