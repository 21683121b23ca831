// Bands and statistics as an engine would give them, for tests of what decides by them.

import { type Look, syntheticScene } from "../../src/cli/demo/terrain.js";
import type { BandInfo, BandStatistics, DataType } from "../../src/geo/raster.js";

export function band(data_type: DataType, more: Partial<BandInfo> = {}): BandInfo {
  return {
    data_type,
    nodata: null,
    color_interpretation: "undefined",
    description: null,
    has_color_table: false,
    scale: null,
    offset: null,
    unit: null,
    ...more,
  };
}

export function stats(minimum: number, maximum: number, more: Partial<BandStatistics> = {}): BandStatistics {
  return {
    minimum,
    maximum,
    mean: (minimum + maximum) / 2,
    stddev: (maximum - minimum) / 5,
    valid_percent: 100,
    ...more,
  };
}

export function statisticsOf(
  values: ArrayLike<number>,
  nodata: number | "nan" | null | undefined,
): BandStatistics | null {
  const all = Array.from(values);
  const valid = all.filter((value) => !Number.isNaN(value) && value !== nodata);
  if (valid.length === 0) return null;
  const mean = valid.reduce((sum, value) => sum + value, 0) / valid.length;
  const variance = valid.reduce((sum, value) => sum + (value - mean) ** 2, 0) / valid.length;
  return {
    minimum: valid.reduce((low, value) => Math.min(low, value), Number.POSITIVE_INFINITY),
    maximum: valid.reduce((high, value) => Math.max(high, value), Number.NEGATIVE_INFINITY),
    mean,
    stddev: Math.sqrt(variance),
    valid_percent: (100 * valid.length) / all.length,
  };
}

/** A scene of the landscape as GDAL would describe it. */
export function described(look: Look): { bands: BandInfo[]; statistics: (BandStatistics | null)[] } {
  const scene = syntheticScene({ look, seed: 21, width: 200, height: 200, nodata_wedge: 0.3 });
  const colors = scene.colors === "rgb" ? ["red", "green", "blue"] : [];
  return {
    bands: scene.bands.map((_, i) =>
      band(scene.data_type, {
        nodata: scene.nodata ?? null,
        color_interpretation: colors[i] ?? (i === 0 ? "gray" : "undefined"),
        description: scene.descriptions?.[i] ?? null,
        unit: scene.units?.[i] ?? null,
        scale: scene.scales?.[i] ?? null,
      }),
    ),
    statistics: scene.bands.map((values) => statisticsOf(values, scene.nodata)),
  };
}
