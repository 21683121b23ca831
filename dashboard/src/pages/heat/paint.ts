// Cells into pixels: one pass over typed arrays, whatever the number of tasks. Pure; colours come as a table.
import { cell_codes, cell_statuses } from "../../../../src/core/shown/cells.js";
import type { Grid } from "./layout.js";

export interface Paint {
  /** Colour of each value of a cell's byte, as ImageData has it on this machine. */
  colours: Uint32Array;
  /** Colour of the sign on it. */
  ink: Uint32Array;
  background: number;
  /** Signs by value, one byte per pixel of a filled cell; null: none are drawn. */
  glyphs: readonly (Uint8Array | null)[] | null;
}

/** Little-endian, as every browser's machine is: alpha first. */
export function pixel(r: number, g: number, b: number): number {
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

export function paintAll(pixels: Uint32Array, grid: Grid, values: Uint8Array, paint: Paint): void {
  pixels.fill(paint.background);
  for (let cell = 0; cell < grid.cells; cell++) paintCell(pixels, grid, cell, values[cell] as number, paint);
}

export function paintCell(pixels: Uint32Array, grid: Grid, cell: number, value: number, paint: Paint): void {
  const { columns, pitch, fill, width } = grid;
  const colour = paint.colours[value] as number;
  const glyph = paint.glyphs?.[value] ?? null;
  let start = Math.floor(cell / columns) * pitch * width + (cell % columns) * pitch;
  if (glyph === null) {
    for (let y = 0; y < fill; y++, start += width) pixels.fill(colour, start, start + fill);
    return;
  }
  const ink = paint.ink[value] as number;
  for (let y = 0, at = 0; y < fill; y++, start += width) {
    for (let x = 0; x < fill; x++, at++) pixels[start + x] = glyph[at] === 1 ? ink : colour;
  }
}

/** Cells whose byte is another now. */
export function changedCells(before: Uint8Array, after: Uint8Array): number[] {
  const changed: number[] = [];
  for (let cell = 0; cell < after.length; cell++) if (before[cell] !== after[cell]) changed.push(cell);
  return changed;
}

/** A sign for each status, so that nobody needs the colours: a cross for failed, an arrow's ring for retrying, and so on. */
export function statusGlyphs(size: number): (Uint8Array | null)[] {
  const draw = (is_ink: (x: number, y: number) => boolean): Uint8Array => {
    const mask = new Uint8Array(size * size);
    for (let y = 0; y < size; y++) {
      // From -1 to 1, in the middle of the pixel.
      for (let x = 0; x < size; x++) {
        if (is_ink(((x + 0.5) / size) * 2 - 1, ((y + 0.5) / size) * 2 - 1)) mask[y * size + x] = 1;
      }
    }
    return mask;
  };
  const line = Math.max(0.16, 1.1 / size);
  const signs: Partial<Record<(typeof cell_statuses)[number], (x: number, y: number) => boolean>> = {
    failed: (x, y) => Math.abs(Math.abs(x) - Math.abs(y)) < line * 1.5 && Math.max(Math.abs(x), Math.abs(y)) < 0.75,
    retrying: (x, y) => Math.abs(Math.hypot(x, y) - 0.5) < line * 1.3 && !(x > 0 && y < 0),
    processing: (x, y) => x + y > 0 && Math.max(Math.abs(x), Math.abs(y)) < 0.8,
    cancelled: (x, y) => Math.max(Math.abs(x), Math.abs(y)) < 0.4,
    skipped: (x, y) => Math.abs(y) < line * 1.3 && Math.abs(x) < 0.7,
    later: (x, y) => Math.abs(x + Math.abs(y) - 0.35) < line * 1.5 && Math.abs(y) < 0.55,
    queued: (x, y) => Math.hypot(x, y) < 0.28,
    waiting: (x, y) =>
      Math.abs(y) < line * 1.3 && (Math.abs(x) < line * 1.3 || Math.abs(Math.abs(x) - 0.55) < line * 1.3),
  };
  const glyphs: (Uint8Array | null)[] = Array.from({ length: cell_statuses.length }, () => null);
  for (const [status, is_ink] of Object.entries(signs)) glyphs[cell_codes[status as keyof typeof signs]] = draw(is_ink);
  return glyphs;
}

/** Colours of a ramp for values between the least and the most there are; `none` for 0. */
export function rampTable(
  stops: readonly (readonly [number, number, number])[],
  least: number,
  most: number,
  none: number,
): Uint32Array {
  const table = new Uint32Array(256).fill(none);
  for (let value = 1; value < 256; value++) {
    const share = most > least ? Math.min(1, Math.max(0, (value - least) / (most - least))) : 0.5;
    const place = share * (stops.length - 1);
    const at = Math.min(stops.length - 2, Math.floor(place));
    const [a, b] = [stops[at]!, stops[at + 1]!];
    const mix = (channel: 0 | 1 | 2) => Math.round(a[channel] + (b[channel] - a[channel]) * (place - at));
    table[value] = pixel(mix(0), mix(1), mix(2));
  }
  return table;
}

/** Least and most of the bytes that are not 0. */
export function extent(bytes: Uint8Array): [number, number] {
  let [least, most] = [255, 0];
  for (const byte of bytes) {
    if (byte === 0) continue;
    if (byte < least) least = byte;
    if (byte > most) most = byte;
  }
  return most === 0 ? [1, 1] : [least, most];
}
