// h3.plan_cascade: which cells of a layer are taken apart in which task, so that no task has more than some hundred thousand in memory.
import { defineHandler } from "../../../core/declare/declare.js";
import { Permanent } from "../../../core/errors/errors.js";
import { readCell, resolutionOf } from "../../../geo/h3/cell.js";
import { requireGeo } from "../../vector/geo_schema.js";
import { refuseTaken } from "../../vector/handlers/plan.js";
import type { CascadePart, CellPlan } from "../facts.js";
import { cellTarget, makeTable } from "../load_cells.js";
import { layerParts, readRows } from "../read_rows.js";
import { type CascadeParameters, cascade_parameters } from "../settings.js";

const cells_of_a_task = 100_000;

export const h3PlanCascade = defineHandler(
  "h3.plan_cascade",
  { parameters: cascade_parameters },
  async (given, ctx): Promise<CellPlan<CascadePart>> => {
    await requireGeo(ctx);
    const { from_layer, to, from = to, max_cells } = given;
    const source = await layerParts(ctx, from_layer, cells_of_a_task);
    if (!source.columns.some(({ name }) => name === "h3")) {
      throw new Permanent(
        `the layer ${from_layer} has no column h3: make it with create_h3_grid, or load one that has it`,
        {
          code: "no_such_column",
        },
      );
    }
    const own = await resolutionOfLayer(ctx, source.table, source.parts[0], given);
    const each = sumOf(from - own, to - own);
    const at_most = source.feature_count * each;
    if (at_most > max_cells) {
      throw new Permanent(
        `the cascade would have ${at_most} cells, more than ${max_cells}: give a coarser resolution, or raise max_cells`,
        { code: "too_many_cells" },
      );
    }
    const target = cellTarget(given, {
      expected: at_most,
      sources: [{ source: "layer", sha256: "", layer: from_layer, format: "layer", crs: "EPSG:4326" }],
      ...(given.split_by && { split_by: given.split_by }),
    });
    await refuseTaken(ctx, [target], given);
    const table = given.dry_run ? target.table : await makeTable(ctx, target);
    const parts = await partsOf(ctx, from_layer, source.table, each, to - own);
    return {
      targets: [{ ...target, table }],
      parts: parts.map((part, number) => ({ ...part, part: number, table, source_table: source.table })),
      at_most,
      within_version: null,
      findings: [],
      renamed: [],
    };
  },
);

/** Descendants of one cell at all depths from the first to the last. */
function sumOf(first: number, last: number): number {
  let sum = 0;
  for (let depth = Math.max(0, first); depth <= last; depth++) sum += 7 ** depth;
  return sum;
}

/** Cells of one resolution are what can be taken apart evenly; each is looked at again where it is read. */
async function resolutionOfLayer(
  ctx: Parameters<typeof readRows>[0],
  table: string,
  first: { from: number } | undefined,
  { from_layer, from, to }: CascadeParameters,
): Promise<number> {
  if (first === undefined) throw new Permanent(`the layer ${from_layer} has no cells`, { code: "no_cells" });
  const [row] = await readRows(ctx, { table, columns: ["h3"], has_place: false, from: first.from, to: first.from });
  const cell = readCell(String(row?.[1]));
  if (cell === null) {
    throw new Permanent(`the column h3 of ${from_layer} has ${JSON.stringify(row?.[1])}, which is no H3 cell`, {
      code: "no_cell",
    });
  }
  const own = resolutionOf(cell);
  if ((from ?? to) < own) {
    throw new Permanent(
      `the cells of ${from_layer} are of resolution ${own}: a cascade leads to finer ones, not to ${from ?? to}`,
      {
        code: "coarser_than_source",
      },
    );
  }
  return own;
}

type Range = Pick<CascadePart, "from" | "to" | "slice">;

async function partsOf(
  ctx: Parameters<typeof readRows>[0],
  layer: string,
  table: string,
  each: number,
  depth: number,
): Promise<Range[]> {
  const source = await layerParts(ctx, layer, Math.max(1, Math.floor(cells_of_a_task / each)));
  if (source.table !== table) {
    throw new Permanent(`the layer ${layer} was replaced while the job was planned: submit it again`, {
      code: "source_changed",
    });
  }
  let slices = 0;
  while (each / 7 ** slices > cells_of_a_task && slices < depth) slices++;
  return source.parts.flatMap(({ from, to }): Range[] =>
    slices === 0
      ? [{ from, to, slice: null }]
      : Array.from({ length: 7 ** slices }, (_, place) => ({ from, to, slice: { depth: slices, place } })),
  );
}
