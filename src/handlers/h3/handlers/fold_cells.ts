// h3.fold_cells: the tallies of some cells put together, each cell with its statistics and its outline; then one COPY.
import { z } from "zod";
import { defineHandler } from "../../../core/declare/declare.js";
import { Permanent } from "../../../core/errors/errors.js";
import { type CellNumber, cellIndex } from "../../../geo/h3/cell.js";
import {
  needsEachValue,
  readTally,
  statisticColumns,
  statisticText,
  tally_columns,
} from "../../../geo/h3/statistics.js";
import { foldTallies, most_values, type Tally } from "../../../geo/h3/tallies.js";
import type { LoadedPart } from "../../vector/facts.js";
import { cellLines } from "../cell_lines.js";
import { cell_columns, loadRows } from "../load_cells.js";
import { readRows } from "../read_rows.js";
import { target_fields } from "../settings.js";
import { tallyNames } from "../tally_table.js";

export const h3FoldCells = defineHandler(
  "h3.fold_cells",
  {
    parameters: z.object({
      load: z.looseObject({ part: z.int(), table: z.string(), tallies: z.string(), from: z.number(), to: z.number() }),
      geometry: target_fields.geometry,
      /** What was tallied apart, by the beginning of its columns' names, with the statistics that are told of it. */
      told: z.array(z.object({ prefix: z.string(), statistics: z.array(z.string()) })).min(1),
    }),
    timeout_s: 3600,
  },
  ({ load, geometry, told }, ctx): Promise<LoadedPart> => {
    const { table, part, tallies, from, to } = load;
    const prefixes = told.map(({ prefix }) => prefix);
    const columns = told.flatMap(({ prefix, statistics }) =>
      statisticColumns(statistics, prefix).map(({ name }) => name),
    );
    return loadRows(ctx, {
      table,
      part,
      columns: [...cell_columns.map(({ name }) => name), ...columns],
      geometry,
      compute: async () => {
        const rows = await readRows(ctx, { table: tallies, columns: tallyNames(prefixes), has_place: false, from, to });
        const by_cell = new Map<CellNumber, Tally[][]>();
        for (const [cell, ...values] of rows) {
          const known = by_cell.get(cell as number);
          const lists = known ?? prefixes.map(() => []);
          if (known === undefined) by_cell.set(cell as number, lists);
          lists.forEach((list, i) => {
            const tally = readTally(values.slice(i * tally_columns.length, (i + 1) * tally_columns.length));
            if (tally.count > 0) list.push(tally);
          });
        }
        const text = (cell: CellNumber) =>
          by_cell
            .get(cell)!
            .map((list, i) => statisticsText(cell, list, told[i]!.statistics))
            .join("");
        return cellLines(by_cell.keys(), geometry, ctx.signal, text);
      },
    });
  },
);

/** A tab before each. */
function statisticsText(cell: CellNumber, tallies: readonly Tally[], statistics: readonly string[]): string {
  // A column of which a cell has nothing but nulls.
  if (tallies.length === 0) return statistics.map((name) => (name === "count" ? "\t0" : "\t\\N")).join("");
  const folded = foldTallies(tallies);
  if (folded.values?.kind === "buckets" && needsEachValue(statistics)) {
    throw new Permanent(
      `cell ${cellIndex(cell)} has more than ${most_values} different values: leave majority, variety and shares out, or round the raster`,
      { code: "too_many_values" },
    );
  }
  return statistics.map((name) => `\t${statisticText(folded, name)}`).join("");
}
