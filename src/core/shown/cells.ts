// A stage as a grid of cells: how a whole stage travels in a few bytes per cell, and which status a cell shows when it stands for
// several tasks. The server encodes, the dashboard and the client decode, and SQL is given the numbers from here. Pure.
import type { StageStatus } from "./statuses.js";

/**
 * What a cell may show, from best to worst: a cell that stands for several tasks shows the last of theirs in this list. A status is
 * sent as its place here. `waiting`: planned, and not released yet; `later`: queued, and not due yet; `retrying`: queued again after
 * a try that failed; `cancelled`: the stage ended without it.
 */
export const cell_statuses = [
  "none",
  "completed",
  "skipped",
  "waiting",
  "queued",
  "later",
  "processing",
  "cancelled",
  "retrying",
  "failed",
] as const;
export type CellStatus = (typeof cell_statuses)[number];

export const cell_codes = Object.fromEntries(cell_statuses.map((status, code) => [status, code])) as Record<
  CellStatus,
  number
>;

/** One cell per task up to here, several tasks per cell above. */
export const most_cells = 20_000;
/** Above so many tasks only some of each cell are read for duration, attempts and worker; what needs attention is always whole. */
export const most_read_whole = 200_000;
export const sample_per_cell = 4;

/** Classes of durations for each doubling: a class is within 5 % of what it stands for. */
export const steps_per_doubling = 8;

/** A class of 0: no duration is known. */
export function durationOf(duration_class: number, steps = steps_per_doubling): number | null {
  return duration_class === 0 ? null : Math.round(2 ** ((duration_class - 1) / steps));
}

/** In the column of workers: nobody yet. */
export const no_worker = 0;
/** More than one worker, or one that the table has no room for. */
export const many_workers = 255;

export interface CellCounts {
  completed: number;
  skipped: number;
  failed: number;
  cancelled: number;
  waiting: number;
  queued: number;
  later: number;
  retrying: number;
  processing: number;
}

export interface CellsHeader {
  job_id: string;
  stage_id: number;
  stage: string;
  number: number;
  status: StageStatus;
  epoch: number;
  /** Tasks there are; of a stage that is being planned, so far. */
  total: number;
  /** Ordinal of the first task of the first cell. */
  first: number;
  tasks_per_cell: number;
  cells: number;
  /** So many tasks of each cell were read for duration, attempts and worker; null: all. */
  sampled: number | null;
  counts: CellCounts;
  /** Number 1 is the first; host is told to the tenant whose worker it is. */
  workers: { worker_id: string; host: string | null }[];
  /** What the numbers in the first column mean. */
  statuses: readonly string[];
  steps_per_doubling: number;
  as_of: string;
}

export interface Cells extends CellsHeader {
  /** One byte for each cell, and alike below. */
  status_codes: Uint8Array;
  duration_classes: Uint8Array;
  attempts: Uint8Array;
  worker_numbers: Uint8Array;
}

const columns = 4;

/** Length of the header (32 bits, little-endian), the header as JSON, then the columns one after the other. */
export function encodeCells(header: CellsHeader, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  if (bytes.length !== header.cells * columns) {
    throw new RangeError(`${header.cells} cells have ${header.cells * columns} bytes, not ${bytes.length}`);
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  const body = new Uint8Array(4 + text.length + bytes.length);
  new DataView(body.buffer).setUint32(0, text.length, true);
  body.set(text, 4);
  body.set(bytes, 4 + text.length);
  return body;
}

export function decodeCells(body: Uint8Array): Cells {
  const length = body.length < 4 ? -1 : new DataView(body.buffer, body.byteOffset).getUint32(0, true);
  if (length < 0 || body.length < 4 + length) throw new RangeError("these are not the cells of a stage");
  const header = JSON.parse(new TextDecoder().decode(body.subarray(4, 4 + length))) as CellsHeader;
  const { cells } = header;
  if (body.length !== 4 + length + cells * columns) throw new RangeError("the cells of a stage were cut off");
  const column = (number: number) => body.subarray(4 + length + number * cells, 4 + length + (number + 1) * cells);
  return {
    ...header,
    status_codes: column(0),
    duration_classes: column(1),
    attempts: column(2),
    worker_numbers: column(3),
  };
}

/** Ordinals [lo, hi) of a cell. */
export function tasksOfCell({ first, tasks_per_cell, total }: CellsHeader, cell: number): [number, number] {
  const lo = first + cell * tasks_per_cell;
  return [lo, Math.min(lo + tasks_per_cell, first + total)];
}
