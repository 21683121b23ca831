// The rows of a source in batches that one COPY takes: each with its number, as lines of COPY or as values. What cannot be sent to the
// database at all is told apart here. Memory holds one batch, however large the source is.
import type { CopyRow } from "../../../core/task/context.js";

export interface RejectedRow {
  n: number;
  code: string;
  reason: string;
  properties: Record<string, string>;
}

export interface RowBatch {
  /** Number, geometry where there is one, then the values in the order of the fields. */
  rows: CopyRow[];
  count: number;
  rejects: RejectedRow[];
  /** The next row's number. */
  next: number;
}

export interface RowSource {
  has_geometry: boolean;
  column_count: number;
  batches(): AsyncGenerator<RowBatch>;
}

export interface BatchLimits {
  rows: number;
  bytes: number;
  row_bytes: number;
}

export const batch_limits: BatchLimits = { rows: 50_000, bytes: 8 * 2 ** 20, row_bytes: 64 * 2 ** 20 };
