// What the tasks of an export tell each other. Types only.
import type { ZoneAsset } from "../../core/places/zones.js";
import type { LayerColumn } from "../../geo/vector.js";
import type { VectorExportFormat } from "./settings.js";

/** A layer as it was when it was copied: geo.make_snapshot gives it. */
export interface Snapshot {
  name: string;
  title: string | null;
  description: string | null;
  version: number;
  table_name: string;
  row_count: number;
  /** The bytes of texts and geometries, about. */
  bytes: number;
  columns: LayerColumn[];
  time_column: string | null;
  /** Null: it has no geometry. */
  srid: number | null;
  geometry_types: string[];
  /** In CRS84. */
  extent: number[] | null;
  /** In its own reference system. */
  bounds: number[] | null;
  updated_at: string;
}

export interface WrittenFile {
  format: VectorExportFormat;
  asset: ZoneAsset;
  /** What wrote it: a name and its version. */
  writer: { name: string; version: string };
}

export interface WrittenExport {
  name: string;
  files: WrittenFile[];
  manifest: ZoneAsset;
  task_id: string;
}

/** What the writer of a format leaves in the scratch folder. */
export interface MadeFile {
  file: string;
  media_type: string;
  writer: { name: string; version: string };
}
