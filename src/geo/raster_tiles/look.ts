// How a raster is shown where the caller does not say: as its quicklook is, from what its item says of it. Pure.
import { type BandInfo, type BandStatistics, data_types, type RasterType, raster_types } from "../raster.js";
import { quicklookOf } from "../raster_treatment.js";
import type { StacAsset, StacItem } from "../stac.js";
import type { Color, ColorMap } from "./color_maps.js";
import type { Stretch } from "./paint.js";
import type { Sampling } from "./window.js";

/** What the caller wants of how it looks; what is left out is as usual. */
export interface AskedLook {
  bands?: number[];
  /** One for all bands, or one for each. */
  rescale?: Stretch[];
  color_map?: ColorMap;
  colors?: Map<number, Color>;
  nodata?: number | "nan";
  sampling?: Sampling;
  asset?: string;
  size: number;
}

export interface UsualLook {
  bands: number[];
  /** Null where nothing is known of the values: they are then to be measured. */
  stretches: (Stretch | null)[];
  /** Its values are names: nothing lies between two of them. */
  is_classes: boolean;
}

export function usualLook(
  item: StacItem,
  asset: StacAsset,
  file: { band_count: number; data_type: string },
): UsualLook {
  const told = Array.isArray(asset.bands) ? (asset.bands as Record<string, unknown>[]) : [];
  const type = raster_types.find((one) => one === item.properties["fanfold:raster_type"]) ?? "unknown";
  const bands = Array.from({ length: file.band_count }, (_, at) => bandOf(told[at] ?? {}, file.data_type));
  const statistics = bands.map((_, at) => statisticsOf(told[at]?.statistics));
  const look = quicklookOf(type, bands, statistics);
  const stretches = look.bands.map((band, at): Stretch | null => {
    if (statistics[band - 1] || isPicture(type, bands[band - 1]!)) return [look.minimum[at]!, look.maximum[at]!];
    return null;
  });
  return { bands: [...look.bands], stretches, is_classes: type === "categorical" };
}

function isPicture(type: RasterType, { data_type }: BandInfo): boolean {
  return (type === "rgb" || type === "rgba") && data_type === "uint8";
}

function bandOf({ name, description }: Record<string, unknown>, data_type: string): BandInfo {
  const words = [name, description].filter((one) => typeof one === "string").join(" ");
  return {
    data_type: data_types.find((one) => one === data_type) ?? "float64",
    nodata: null,
    color_interpretation: "undefined",
    description: words === "" ? null : words,
    has_color_table: false,
    scale: null,
    offset: null,
    unit: null,
  };
}

function statisticsOf(told: unknown): BandStatistics | null {
  const { minimum, maximum, mean, stddev } = (told ?? {}) as Record<string, unknown>;
  const numbers = [minimum, maximum, mean, stddev].map((one) =>
    typeof one === "number" && Number.isFinite(one) ? one : null,
  );
  const [low, high, middle, spread] = numbers;
  if (low === null || high === null || low === undefined || high === undefined) return null;
  return {
    minimum: low,
    maximum: high,
    mean: middle ?? (low + high) / 2,
    stddev: spread ?? (high - low) / 2,
    valid_percent: 100,
  };
}

/** From the 2nd to the 98th of a hundred: of values that nobody has measured before. */
export function measuredStretch(values: Float64Array, valid: Uint8Array): Stretch {
  const seen = values.filter((value, at) => valid[at] === 1 && Number.isFinite(value)).sort();
  if (seen.length === 0) return [0, 1];
  const low = seen[Math.floor(seen.length * 0.02)]!;
  const high = seen[Math.min(seen.length - 1, Math.floor(seen.length * 0.98))]!;
  return high > low ? [low, high] : [low, low + 1];
}
