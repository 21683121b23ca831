// h3.tally_vector: features of one part of a layer counted into the cells of their places, in memory; then one COPY of a row for each cell.
import { z } from "zod";
import { defineHandler } from "../../../core/declare/declare.js";
import { Permanent } from "../../../core/errors/errors.js";
import { CellFinder } from "../../../geo/h3/cell_finder.js";
import { keepsValues, tallyText } from "../../../geo/h3/statistics.js";
import { Tallies, TooManyCategories } from "../../../geo/h3/tallies.js";
import type { LoadedPart } from "../../vector/facts.js";
import { loadRows } from "../load_cells.js";
import { readRows } from "../read_rows.js";
import { vector_fields } from "../settings.js";
import { tallyLines, tallyNames } from "../tally_table.js";
import { toldOf } from "./plan_vector.js";

const { resolution, values, category } = vector_fields;

export const h3TallyVector = defineHandler(
  "h3.tally_vector",
  {
    parameters: z.object({
      load: z.looseObject({
        part: z.int(),
        tallies: z.string(),
        source_table: z.string(),
        from: z.number(),
        to: z.number(),
      }),
      resolution,
      values,
      category,
    }),
    timeout_s: 3600,
  },
  ({ load, resolution, values, category }, ctx): Promise<LoadedPart> => {
    const told = toldOf({ values, category });
    return loadRows(ctx, {
      table: load.tallies,
      part: load.part,
      columns: tallyNames(told.map(({ prefix }) => prefix)),
      geometry: "none",
      compute: async () => {
        const columns = [...values.map(({ column }) => column), ...(category === undefined ? [] : [category])];
        const rows = await readRows(ctx, {
          table: load.source_table,
          columns,
          has_place: true,
          from: load.from,
          to: load.to,
        });
        const finder = new CellFinder(resolution);
        const tallies = told.map(({ statistics }) => new Tallies(keepsValues(statistics)));
        for (const [, x, y, ...own] of rows) {
          if (typeof x !== "number" || typeof y !== "number" || Math.abs(y) > 90) continue;
          const slot = finder.slotOf(y, x);
          tallies[0]!.addOne(slot);
          own.forEach((value, i) => void addTo(tallies[i + 1]!, slot, value, i === values.length));
        }
        const text = (slot: number) => tallies.map((each) => tallyText(each.at(slot))).join("\t");
        return tallyLines(finder.cells, text, ctx.signal);
      },
    });
  },
);

function addTo(tallies: Tallies, slot: number, value: unknown, is_category: boolean): void {
  if (value === null) return;
  try {
    if (!is_category) tallies.add(slot, Number(value));
    else tallies.addCategory(slot, typeof value === "string" ? value : JSON.stringify(value));
  } catch (error) {
    if (!(error instanceof TooManyCategories)) throw error;
    throw new Permanent(`${error.message}: choose another column, or a finer resolution`, { code: "too_many_values" });
  }
}
