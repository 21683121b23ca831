// The table that tasks write their tallies into: one row for each cell a task met. Another stage puts the rows of a cell together.
import { setImmediate as untilOthersRan } from "node:timers/promises";
import type { CopyLines, TaskContext } from "../../core/task/context.js";
import type { CellNumber } from "../../geo/h3/cell.js";
import { tally_columns } from "../../geo/h3/statistics.js";
import type { LayerColumn } from "../../geo/vector.js";
import { makeTable } from "./load_cells.js";

const columns: LayerColumn[] = [
  { name: "count", pg_type: "bigint", type: "integer", source_name: "count" },
  { name: "sums", pg_type: "text", type: "string", source_name: "sums" },
  { name: "min", pg_type: "double precision", type: "number", source_name: "min" },
  { name: "max", pg_type: "double precision", type: "number", source_name: "max" },
  { name: "counts", pg_type: "text", type: "string", source_name: "counts" },
];

/** `names`: of what is counted apart; each has tallies of its own. */
export function tallyColumns(names: readonly string[]): LayerColumn[] {
  return names.flatMap((of) => columns.map((column) => ({ ...column, name: `${of}${column.name}` })));
}

export function tallyNames(names: readonly string[]): string[] {
  return names.flatMap((of) => tally_columns.map((name) => `${of}${name}`));
}

export function makeTallyTable(ctx: TaskContext, layer: string, names: readonly string[]): Promise<string> {
  const none = { title: null, srid: null, has_geometry: false, indexes: [], key: [], time_column: null };
  return makeTable(ctx, {
    ...none,
    layer: `${layer}:tallies`,
    table: "",
    columns: tallyColumns(names),
    split_by: null,
    expected: null,
  });
}

/** One line for each cell; `text` are its columns, with tabs between. */
export async function tallyLines(
  cells: readonly CellNumber[],
  text: (slot: number) => string,
  signal: AbortSignal,
): Promise<CopyLines[]> {
  const pieces: CopyLines[] = [];
  const at_once = 5000;
  for (let from = 0; from < cells.length; from += at_once) {
    const some = cells.slice(from, from + at_once);
    const lines = some.map((cell, i) => `${cell}\t${text(from + i)}\n`);
    pieces.push({ bytes: Buffer.from(lines.join("")), rows: some.length });
    await untilOthersRan();
    signal.throwIfAborted();
  }
  return pieces;
}
