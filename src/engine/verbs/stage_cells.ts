// All tasks of a stage in a few bytes each: SQL makes the columns, with the numbers that src/core/shown/cells.ts gives their meaning.
import {
  type CellsHeader,
  cell_codes,
  cell_statuses,
  most_cells,
  most_read_whole,
  sample_per_cell,
  steps_per_doubling,
} from "../../core/shown/cells.js";
import type { Engine } from "../engine.js";
import { asked } from "./reply.js";

export interface StageCells {
  etag: string;
  header: CellsHeader;
  /** null: nothing has changed since the etag that was named. */
  columns: Uint8Array | null;
}

/** Tests lower the bounds, so that a small stage is one that is binned or sampled. */
export interface CellBounds {
  most_cells?: number;
  read_whole?: number;
}

export async function readStageCells(
  { db, tenant }: Pick<Engine, "db" | "tenant">,
  job_id: string,
  stage: string,
  known: string | null = null,
  bounds: CellBounds = {},
): Promise<StageCells> {
  const request = JSON.stringify({
    codes: cell_codes,
    most_cells,
    read_whole: most_read_whole,
    sample: sample_per_cell,
    steps: steps_per_doubling,
    known,
    ...bounds,
  });
  type Row = { header: CellsHeader & { etag: string }; cells: Buffer | null };
  const { header, cells } = await asked<Row>(
    db.sql`select c.header, c.cells from app.stage_cells(${job_id}::text, ${stage}::text, ${request}::text::json, ${tenant}::text) c`.then(
      ([row]) => [{ reply: row }],
    ),
  );
  const { etag, ...told } = header;
  return { etag, header: { ...told, statuses: cell_statuses, steps_per_doubling }, columns: cells };
}
