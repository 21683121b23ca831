// What the tasks of a job over cells tell each other, in the form that vector.publish and vector.conclude read too. Types only.
import type { CellNumber } from "../../geo/h3/cell.js";
import type { Target } from "../vector/facts.js";

/** Part of a grid: everything below these cells that lies in the area. */
export interface GridPart {
  part: number;
  table: string;
  roots: CellNumber[];
}

/** Part of a cascade: cells of the source layer between two keys; of each, one of several trees below it where it is too large for a task. */
export interface CascadePart {
  part: number;
  table: string;
  source_table: string;
  from: number;
  to: number;
  slice: { depth: number; place: number } | null;
}

export interface CellPlan<Part> {
  targets: Target[];
  parts: Part[];
  /** No more cells than these. */
  at_most: number;
  /** The version of the layer that an area is taken from. */
  within_version: number | null;
  findings: [];
  renamed: [];
}

/** What is known of a raster by its header. */
export interface RasterFacts {
  source: string;
  etag: string;
  crs: string | null;
  pixels: number;
  block_pixels: number;
  /** How many blocks one band has. */
  blocks: number;
  /** About so many cells have a pixel of it. */
  cells: number;
}

/** Blocks of one raster, from the first to before the last. */
export interface RasterPart {
  part: number;
  /** The file of tallies: a row for each cell that this part meets. */
  tallies: string;
  source: string;
  etag: string;
  from: number;
  to: number;
}

export interface TallyPlan<Part> extends CellPlan<Part> {
  tallies: string;
}

/** Features of a layer between two keys. */
export interface FeaturePart {
  part: number;
  tallies: string;
  source_table: string;
  from: number;
  to: number;
}

/** What is tallied apart, by the beginning of its columns' names, and the statistics that are told of it. */
export interface Told {
  prefix: string;
  statistics: string[];
}

/** Cells between two numbers, with all their tallies. */
export interface FoldPart {
  part: number;
  table: string;
  tallies: string;
  from: number;
  to: number;
}
