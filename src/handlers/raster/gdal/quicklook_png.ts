// Pixels as a small picture: grey or colour, stretched between two values, transparent where there is no data. Pure.
import { deflateSync } from "node:zlib";
import { framedPng } from "../../../geo/raster_tiles/png.js";
import type { Pixels } from "./raw_pixels.js";

/** The values that become black and white. */
export type Stretch = readonly [number, number];

export function paintedPng(pixels: Pixels, stretches: readonly Stretch[]): Uint8Array {
  const { width, height, values, valid } = pixels;
  const colours = values.length;
  const row_bytes = width * (colours + 1) + 1;
  // Each row starts with its filter; 0 is none.
  const rows = Buffer.alloc(row_bytes * height);
  const step = colours + 1;
  // Band by band: what is read and what is written lies in a row.
  for (let band = 0; band < colours; band++) {
    const [from, mask, stretch] = [values[band]!, valid[band]!, stretches[band]!];
    for (let y = 0; y < height; y++) {
      const start = y * row_bytes + 1;
      for (let x = 0; x < width; x++) {
        const at = y * width + x;
        const to = start + x * step;
        rows[to + band] = shade(from[at]!, stretch);
        if (band === 0) rows[to + colours] = 255;
        if (mask[at] === 0) rows[to + colours] = 0;
      }
    }
  }
  return framedPng({ width, height, color_type: colours === 1 ? 4 : 6 }, deflateSync(rows, { level: 6 }));
}

/** Classes in the colours that the raster has for them; a value without one is black. */
export function coloredPng({ values, valid, ...rest }: Pixels, table: readonly (readonly number[])[]): Uint8Array {
  const colors = [0, 1, 2].map((channel) => Float64Array.from(values[0]!, (value) => table[value]?.[channel] ?? 0));
  const whole: Stretch = [0, 255];
  return paintedPng({ ...rest, values: colors, valid: colors.map(() => valid[0]!) }, [whole, whole, whole]);
}

function shade(value: number, [low, high]: Stretch): number {
  if (!Number.isFinite(value)) return 0;
  const share = high > low ? (value - low) / (high - low) : 0.5;
  return Math.round(255 * Math.min(1, Math.max(0, share)));
}
