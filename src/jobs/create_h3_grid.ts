// create_h3_grid: the H3 cells of a resolution, of the world, a box, the land or the polygons of a layer, as a layer.
//
//   plan → load ×parts → publish → conclude
//
// What goes wrong, and what then happens:
//   there would be more than max_cells       the job fails at plan, before any work
//   the layer is there already               mode create: the job fails at plan
//   a worker dies                            its part is computed again; one that was written is not, and nothing is there twice
//   the layer of the area is replaced        the parts that come later fail, and the layer stays as it was: submit the job again
import { z } from "zod";
import { defineJob } from "../core/declare/declare.js";
import type { CellPlan, GridPart } from "../handlers/h3/facts.js";
import { extentCheck, grid_fields } from "../handlers/h3/settings.js";
import { cell_stages } from "./cell_stages.js";

export const createH3Grid = defineJob({
  type: "create_h3_grid",
  description: "H3 cells of a resolution as a layer: of the world, a box, land or other polygons",
  parameters: z.object(grid_fields).superRefine(extentCheck),
  stages: [
    { name: "plan", task: "h3.plan_grid", description: "Where cells are, and in which parts they are made" },
    {
      name: "load",
      task: "h3.fill_grid",
      description: "Cells are computed and copied, a part at a time",
      parallelism: "fan_out",
      max_parallel: 16,
      when: "$.parameters.dry_run == false",
      tasks: async function* ({ parameters, previous }) {
        const { parts, within_version } = await previous.one<CellPlan<GridPart>>();
        const { resolution, geometry, extent, land, within, members } = parameters;
        const area = { land, members, ...(extent && { extent }), ...(within && { within }) };
        for (const load of parts)
          yield { index: `part-${load.part}`, parameters: { load, area, within_version, resolution, geometry } };
      },
    },
    ...cell_stages,
  ],
});
