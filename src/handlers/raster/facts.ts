// What the stages of the raster jobs hand to each other: the results of validate, plan and cog, and the parameters of a COG task.
// Small on purpose: a job has thousands of them. Types only.
import type { ZoneAsset } from "../../core/places/zones.js";
import type { Footprint } from "../../geo/footprint.js";
import type {
  BandStatistics,
  Bounds,
  CogOptions,
  DataType,
  Finding,
  GeoTransform,
  RasterType,
} from "../../geo/raster.js";
import type { ItemDates } from "../../geo/stac_dates.js";
import type { RasterFacts } from "../../geo/stac_item.js";
import type { RasterPlace } from "./place/place.js";

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

/** Result of raster.validate. Its bbox is that of the grid. */
export interface ValidatedRaster extends RasterPlace {
  source: string;
  bytes: number;
  sha256: string;
  /** The size of the source, in pixels. */
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
  dates: ItemDates;
  grid: TargetGrid;
  /** Everything chosen: what a COG task is told. */
  cog: CogOptions;
  engine: EngineFacts;
  /** Which raster of a file that holds several. */
  layer?: SourceLayer;
  /** What an item says of it. */
  properties?: Record<string, string | number>;
}

export interface SourceLayer {
  variable?: string | undefined;
  step?: number | undefined;
}

/** What one source is to become: its COG tasks follow from it, the same ones whenever it is planned again. */
export interface RasterPlan extends RasterPlace {
  collection: string;
  item_id: string;
  source: string;
  source_sha256: string;
  raster_type: RasterType;
  dates: ItemDates;
  cog: CogOptions;
  grid: TargetGrid;
  tiling: Tiling;
  layer?: SourceLayer;
  properties?: Record<string, string | number>;
}

export interface Tiling {
  max_single_px: number;
  tile_px: number;
  overlap_px: number;
  /** Bands times bytes of a sample. */
  bytes_per_pixel: number;
}

/** Parameters of raster.cog_tile. */
export interface CogTask extends Omit<RasterPlan, "grid" | "tiling" | "bbox" | "lattice"> {
  tile: GridTile;
}

/** Result of raster.cog_tile, raster.stack and raster.inspect: what an item says, and nothing more. */
export interface CogFacts {
  item_id: string;
  /** Nothing but nodata: no file, no item. */
  empty: false;
  cog: ZoneAsset;
  quicklook: ZoneAsset;
  raster: RasterFacts;
  footprint: Footprint;
  /** The box of the footprint, where maps of results look for it. */
  bbox: Bounds;
  dates: ItemDates;
  tile: { x: number; y: number } | null;
  sources: { source: string; sha256: string }[];
  /** How it was made; null of a file that was there already. */
  options: CogOptions | null;
  engine: EngineFacts;
  /** The task that made it. */
  task_id: string;
  /** Rules for COGs that a registered file breaks. */
  cog_violations?: string[];
  properties?: Record<string, string | number>;
}

export interface EmptyTile {
  item_id: string;
  empty: true;
  /** Why there is no item. */
  reason: string;
}

export type CogResult = CogFacts | EmptyTile;
