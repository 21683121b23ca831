// h3.fill_cascade: the descendants of some cells of a layer, all resolutions that were asked for: computed and written into memory first,
// then one COPY on one connection. A connection for each resolution is what once took a database down.
import { z } from "zod";
import { defineHandler } from "../../../core/declare/declare.js";
import { Permanent } from "../../../core/errors/errors.js";
import { type CellNumber, forEachDescendant, readCell, resolutionOf, sliceRoot } from "../../../geo/h3/cell.js";
import type { LoadedPart } from "../../vector/facts.js";
import { cellLines } from "../cell_lines.js";
import { cell_columns, loadRows } from "../load_cells.js";
import { readRows } from "../read_rows.js";
import { cascade_fields } from "../settings.js";

const { to, from, geometry } = cascade_fields;

export const h3FillCascade = defineHandler(
  "h3.fill_cascade",
  {
    parameters: z.object({
      load: z.looseObject({
        part: z.int(),
        table: z.string(),
        source_table: z.string(),
        from: z.number(),
        to: z.number(),
        slice: z.object({ depth: z.int(), place: z.int() }).nullable(),
      }),
      to,
      from,
      geometry,
    }),
    timeout_s: 3600,
  },
  ({ load, to, from = to, geometry }, ctx): Promise<LoadedPart> => {
    const { table, part, source_table, slice } = load;
    return loadRows(ctx, {
      table,
      part,
      columns: cell_columns.map(({ name }) => name),
      geometry,
      compute: async () => {
        const range = { table: source_table, columns: ["h3"], has_place: false, from: load.from, to: load.to };
        const parents = (await readRows(ctx, range)).map(([, text]) => parent(String(text)));
        const own = parents.length === 0 ? 0 : resolutionOf(parents[0]!);
        const stray = parents.find((cell) => resolutionOf(cell) !== own);
        if (stray !== undefined) {
          throw new Permanent("the layer has cells of several resolutions: cascade one that has cells of one", {
            code: "several_resolutions",
          });
        }
        return cellLines(descendants(parents, from, to, slice), geometry, ctx.signal);
      },
    });
  },
);

function parent(text: string): CellNumber {
  const cell = readCell(text);
  if (cell === null)
    throw new Permanent(`the column h3 has ${JSON.stringify(text)}, which is no H3 cell`, { code: "no_cell" });
  return cell;
}

/** Resolution by resolution, so that rows of one stand together. */
function* descendants(
  parents: readonly CellNumber[],
  from: number,
  to: number,
  slice: { depth: number; place: number } | null,
): Iterable<CellNumber> {
  for (let resolution = from; resolution <= to; resolution++) {
    for (const cell of parents) {
      const depth = resolution - resolutionOf(cell);
      // What stands above a slice's tree is made by the first slice that has it below.
      const root = slice === null ? cell : sliceRoot(cell, slice.depth, slice.place, depth);
      if (root === null) continue;
      const found: CellNumber[] = [];
      forEachDescendant(root, resolution - resolutionOf(root), (one) => void found.push(one));
      yield* found;
    }
  }
}
