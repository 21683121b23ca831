// What is done with a raster of a type: resampling, compression, nodata, and the look of its picture. Pure.
import type { BandInfo, BandStatistics, Compression, DataType, RasterType, Resampling } from "./raster.js";

/** analysis: every value kept, readable everywhere. visualization: small, for looking at. archive: smallest without loss. */
export const purposes = ["analysis", "visualization", "archive"] as const;
export type Purpose = (typeof purposes)[number];

export interface Treatment {
  resampling: Resampling;
  overview_resampling: Resampling;
  compression: Compression;
  quality?: number;
  /** Why so, in words. */
  reason: string;
}

const resampling_table: Record<RasterType, { resampling: Resampling; overview_resampling: Resampling; why: string }> = {
  rgb: { resampling: "cubic", overview_resampling: "average", why: "pictures stay sharp with cubic" },
  rgba: { resampling: "cubic", overview_resampling: "average", why: "pictures stay sharp with cubic" },
  nir: { resampling: "cubic", overview_resampling: "average", why: "pictures stay sharp with cubic" },
  multispectral: {
    resampling: "bilinear",
    overview_resampling: "average",
    why: "bilinear makes no value that was not between",
  },
  dem: { resampling: "bilinear", overview_resampling: "average", why: "bilinear makes no peaks or pits" },
  continuous: {
    resampling: "bilinear",
    overview_resampling: "average",
    why: "bilinear makes no value that was not between",
  },
  vegetation_index: { resampling: "bilinear", overview_resampling: "average", why: "bilinear stays within the index" },
  flood_depth: { resampling: "bilinear", overview_resampling: "average", why: "bilinear makes no negative depth" },
  categorical: { resampling: "nearest", overview_resampling: "mode", why: "classes must not be mixed" },
  unknown: { resampling: "nearest", overview_resampling: "nearest", why: "nothing is made up" },
};

export function treatmentOf(
  type: RasterType,
  bands: readonly BandInfo[],
  codecs: ReadonlySet<string>,
  purpose: Purpose = "analysis",
  packed: string | null = null,
): Treatment {
  const { why, ...resampling } = resampling_table[type];
  const { words, ...compression } = compressionOf(type, bands, codecs, purpose, packed);
  return { ...resampling, ...compression, reason: `${why}; ${words}` };
}

function compressionOf(
  type: RasterType,
  bands: readonly BandInfo[],
  codecs: ReadonlySet<string>,
  purpose: Purpose,
  packed: string | null,
): { compression: Compression; quality?: number; words: string } {
  const is_8_bit = bands.every(({ data_type }) => data_type === "uint8");
  // A lossy codec changes nodata pixels near an edge into data.
  const has_nodata = bands.some(({ nodata }) => nodata !== null);
  // What has been through a lossy codec would lose as much again.
  if (purpose === "visualization" && is_8_bit && !has_nodata && !isLossy(packed)) {
    if (type === "rgb" && codecs.has("jpeg")) return { compression: "jpeg", quality: 85, words: "JPEG is small" };
    if ((type === "rgb" || type === "rgba") && codecs.has("webp")) {
      return { compression: "webp", quality: 85, words: "WebP is small and keeps alpha" };
    }
  }
  if (purpose === "archive" && codecs.has("zstd"))
    return { compression: "zstd", words: "ZSTD is small and loses nothing" };
  return { compression: "deflate", words: "DEFLATE loses nothing and is read everywhere" };
}

export function isLossy(codec: string | null | undefined): boolean {
  return codec === "jpeg" || codec === "webp";
}

/** Whether codec and raster go together; the words say why not. */
export function compressionProblem(
  compression: Compression,
  bands: readonly BandInfo[],
  codecs: ReadonlySet<string>,
): string | null {
  const types = new Set(bands.map(({ data_type }) => data_type));
  const needed = compression === "lerc_deflate" ? "lerc" : compression;
  if (compression !== "none" && !codecs.has(compression) && !codecs.has(needed)) {
    return `${compression} needs system GDAL with that codec`;
  }
  if (compression === "jpeg" && !(types.size === 1 && types.has("uint8") && [1, 3].includes(bands.length))) {
    return "jpeg needs one or three bands of uint8";
  }
  if (compression === "webp" && !(types.size === 1 && types.has("uint8") && [3, 4].includes(bands.length))) {
    return "webp needs three or four bands of uint8";
  }
  if ((compression === "jpeg" || compression === "webp") && bands.some(({ nodata }) => nodata !== null)) {
    return `${compression} changes values a little, so nodata cannot be kept`;
  }
  return null;
}

/**
 * A nodata value for the corners that a reprojection leaves empty, when the source has none: one that no pixel has. Null when
 * every value may be taken, as in a full 8-bit picture.
 */
export function suggestNodata(
  data_type: DataType,
  statistics: readonly (BandStatistics | null)[] | null,
): number | "nan" | null {
  if (data_type === "float32" || data_type === "float64") return "nan";
  // With 64 bits, only what a double holds.
  const wide = Number.MAX_SAFE_INTEGER;
  const lowest: Partial<Record<DataType, number>> = { int8: -128, int16: -32768, int32: -2147483648, int64: -wide };
  const highest: Partial<Record<DataType, number>> = { uint8: 255, uint16: 65535, uint32: 4294967295, uint64: wide };
  const known = statistics?.filter((one) => one !== null) ?? [];
  if (known.length === 0) return lowest[data_type] ?? null;
  const minimum = Math.min(...known.map((one) => one.minimum));
  const maximum = Math.max(...known.map((one) => one.maximum));
  const low = lowest[data_type];
  if (low !== undefined) return minimum > low ? low : null;
  if (minimum > 0 && highest[data_type] !== undefined) return 0;
  const high = highest[data_type];
  return high !== undefined && maximum < high ? high : null;
}

export interface QuicklookLook {
  /** 1-based. */
  bands: [number] | [number, number, number];
  minimum: number[];
  maximum: number[];
}

/** Natural colours where the bands allow them, and a stretch that leaves out the few brightest and darkest. */
export function quicklookOf(
  type: RasterType,
  bands: readonly BandInfo[],
  statistics: readonly (BandStatistics | null)[],
): QuicklookLook {
  const chosen = colorBands(type, bands);
  const ends = chosen.map((band) => stretch(type, bands[band - 1]!, statistics[band - 1] ?? null));
  return { bands: chosen, minimum: ends.map(([low]) => low), maximum: ends.map(([, high]) => high) };
}

function colorBands(type: RasterType, bands: readonly BandInfo[]): QuicklookLook["bands"] {
  if (bands.length < 3 || ["dem", "categorical", "continuous", "vegetation_index", "flood_depth"].includes(type))
    return [1];
  const named = ["red", "green", "blue"].map((color) => {
    const by_color = bands.findIndex(({ color_interpretation }) => color_interpretation === color);
    return by_color >= 0
      ? by_color
      : bands.findIndex(({ description }) => new RegExp(`\\b${color}\\b`, "i").test(description ?? ""));
  });
  if (named.every((index) => index >= 0)) return named.map((index) => index + 1) as [number, number, number];
  // Without names, satellites deliver blue first; pictures deliver red first.
  return type === "multispectral" && bands.length >= 4 ? [3, 2, 1] : [1, 2, 3];
}

function stretch(type: RasterType, { data_type }: BandInfo, statistics: BandStatistics | null): [number, number] {
  if ((type === "rgb" || type === "rgba") && data_type === "uint8") return [0, 255];
  if (!statistics) return [0, 1];
  const { minimum, maximum, mean, stddev } = statistics;
  if (type === "categorical") return [minimum, Math.max(maximum, minimum + 1)];
  const low = Math.max(minimum, mean - 2 * stddev);
  const high = Math.min(maximum, mean + 2 * stddev);
  return high > low ? [low, high] : [minimum, minimum + 1];
}
