// What is known about a raster, in one shape whichever engine looked at it; and what may be asked of an engine. Pure.

/** min x, min y, max x, max y, in the units of a CRS. */
export type Bounds = [number, number, number, number];

/** x0, dx, rotation, y0, rotation, dy: GDAL's order. */
export type GeoTransform = [number, number, number, number, number, number];

export const data_types = [
  "uint8",
  "int8",
  "uint16",
  "int16",
  "uint32",
  "int32",
  "uint64",
  "int64",
  "float32",
  "float64",
  "complex",
] as const;
export type DataType = (typeof data_types)[number];

/** Whole numbers that a double, and so a reprojection, does not hold to the last digit. */
export function isWide(data_type: DataType): boolean {
  return data_type === "int64" || data_type === "uint64";
}

/** Of one value; complex numbers may be two doubles. */
export function bytesOf(data_type: DataType): number {
  return data_type === "complex" ? 16 : Number(/\d+$/.exec(data_type)?.[0] ?? 8) / 8;
}

export const raster_types = [
  "rgb",
  "rgba",
  "nir",
  "dem",
  "categorical",
  "continuous",
  "multispectral",
  "vegetation_index",
  "flood_depth",
  "unknown",
] as const;
export type RasterType = (typeof raster_types)[number];

export interface BandInfo {
  data_type: DataType;
  nodata: number | "nan" | null;
  color_interpretation: string;
  description: string | null;
  has_color_table: boolean;
  scale: number | null;
  offset: number | null;
  unit: string | null;
}

export interface RasterInfo {
  driver: string;
  width: number;
  height: number;
  bands: BandInfo[];
  /** null: not georeferenced. */
  transform: GeoTransform | null;
  crs: CrsInfo | null;
  compression: string | null;
  block_size: [number, number];
  overview_count: number;
  metadata: Record<string, string>;
}

export interface CrsInfo {
  /** "EPSG:32636"; null when it has no code. */
  code: string | null;
  wkt: string;
  name: string;
  is_geographic: boolean;
}

export interface BandStatistics {
  minimum: number;
  maximum: number;
  mean: number;
  stddev: number;
  /** Share of pixels that are valid, 0–100. */
  valid_percent: number;
}

export const resamplings = ["nearest", "bilinear", "cubic", "average", "mode", "lanczos"] as const;
export type Resampling = (typeof resamplings)[number];

export const compressions = ["deflate", "lzw", "zstd", "lerc_deflate", "jpeg", "webp", "none"] as const;
export type Compression = (typeof compressions)[number];

/** Pixels a side. 384 is never asked for, but taken where the others will not do: see safeBlockSize. */
export type BlockSize = 256 | 384 | 512 | 1024;

/** How a COG is made: both engines take the same. */
export interface CogOptions {
  /** Default: as the source. */
  source_crs?: string;
  target_crs: string;
  /** In the target CRS; default: all of it. */
  bounds?: Bounds;
  /** Pixel size in the target CRS; default: what the engine suggests for the whole source. */
  resolution?: [number, number];
  resampling: Resampling;
  overview_resampling: Resampling;
  compression: Compression;
  /** For jpeg and webp. */
  quality?: number;
  block_size: BlockSize;
  /** Given when the source has none, or another is wanted. */
  source_nodata?: number | "nan";
  nodata?: number | "nan";
  /** What a reprojection leaves empty is told by an alpha band, or by a mask where the codec has none; for want of a nodata value. */
  add_alpha?: boolean;
  /** 1-based; default: all. */
  bands?: number[];
  band_names?: (string | null)[];
}

/** One problem or remark about an input. */
export interface Finding {
  code: string;
  severity: "error" | "warning" | "info";
  message: string;
  hint: string;
}
