// What the heat map says in words: to the legend, to screen readers, and after a verb. Pure.
import {
  type CellStatus,
  type Cells,
  cell_statuses,
  durationOf,
  tasksOfCell,
} from "../../../../src/core/shown/cells.js";
import { count, tasks } from "../../../../src/core/shown/figures.js";

const words: Record<CellStatus, string> = {
  none: "nothing",
  completed: "completed",
  skipped: "skipped",
  waiting: "not released yet",
  queued: "queued",
  later: "later",
  processing: "running",
  cancelled: "never ran",
  retrying: "retrying",
  failed: "failed",
};

export function lookedAt(status: string): string {
  return words[status as CellStatus] ?? status;
}

/** From worst to best, as far as there are any. */
export function countsOf({ counts }: Pick<Cells, "counts">): { status: Exclude<CellStatus, "none">; tasks: number }[] {
  return cell_statuses
    .filter((status) => status !== "none")
    .map((status) => ({ status, tasks: counts[status] }))
    .filter(({ tasks }) => tasks > 0)
    .reverse();
}

export function summaryOf(cells: Cells): string {
  const { stage, total, tasks_per_cell } = cells;
  const parts = countsOf(cells).map((one) => `${count(one.tasks)} ${lookedAt(one.status)}`);
  const binned =
    tasks_per_cell === 1 ? "one cell each" : `${count(tasks_per_cell)} to a cell, which shows the worst of them`;
  return `Stage ${stage}: ${tasks(total)}, ${binned}. ${parts.join(", ")}.`;
}

/** One cell, for a screen reader. */
export function cellText(cells: Cells, cell: number, selected: boolean): string {
  const [lo, hi] = tasksOfCell(cells, cell);
  const status = lookedAt(cell_statuses[cells.status_codes[cell] as number] as string);
  const ms = durationOf(cells.duration_classes[cell] as number, cells.steps_per_doubling);
  const took = ms === null ? "" : `, ${ms < 1000 ? `${ms} ms` : `${Math.round(ms / 1000)} s`}`;
  const attempts = (cells.attempts[cell] as number) > 1 ? `, attempt ${cells.attempts[cell]}` : "";
  const what = hi - lo === 1 ? `Task ${lo}` : `Tasks ${lo} to ${hi - 1}, worst`;
  return `${what}: ${status}${attempts}${took}${selected ? ", selected" : ""}`;
}
