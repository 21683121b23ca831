// Statistics of all pixels of a TIFF, in one pass over its blocks: the same as GDAL's exact ones. Variances of blocks are put together
// (Chan), so that a large mean costs no digits.
import type { BandStatistics } from "../../../geo/raster.js";
import type { Samples } from "../../../geo/tiff/tiff_pixels.js";
import type { Block, TiffPixels } from "./tiff_pixels.js";
import { type NoData, noDataOf } from "./validity.js";

/** null for a band without a valid pixel; null for all when there are values (infinities) that have no mean. */
export async function pixelStatistics(
  pixels: TiffPixels,
  signal: AbortSignal,
): Promise<(BandStatistics | null)[] | null> {
  const { header, nodata, alpha } = pixels;
  const [main] = pixels.levels;
  const bands = Array.from({ length: pixels.band_count }, () => new Sums());
  const none = noDataOf(nodata, main.shape.data_type);
  // Bands that lie apart cannot be looked at beside their alpha.
  if (alpha !== null && main.image.planar_configuration === 2) return null;
  for await (const block of pixels.blocks(main)) {
    signal.throwIfAborted();
    for (let band = block.band; band < block.band + block.step; band++) {
      const hidden_by = alpha !== null && band !== alpha ? alpha - block.band : null;
      bands[band]!.add(blockSums(block, band - block.band, none, hidden_by));
    }
  }
  if (bands.some(({ count, mean, m2 }) => count > 0 && !Number.isFinite(mean + m2))) return null;
  const total = header.images[0].width * header.images[0].height;
  return bands.map((band) => band.statistics(total));
}

interface BlockSums {
  count: number;
  mean: number;
  m2: number;
  minimum: number;
  maximum: number;
}

function blockSums(block: Block, at: number, none: NoData, alpha: number | null): BlockSums {
  const { samples, width, height, stride, step } = block;
  return alpha === null && samples.BYTES_PER_ELEMENT <= 2
    ? wholeSums(samples, { width, height, stride, step, at }, none)
    : anySums(samples, { width, height, stride, step, at }, none, alpha);
}

interface Walk {
  width: number;
  height: number;
  stride: number;
  step: number;
  at: number;
}

/** Whole numbers of one or two bytes: sums about the first value are exact for blocks of the sizes there are. */
function wholeSums(samples: Samples, { width, height, stride, step, at }: Walk, { low, high }: NoData): BlockSums {
  let [count, sum, squares] = [0, 0, 0];
  let [minimum, maximum] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const origin = samples[at] ?? 0;
  for (let y = 0; y < height; y++) {
    const end = (y * stride + width) * step + at;
    for (let i = y * stride * step + at; i < end; i += step) {
      const value = samples[i]!;
      if (value >= low && value <= high) continue;
      const off = value - origin;
      count++;
      sum += off;
      squares += off * off;
      if (value < minimum) minimum = value;
      if (value > maximum) maximum = value;
    }
  }
  const mean = count === 0 ? 0 : sum / count;
  return { count, mean: mean + origin, m2: Math.max(0, squares - sum * mean), minimum, maximum };
}

/** Two passes over a block, which is in the cache: the mean, then the squares of what differs from it. */
function anySums(
  samples: Samples,
  { width, height, stride, step, at }: Walk,
  { low, high }: NoData,
  alpha: number | null,
): BlockSums {
  let [count, sum] = [0, 0];
  let [minimum, maximum] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const aside = alpha === null ? 0 : alpha - at;
  for (let y = 0; y < height; y++) {
    const end = (y * stride + width) * step + at;
    for (let i = y * stride * step + at; i < end; i += step) {
      const value = samples[i]!;
      // What is not a number is neither below nor above.
      if (!(value < low || value > high) || (aside !== 0 && samples[i + aside] === 0)) continue;
      count++;
      sum += value;
      if (value < minimum) minimum = value;
      if (value > maximum) maximum = value;
    }
  }
  const mean = count === 0 ? 0 : sum / count;
  let m2 = 0;
  for (let y = 0; y < height && count > 0; y++) {
    const end = (y * stride + width) * step + at;
    for (let i = y * stride * step + at; i < end; i += step) {
      const value = samples[i]!;
      // What is not a number is neither below nor above.
      if (!(value < low || value > high) || (aside !== 0 && samples[i + aside] === 0)) continue;
      m2 += (value - mean) * (value - mean);
    }
  }
  return { count, mean, m2, minimum, maximum };
}

class Sums implements BlockSums {
  count = 0;
  mean = 0;
  m2 = 0;
  minimum = Number.POSITIVE_INFINITY;
  maximum = Number.NEGATIVE_INFINITY;

  add(other: BlockSums): void {
    if (other.count === 0) return;
    const count = this.count + other.count;
    const apart = other.mean - this.mean;
    this.m2 += other.m2 + (apart * apart * this.count * other.count) / count;
    this.mean += (apart * other.count) / count;
    this.count = count;
    this.minimum = Math.min(this.minimum, other.minimum);
    this.maximum = Math.max(this.maximum, other.maximum);
  }

  statistics(total: number): BandStatistics | null {
    const { count, mean, m2, minimum, maximum } = this;
    if (count === 0) return null;
    // Four digits, as GDAL writes it: who reads both sees one number.
    const valid_percent = Number(((100 * count) / total).toPrecision(4));
    return { minimum, maximum, mean, stddev: Math.sqrt(m2 / count), valid_percent };
  }
}
