// raster_to_h3: statistics of the pixels of COGs in H3 cells, as a layer.
//
//   list → inspect → plan → tally ×parts → gather → load ×ranges → publish → conclude
//
// What goes wrong, and what then happens:
//   a raster cannot be used                  the job fails at inspect, with everything that is wrong with all of them
//   a block is broken                        its part fails, and the layer stays as it was; resume once the file is mended is a new job
//   a worker dies                            its part is counted again; one that was written is not, and nothing counts twice
import { z } from "zod";
import { defineJob } from "../core/declare/declare.js";
import type { RasterPart, TallyPlan } from "../handlers/h3/facts.js";
import { raster_fields, rasterCheck } from "../handlers/h3/settings.js";
import { cell_stages, foldStages } from "./cell_stages.js";

const loads = "$.parameters.dry_run == false";

export const rasterToH3 = defineJob({
  type: "raster_to_h3",
  description: "Statistics of the pixels of COGs in H3 cells, as a layer",
  parameters: z.object(raster_fields).superRefine(rasterCheck),
  stages: [
    {
      name: "list",
      task: "raster.inventory",
      description: "The files are known",
      tasks: function* ({ parameters: { source, sources } }) {
        yield { index: "files", parameters: { sources: source === undefined ? sources : { list: [source] } } };
      },
    },
    { name: "inspect", task: "h3.inspect_rasters", description: "Headers are checked, of all files" },
    { name: "plan", task: "h3.plan_raster", description: "Which blocks are read in which task" },
    {
      name: "tally",
      task: "h3.tally_raster",
      description: "Pixels are counted into cells, some blocks at a time",
      parallelism: "fan_out",
      max_parallel: 16,
      when: loads,
      tasks: async function* ({ parameters, previous }) {
        const { parts } = await previous.one<TallyPlan<RasterPart>>();
        const { resolution, statistics, source_crs, band, nodata } = parameters;
        const wishes = {
          resolution,
          statistics,
          band,
          ...(source_crs && { source_crs }),
          ...(nodata !== undefined && { nodata }),
        };
        for (const load of parts) yield { index: `part-${load.part}`, parameters: { load, ...wishes } };
      },
    },
    ...foldStages(({ statistics }) => [{ prefix: "", statistics: statistics as string[] }]),
    ...cell_stages,
  ],
});
