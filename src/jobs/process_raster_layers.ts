// process_raster_layers: files that hold many rasters (netCDF, GRIB, HDF5, Zarr) into one STAC collection, an item for each variable and step.
//
//   inventory → unfold ×F → validate ×N → check → cog ×M → register (by hundreds) → publish
//
// What goes wrong, and what then happens:
//   a file cannot be opened                    it costs itself only, as long as another can; the job is a partial_success and names it
//   none of them can                           the job fails at unfold
//   anything later                             as in process_raster_collection
import { z } from "zod";
import { defineJob } from "../core/declare/declare.js";
import type { Inventory } from "../handlers/raster/handlers/inventory.js";
import type { ListedLayers } from "../handlers/raster/handlers/list_layers.js";
import { crossChecks, layer_choice, raster_sources } from "../handlers/raster/settings.js";
import { checked_stages, collection_parameters } from "./process_raster_collection.js";

export const processRasterLayers = defineJob({
  type: "process_raster_layers",
  description:
    "The variables and times of netCDF, GRIB, HDF5 or Zarr files into validated COGs and one STAC collection",
  parameters: z
    .object({
      sources: raster_sources.describe(
        "where the files are: { prefix, pattern } in a zone, such as pattern **/*.nc, { list } of zone:key and https URLs, or { collection, asset }",
      ),
      ...layer_choice,
      ...collection_parameters,
    })
    .superRefine(crossChecks),
  stages: [
    { name: "inventory", task: "raster.inventory", description: "The files are known" },
    {
      name: "unfold",
      task: "raster.list_layers",
      description: "What each file holds is known",
      parallelism: "fan_out",
      failure_budget: { percent: 99 },
      tasks: async function* ({ parameters: { variables }, previous }) {
        const { sources } = await previous.one<Inventory>();
        for (const source of sources) {
          yield { index: source.item_id, parameters: { ...(variables === undefined ? {} : { variables }), ...source } };
        }
      },
    },
    {
      name: "validate",
      task: "raster.validate",
      description: "Each raster is checked",
      parallelism: "fan_out",
      // How many may be broken is the caller's to say: the next stage counts them.
      failure_budget: { percent: 100 },
      tasks: async function* ({ parameters, previous }) {
        const { sources: _, variables: __, ...settings } = parameters;
        for await (const { result } of previous) {
          const { layers } = result as ListedLayers;
          for (const layer of layers) yield { index: layer.item_id, parameters: { ...settings, ...layer } };
        }
      },
    },
    ...checked_stages,
  ],
});
