// Every valid pixel of a block into the tally of the cell that its centre is in. Pure.
import type { ToDegrees } from "../projections.js";
import type { GeoTransform } from "../raster.js";
import type { Samples } from "../tiff/tiff_pixels.js";
import type { CellFinder } from "./cell_finder.js";
import type { Tallies } from "./tallies.js";

export interface BlockPixels {
  column: number;
  row: number;
  /** The size of the raster: blocks at its edge have more. */
  width: number;
  height: number;
  /** From one row to the next in the arrays. */
  stride: number;
  values: Samples;
  /** The value of pixel n is values[n · step + first]. */
  step: number;
  first: number;
  /** 0 where a mask or the alpha band says that there is nothing; null: they say nothing. */
  valid: Uint8Array | null;
}

export interface PixelPlace {
  transform: GeoTransform;
  to_degrees: ToDegrees;
  /** NaN: none; what is no finite number never counts. */
  nodata: number;
  also_nodata: number;
}

const radians = Math.PI / 180;

/** Gives how many counted. */
export function tallyBlock(block: BlockPixels, place: PixelPlace, finder: CellFinder, tallies: Tallies): number {
  const [, , column_skew, , row_skew] = place.transform;
  return place.to_degrees.kind === "separable" && column_skew === 0 && row_skew === 0
    ? straight(block, place, place.to_degrees, finder, tallies)
    : anyhow(block, place, finder, tallies);
}

/** Longitude is the column's and latitude the row's: a sine and a cosine for each, not for each pixel. */
function straight(
  { column, row, width, height, stride, values, step, first, valid }: BlockPixels,
  { transform, nodata, also_nodata }: PixelPlace,
  to_degrees: ToDegrees & { kind: "separable" },
  finder: CellFinder,
  tallies: Tallies,
): number {
  const [x0, dx, , y0, , dy] = transform;
  const lons = new Float64Array(width);
  const coses = new Float64Array(width);
  const sines = new Float64Array(width);
  for (let i = 0; i < width; i++) {
    lons[i] = to_degrees.lon(x0 + (column + i + 0.5) * dx);
    coses[i] = Math.cos(lons[i]! * radians);
    sines[i] = Math.sin(lons[i]! * radians);
  }
  let count = 0;
  for (let j = 0; j < height; j++) {
    const lat = to_degrees.lat(y0 + (row + j + 0.5) * dy);
    if (!(Math.abs(lat) <= 90)) continue;
    const flat = Math.cos(lat * radians);
    const up = Math.sin(lat * radians);
    for (let i = 0; i < width; i++) {
      const at = j * stride + i;
      const value = values[at * step + first]!;
      if (value === nodata || value === also_nodata || !Number.isFinite(value) || (valid !== null && valid[at] === 0))
        continue;
      tallies.add(finder.slotAt(flat * coses[i]!, flat * sines[i]!, up, lat, lons[i]!), value);
      count++;
    }
  }
  return count;
}

function anyhow(
  { column, row, width, height, stride, values, step, first, valid }: BlockPixels,
  { transform, to_degrees, nodata, also_nodata }: PixelPlace,
  finder: CellFinder,
  tallies: Tallies,
): number {
  const [x0, dx, column_skew, y0, row_skew, dy] = transform;
  let count = 0;
  for (let j = 0; j < height; j++) {
    for (let i = 0; i < width; i++) {
      const at = j * stride + i;
      const value = values[at * step + first]!;
      if (value === nodata || value === also_nodata || !Number.isFinite(value) || (valid !== null && valid[at] === 0))
        continue;
      const [across, down] = [column + i + 0.5, row + j + 0.5];
      const x = x0 + across * dx + down * column_skew;
      const y = y0 + across * row_skew + down * dy;
      const [lon, lat] = to_degrees.kind === "free" ? to_degrees.degrees(x, y) : [to_degrees.lon(x), to_degrees.lat(y)];
      if (!(Math.abs(lat) <= 90) || !Number.isFinite(lon)) continue;
      tallies.add(finder.slotOf(lat, lon), value);
      count++;
    }
  }
  return count;
}
