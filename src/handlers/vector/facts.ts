// What the tasks of a vector job tell each other. Types only.
import type { FieldKind, LayerColumn, SourceLayer, VectorFormat } from "../../geo/vector.js";
import type { CsvPlaces } from "./source/csv.js";
import type { VectorFinding } from "./source/open_source.js";

export interface Inspection {
  source: string;
  bytes: number;
  sha256: string;
  format: VectorFormat;
  layers: SourceLayer[];
  places: CsvPlaces | null;
  findings: VectorFinding[];
  engine: { name: string; version: string };
}

/** A column of a target, with where its values stand in the rows of a source; `at` counts from 1. */
export interface MappedColumn extends LayerColumn {
  kind: FieldKind;
  at: number;
}

export interface LoadPart {
  part: number;
  table: string;
  source: string;
  sha256: string;
  source_layer: string;
  field_count: number;
  /** Rows of the source layer, all of them when both are absent. */
  from?: number;
  most?: number;
  expected: number | null;
  /** The number of its first row, from 1; rows of all parts of a target have numbers of their own. */
  first: number;
  columns: MappedColumn[];
  has_geometry: boolean;
  source_srid: number | null;
  /** GDAL brings it there, because the source's CRS has no code. */
  gdal_target: string | null;
}

export interface Target {
  layer: string;
  table: string;
  title: string | null;
  srid: number | null;
  has_geometry: boolean;
  columns: LayerColumn[];
  indexes: string[];
  key: string[];
  time_column: string | null;
  split_by: string | null;
  expected: number | null;
  sources: {
    source: string;
    sha256: string;
    layer: string;
    format: VectorFormat | "geotiff" | "layer";
    crs: string | null;
  }[];
}

export interface LoadPlan {
  targets: Target[];
  parts: LoadPart[];
  findings: (VectorFinding & { source: string })[];
  /** Names that are not as in the source. */
  renamed: { layer: string; source_name: string; name: string }[];
}

export interface ChunkFacts {
  row_count?: number;
  rejected_count?: number;
  codes?: Record<string, number>;
  types?: Record<string, number>;
  mended?: Record<string, number>;
}

export interface LoadedPart {
  table: string;
  part: number;
  chunks: number[];
  row_count: number;
  rejected_count: number;
}

export interface PublishedLayer {
  layer: string;
  feature_count: number;
  rejected_count: number;
  rejects: Record<string, number>;
  mended: Record<string, number>;
  geometry_type: string | null;
  srid: number | null;
  extent: number[] | null;
  columns: LayerColumn[];
  item: { collection: string; item_id: string } | null;
}
