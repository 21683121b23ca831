// The part of one level that a tile needs, as plain numbers band by band, with what is valid of it; and the tile's pixels taken from that. Pure.
import type { Samples } from "../tiff/tiff_pixels.js";
import type { Level } from "./levels.js";
import type { Positions } from "./positions.js";

/** In pixels of the level. */
export interface Part {
  left: number;
  top: number;
  width: number;
  height: number;
}

export interface Pixels {
  width: number;
  height: number;
  /** The values of each band that was asked for. */
  bands: Float64Array[];
  valid: Uint8Array;
}

export const samplings = ["nearest", "bilinear"] as const;
export type Sampling = (typeof samplings)[number];

/** Null where the tile is beside the raster. With a pixel around it, for what lies between two. */
export function partOf({ columns, rows }: Positions, { image, ratio_x, ratio_y }: Level): Part | null {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  const [wide, high] = [image.width * ratio_x, image.height * ratio_y];
  for (let at = 0; at < columns.length; at++) {
    const column = columns[at]!;
    const row = rows[at]!;
    if (!(column >= 0 && row >= 0 && column < wide && row < high)) continue;
    if (column < left) left = column;
    if (column > right) right = column;
    if (row < top) top = row;
    if (row > bottom) bottom = row;
  }
  if (right < left) return null;
  const first_column = Math.max(0, Math.floor(left / ratio_x) - 1);
  const first_row = Math.max(0, Math.floor(top / ratio_y) - 1);
  return {
    left: first_column,
    top: first_row,
    width: Math.min(image.width, Math.floor(right / ratio_x) + 2) - first_column,
    height: Math.min(image.height, Math.floor(bottom / ratio_y) + 2) - first_row,
  };
}

export interface PlacedBlock {
  /** Where its upper left corner lies in the level. */
  column: number;
  row: number;
  width: number;
  height: number;
  per_pixel: number;
  samples: Samples;
}

/** Copies one band of a block to where it lies in the part. */
export function copyBand(block: PlacedBlock, place: number, part: Part, to: Float64Array | Uint8Array): void {
  const { samples, per_pixel, width } = block;
  const from_column = Math.max(block.column, part.left);
  const to_column = Math.min(block.column + width, part.left + part.width);
  const from_row = Math.max(block.row, part.top);
  const to_row = Math.min(block.row + block.height, part.top + part.height);
  for (let row = from_row; row < to_row; row++) {
    let from = ((row - block.row) * width + from_column - block.column) * per_pixel + place;
    let at = (row - part.top) * part.width + from_column - part.left;
    for (let column = from_column; column < to_column; column++, from += per_pixel) to[at++] = samples[from]!;
  }
}

/** What has no data in every band is not valid; what is no number is none in any. */
export function hideNodata(bands: readonly Float64Array[], valid: Uint8Array, nodata: number | "nan" | null): void {
  const hidden = typeof nodata === "number" ? nodata : Number.NaN;
  for (let at = 0; at < valid.length; at++) {
    if (valid[at] === 0) continue;
    let has_data = false;
    for (const band of bands) {
      const value = band[at]!;
      if (!Number.isNaN(value) && value !== hidden) {
        has_data = true;
        break;
      }
    }
    if (!has_data) valid[at] = 0;
  }
}

export interface Window extends Pixels {
  part: Part;
}

/** The tile's pixels; a pixel is valid where the one it lies in is. */
export function pixelsOf(window: Window, positions: Positions, level: Level, sampling: Sampling): Pixels {
  const { size, columns, rows } = positions;
  const { part, bands, valid } = window;
  const { image, ratio_x, ratio_y } = level;
  const taken = {
    width: size,
    height: size,
    bands: bands.map(() => new Float64Array(size * size)),
    valid: new Uint8Array(size * size),
  };
  const wide = image.width * ratio_x;
  const high = image.height * ratio_y;
  const smooth = sampling === "bilinear";
  for (let at = 0; at < size * size; at++) {
    const column = columns[at]!;
    const row = rows[at]!;
    if (!(column >= 0 && row >= 0 && column < wide && row < high)) continue;
    const x = column / ratio_x - part.left;
    const y = row / ratio_y - part.top;
    const nearest = Math.floor(y) * part.width + Math.floor(x);
    if (valid[nearest] !== 1) continue;
    taken.valid[at] = 1;
    if (smooth) between(window, x - 0.5, y - 0.5, taken.bands, at);
    else for (let band = 0; band < bands.length; band++) taken.bands[band]![at] = bands[band]![nearest]!;
  }
  return taken;
}

/** Mixes those of the four pixels around it that are valid, by how near they are. */
function between({ part, bands, valid }: Window, x: number, y: number, to: readonly Float64Array[], at: number): void {
  const left = Math.floor(x);
  const top = Math.floor(y);
  const u = x - left;
  const v = y - top;
  const first = top * part.width + left;
  const weigh = (dx: number, dy: number, weight: number) => {
    const is_inside = left + dx >= 0 && top + dy >= 0 && left + dx < part.width && top + dy < part.height;
    return is_inside && valid[first + dy * part.width + dx] === 1 ? weight : 0;
  };
  const a = weigh(0, 0, (1 - u) * (1 - v));
  const b = weigh(1, 0, u * (1 - v));
  const c = weigh(0, 1, (1 - u) * v);
  const d = weigh(1, 1, u * v);
  const all = a + b + c + d;
  for (let band = 0; band < bands.length; band++) {
    const values = bands[band]!;
    let sum = 0;
    if (a > 0) sum += a * values[first]!;
    if (b > 0) sum += b * values[first + 1]!;
    if (c > 0) sum += c * values[first + part.width]!;
    if (d > 0) sum += d * values[first + part.width + 1]!;
    to[band]![at] = sum / all;
  }
}
