// Pixels as colours: stretched between two values, or looked up in a colour map, and transparent where there is no data. Pure.
import { type Color, type ColorMap, colorAt } from "./color_maps.js";
import type { Pixels } from "./window.js";

export type Stretch = readonly [number, number];

export interface Painting {
  /** One for each band. */
  stretches: readonly Stretch[];
  /** For one band: what its stretched values are shown as. */
  color_map?: ColorMap | undefined;
  /** For one band: colours of single values; a value without one is transparent. */
  table?: ReadonlyMap<number, Color> | undefined;
}

export interface Picture {
  width: number;
  height: number;
  /** Red, green, blue and how opaque, pixel by pixel. */
  rgba: Uint8ClampedArray;
  /** Pixels that show something. */
  filled: number;
}

export function emptyPicture(size: number): Picture {
  return { width: size, height: size, rgba: new Uint8ClampedArray(size * size * 4), filled: 0 };
}

/** Paints what is still transparent, so that the first of several rasters is on top. */
export function paint(picture: Picture, { bands, valid }: Pixels, { stretches, color_map, table }: Painting): void {
  const { rgba } = picture;
  const colors = color_map && Array.from({ length: 256 }, (_, at) => colorAt(color_map, at / 255));
  const scales = stretches.map(([low, high]) => ({ low, scale: high > low ? 255 / (high - low) : 0 }));
  const [first] = bands as [Float64Array, ...Float64Array[]];
  for (let at = 0; at < valid.length; at++) {
    const to = at * 4;
    if (valid[at] === 0 || rgba[to + 3] !== 0) continue;
    if (bands.length === 3) {
      for (let band = 0; band < 3; band++) rgba[to + band] = shade(bands[band]![at]!, scales[band]!);
    } else if (table !== undefined || colors !== undefined) {
      const color = table === undefined ? colors![shade(first[at]!, scales[0]!)] : table.get(first[at]!);
      if (color === undefined) continue;
      rgba[to] = color[0];
      rgba[to + 1] = color[1];
      rgba[to + 2] = color[2];
    } else {
      const grey = shade(first[at]!, scales[0]!);
      rgba[to] = grey;
      rgba[to + 1] = grey;
      rgba[to + 2] = grey;
    }
    rgba[to + 3] = 255;
    picture.filled++;
  }
}

function shade(value: number, { low, scale }: { low: number; scale: number }): number {
  if (scale === 0) return value >= low ? 255 : 0;
  const shaded = (value - low) * scale;
  return shaded > 0 ? (shaded < 255 ? Math.round(shaded) : 255) : 0;
}
