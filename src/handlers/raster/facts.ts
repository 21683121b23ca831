// What the stages of the raster jobs hand to each other: the results of validate, plan and cog, and the parameters of a COG task.
// Small on purpose: a job has thousands of them. Types only.
import type { ZoneAsset } from "../../core/zones.js";
import type {
  BandStatistics,
  Bounds,
  CogOptions,
  DataType,
  Finding,
  GeoTransform,
  RasterType,
} from "../../geo/raster.js";

/** When an item's content was observed: a moment, or a period. */
export interface ItemTime {
  datetime: string | null;
  start_datetime?: string;
  end_datetime?: string;
  /** Who says so: the caller, the item a source comes from, the file's own metadata, or the time the file was written. */
  from: "given" | "item" | "file" | "modified";
}

/** A raster after the reprojection, whole. */
export interface TargetGrid {
  width: number;
  height: number;
  transform: GeoTransform;
}

/** What one COG covers in the target CRS; with its place in the grid, x to the right and y downwards, if there is one. */
export interface GridTile {
  x?: number;
  y?: number;
  bounds: Bounds;
  width: number;
  height: number;
}

export interface EngineFacts {
  name: string;
  version: string;
}

/** Result of raster.validate. */
export interface ValidatedRaster {
  source: string;
  bytes: number;
  sha256: string;
  /** Of the source. */
  width: number;
  height: number;
  data_types: DataType[];
  crs: string | null;
  resolution: [number, number];
  nodata: (number | "nan" | null)[];
  raster_type: RasterType;
  /** Why it is taken for that. */
  raster_type_reason: string;
  statistics: (BandStatistics | null)[];
  findings: Finding[];
  time: ItemTime;
  grid: TargetGrid;
  /** Everything chosen: what a COG task is told. */
  cog: CogOptions;
  engine: EngineFacts;
}

/** What one source is to become: its COG tasks follow from it, the same ones whenever it is planned again. */
export interface RasterPlan {
  collection: string;
  item_id: string;
  source: string;
  source_sha256: string;
  raster_type: RasterType;
  time: ItemTime;
  cog: CogOptions;
  grid: TargetGrid;
  tiling: Tiling;
}

export interface Tiling {
  max_single_px: number;
  tile_px: number;
  overlap_px: number;
  /** Bands times bytes of a sample. */
  bytes_per_pixel: number;
}

/** Parameters of raster.cog_tile. */
export interface CogTask extends Omit<RasterPlan, "grid" | "tiling"> {
  tile: GridTile;
}

export interface BandFacts {
  name: string | null;
  data_type: DataType;
  nodata: number | "nan" | null;
  statistics: BandStatistics | null;
  unit: string | null;
  scale: number | null;
  offset: number | null;
  color_interpretation: string;
}

/** Result of raster.cog_tile, raster.stack and raster.inspect: what an item says, and nothing more. */
export interface CogFacts {
  item_id: string;
  /** Nothing but nodata: no file, no item. */
  empty: false;
  cog: ZoneAsset;
  quicklook: ZoneAsset | null;
  crs: string | null;
  wkt: string | null;
  width: number;
  height: number;
  transform: GeoTransform;
  bands: BandFacts[];
  raster_type: RasterType;
  /** Of the valid pixels, in WGS 84. */
  footprint: { type: string; coordinates: unknown };
  bbox: number[];
  time: ItemTime;
  tile: { x: number; y: number } | null;
  sources: { source: string; sha256: string }[];
  /** How it was made; null of a file that was there already. */
  options: CogOptions | null;
  engine: EngineFacts;
  /** Of the task that made it. */
  task_id: string;
  properties?: Record<string, string | number>;
}

export interface EmptyTile {
  item_id: string;
  empty: true;
  /** Why there is no item. */
  reason: string;
}

export type CogResult = CogFacts | EmptyTile;
