// The rules of a stage's cells that SQL carries out, once more and simpler, for tests to compare with.
import {
  type CellStatus,
  cell_codes,
  cell_statuses,
  most_cells,
  steps_per_doubling,
} from "../../src/core/shown/cells.js";

export function worstOf(statuses: Iterable<CellStatus>): CellStatus {
  let worst = 0;
  for (const status of statuses) worst = Math.max(worst, cell_codes[status]);
  return cell_statuses[worst]!;
}

export function tasksPerCell(total: number): number {
  return Math.max(1, Math.ceil(total / most_cells));
}

/** 0: none known. */
export function durationClass(ms: number | null): number {
  if (ms === null) return 0;
  return Math.min(255, 1 + Math.round(steps_per_doubling * Math.log2(Math.max(1, ms))));
}
