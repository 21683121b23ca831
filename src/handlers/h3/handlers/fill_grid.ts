// h3.fill_grid: the cells of one part of a grid: found, outlined and written into memory first, then one COPY.
import { z } from "zod";
import { defineHandler } from "../../../core/declare/declare.js";
import { walkArea } from "../../../geo/h3/area.js";
import { type CellNumber, forEachDescendant, resolutionOf } from "../../../geo/h3/cell.js";
import type { LoadedPart } from "../../vector/facts.js";
import { areasOf } from "../area_of.js";
import { cellLines } from "../cell_lines.js";
import { cell_columns, loadRows } from "../load_cells.js";
import { area_fields, grid_fields } from "../settings.js";
import { grid_part } from "./plan_grid.js";

const { resolution, geometry } = grid_fields;

export const h3FillGrid = defineHandler(
  "h3.fill_grid",
  {
    parameters: z.object({
      load: grid_part,
      area: z.object(area_fields),
      within_version: z.number().nullable(),
      resolution,
      geometry,
    }),
    timeout_s: 3600,
  },
  ({ load, area, within_version, resolution, geometry }, ctx): Promise<LoadedPart> => {
    return loadRows(ctx, {
      table: load.table,
      part: load.part,
      columns: cell_columns.map(({ name }) => name),
      geometry,
      compute: async () => {
        const cells: CellNumber[] = [];
        const add = (cell: CellNumber) => void cells.push(cell);
        walkArea(load.roots, {
          areas: await areasOf(ctx, area, within_version),
          resolution,
          membership: area.members,
          whole: (cell) => forEachDescendant(cell, resolution - resolutionOf(cell), add),
        });
        return cellLines(cells, geometry, ctx.signal);
      },
    });
  },
);
