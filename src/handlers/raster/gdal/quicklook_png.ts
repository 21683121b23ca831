// Pixels as a small picture: grey or colour, stretched between two values, transparent where there is no data. Pure.
import { constants, deflateSync } from "node:zlib";
import { framedPng } from "../../../geo/raster_tiles/png.js";
import type { Pixels } from "./raw_pixels.js";

/** The values that become black and white. */
export type Stretch = readonly [number, number];

/** Each byte is told as its difference to the one above it, and runs of those are looked for: no larger than what zlib's usual search
 * makes of the bytes themselves, in a fraction of its time. */
const up = 2;
const runs = { strategy: constants.Z_RLE };

export function paintedPng(pixels: Pixels, stretches: readonly Stretch[]): Uint8Array {
  const { width, height, values, valid } = pixels;
  const colours = values.length;
  const has_holes = valid.some((mask) => mask.includes(0));
  const step = colours + (has_holes ? 1 : 0);
  const image = new Uint8Array(width * height * step);
  // Band by band: what is read and what is written lies in a row.
  for (let band = 0; band < colours; band++) paint(image.subarray(band), step, values[band]!, stretches[band]!);
  if (has_holes) {
    for (let to = colours; to < image.length; to += step) image[to] = 255;
    for (const mask of valid)
      for (let at = 0; at < mask.length; at++) if (mask[at] === 0) image[at * step + colours] = 0;
  }
  const color_type = ((colours === 1 ? 0 : 2) + (has_holes ? 4 : 0)) as 0 | 2 | 4 | 6;
  return framedPng({ width, height, color_type }, deflateSync(filtered(image, width * step, height), runs));
}

/** Classes in the colours that the raster has for them; a value without one is black. */
export function coloredPng({ values, valid, ...rest }: Pixels, table: readonly (readonly number[])[]): Uint8Array {
  const colors = [0, 1, 2].map((channel) => Float64Array.from(values[0]!, (value) => table[value]?.[channel] ?? 0));
  const whole: Stretch = [0, 255];
  return paintedPng({ ...rest, values: colors, valid: colors.map(() => valid[0]!) }, [whole, whole, whole]);
}

function paint(image: Uint8Array, step: number, values: Float64Array, stretch: Stretch): void {
  const [low, high] = stretch;
  const range = high - low;
  for (let at = 0, to = 0; at < values.length; at++, to += step) {
    const value = values[at]!;
    if (!Number.isFinite(value)) continue;
    const shade = range > 0 ? (255 * (value - low)) / range : 127.5;
    image[to] = shade <= 0 ? 0 : shade >= 255 ? 255 : shade + 0.5;
  }
}

/** Each row starts with its filter. */
function filtered(image: Uint8Array, row_bytes: number, height: number): Uint8Array {
  const rows = new Uint8Array((row_bytes + 1) * height);
  for (let y = 0; y < height; y++) {
    const to = y * (row_bytes + 1) + 1;
    const from = y * row_bytes;
    rows[to - 1] = up;
    if (y === 0) rows.set(image.subarray(0, row_bytes), to);
    else for (let at = 0; at < row_bytes; at++) rows[to + at] = image[from + at]! - image[from + at - row_bytes]!;
  }
  return rows;
}
