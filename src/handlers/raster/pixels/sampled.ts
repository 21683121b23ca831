// A raster at a smaller size, from the overview that suits, and which of those pixels are valid: the same pixels as GDAL's nearest.
import type { Pixels } from "../gdal/raw_pixels.js";
import type { Level, TiffPixels } from "./tiff_pixels.js";
import { noDataOf } from "./validity.js";

/** An overview may be so much coarser than what is asked for. */
const oversampling = 1.2;

/** Bands are counted from 1. null: GDAL has to be asked. */
export async function sampledPixels(
  pixels: TiffPixels,
  { bands, width, height }: { bands: readonly number[]; width: number; height: number },
  signal: AbortSignal,
): Promise<Pixels | null> {
  const level = bestLevel(pixels.levels, width, height);
  const { image, shape } = level;
  const { alpha } = pixels;
  if (alpha !== null && image.planar_configuration === 2) return null;
  const columns = nearest(width, image.width);
  const rows = nearest(height, image.height);
  const needed = new Set(Array.from(rows, (row) => Math.floor(row / shape.height)));
  const none = noDataOf(pixels.nodata, shape.data_type);
  const values = bands.map(() => new Float64Array(width * height));
  const valid = bands.map(() => new Uint8Array(width * height));
  for await (const block of pixels.blocks(level, needed)) {
    signal.throwIfAborted();
    const [x0, x1] = within(columns, block.column, block.width);
    const [y0, y1] = within(rows, block.row, block.height);
    for (const [at, band] of bands.entries()) {
      const own = band - 1 - block.band;
      if (own < 0 || own >= block.step) continue;
      const aside = alpha !== null && band - 1 !== alpha ? alpha - block.band : null;
      const [to, told] = [values[at]!, valid[at]!];
      const { samples, step } = block;
      for (let y = y0; y < y1; y++) {
        const start = (rows[y]! - block.row) * block.stride - block.column;
        for (let x = x0; x < x1; x++) {
          const from = (start + columns[x]!) * step;
          const value = samples[from + own]!;
          const i = y * width + x;
          to[i] = value;
          // What is not a number is neither below nor above.
          const is_known = value < none.low || value > none.high;
          told[i] = is_known && (aside === null || samples[from + aside] !== 0) ? 1 : 0;
        }
      }
    }
  }
  return { width, height, values, valid };
}

function bestLevel(levels: readonly [Level, ...Level[]], width: number, height: number): Level {
  const [main] = levels;
  const wanted = Math.min(main.image.width / width, main.image.height / height);
  let best = main;
  for (const level of levels) {
    const factor = main.image.width / level.image.width;
    if (factor < wanted * oversampling && factor > main.image.width / best.image.width) best = level;
  }
  return best;
}

/** For each pixel of the smaller image, the one its middle falls into. */
function nearest(size: number, of: number): Uint32Array {
  return Uint32Array.from({ length: size }, (_, at) => Math.min(of - 1, Math.floor(((at + 0.5) * of) / size + 1e-10)));
}

/** Those of the sorted places that lie in a block. */
function within(places: Uint32Array, from: number, length: number): [number, number] {
  const first = places.findIndex((place) => place >= from);
  if (first < 0) return [0, 0];
  const after = places.findIndex((place) => place >= from + length);
  return [first, after < 0 ? places.length : after];
}
