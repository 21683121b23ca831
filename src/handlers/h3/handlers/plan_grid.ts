// h3.plan_grid: which parts of the world a grid is filled in, so that no task has more than some hundred thousand cells in memory.
import { z } from "zod";
import { defineHandler } from "../../../core/declare/declare.js";
import { Permanent } from "../../../core/errors/errors.js";
import type { TaskContext } from "../../../core/task/context.js";
import { type Area, walkArea } from "../../../geo/h3/area.js";
import {
  allBaseCells,
  type CellNumber,
  descendantCount,
  forEachDescendant,
  resolutionOf,
} from "../../../geo/h3/cell.js";
import { requireGeo } from "../../vector/geo_schema.js";
import { refuseTaken } from "../../vector/handlers/plan.js";
import { areasOf } from "../area_of.js";
import type { CellPlan, GridPart } from "../facts.js";
import { cellTarget, makeTable } from "../load_cells.js";
import { type GridParameters, grid_parameters } from "../settings.js";

const cells_of_a_task = 100_000;
/** 7⁶ cells below a root are about what a task takes. */
const root_depth = 6;

export const h3PlanGrid = defineHandler(
  "h3.plan_grid",
  { parameters: grid_parameters },
  async (given, ctx): Promise<CellPlan<GridPart>> => {
    await requireGeo(ctx);
    const within_version = given.within === undefined ? null : await versionOf(ctx, given.within.layer);
    const areas = await areasOf(ctx, given, within_version);
    const { groups, at_most } = rootGroups(areas, given);
    const target = cellTarget(given, {
      expected: at_most,
      sources: [
        ...(given.land ? [{ source: "Natural Earth 1:50m", layer: "land" }] : []),
        ...(given.within === undefined ? [] : [{ source: "layer", layer: given.within.layer }]),
      ].map((source) => ({ ...source, sha256: "", format: "layer", crs: "EPSG:4326" })),
    });
    await refuseTaken(ctx, [target], { mode: given.mode, split_by: undefined });
    const table = given.dry_run ? target.table : await makeTable(ctx, target);
    return {
      targets: [{ ...target, table }],
      parts: groups.map((roots, part) => ({ part, table, roots })),
      at_most,
      within_version,
      findings: [],
      renamed: [],
    };
  },
);

/** Null for one that is not there, which is told where its polygons are asked for. */
async function versionOf(ctx: TaskContext, layer: string): Promise<number | null> {
  const [row] = await ctx.db(
    (session) => session.sql<{ version: number }>`
      select version::float8 as version from geo.layers where tenant_id = ${ctx.tenant_id}::text and name = ${layer}::text`,
  );
  return row?.version ?? null;
}

/** Cells below which the whole grid lies, in groups for one task each. */
export function rootGroups(
  areas: readonly Area[],
  { resolution, max_cells, members }: Pick<GridParameters, "resolution" | "max_cells" | "members">,
): { groups: CellNumber[][]; at_most: number } {
  const root_resolution = Math.max(0, resolution - root_depth);
  let at_most = 0;
  const groups: CellNumber[][] = [];
  let room = 0;
  const add = (root: CellNumber) => {
    const below = descendantCount(root, resolution - root_resolution);
    if (groups.length === 0 || below > room) {
      groups.push([]);
      room = cells_of_a_task;
    }
    groups.at(-1)!.push(root);
    room -= below;
  };
  walkArea(allBaseCells(), {
    areas,
    resolution: root_resolution,
    membership: "near",
    whole(cell) {
      const own = resolutionOf(cell);
      at_most += descendantCount(cell, resolution - own);
      // Cells at the edge are whole here, so that a small area looks larger than it is; a grid that may fit is counted below.
      if (at_most > max_cells && (areas.length === 0 || at_most > max_cells * 2 + 7 ** root_depth * 12))
        throw tooMany(max_cells);
      forEachDescendant(cell, root_resolution - own, add);
    },
  });
  if (at_most > max_cells) at_most = exactCount(areas, { resolution, max_cells, members });
  if (groups.length === 0) {
    throw new Permanent("the area has no cells: its parts have no place in common, or none at all", {
      code: "no_cells",
    });
  }
  return { groups, at_most };
}

function exactCount(
  areas: readonly Area[],
  { resolution, max_cells, members }: Pick<GridParameters, "resolution" | "max_cells" | "members">,
): number {
  let count = 0;
  walkArea(allBaseCells(), {
    areas,
    resolution,
    membership: members,
    whole(cell) {
      count += descendantCount(cell, resolution - resolutionOf(cell));
      if (count > max_cells) throw tooMany(max_cells);
    },
  });
  return count;
}

function tooMany(max_cells: number): Permanent {
  return new Permanent(
    `the grid would have more than ${max_cells} cells: choose a coarser resolution or a smaller area, or raise max_cells`,
    { code: "too_many_cells" },
  );
}

export const grid_part = z.looseObject({ part: z.int(), table: z.string(), roots: z.array(z.number()) });
