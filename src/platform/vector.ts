// The recipe of vector files: looked at, then loaded as layers that are served at once, behind a gate when the request asks for approval.
//
//   check → load
//
// What goes wrong, and what then happens:
//   a file cannot be used          check fails with every finding, and the request with it; nothing was loaded
//   too many features are refused  load fails with the reasons among the rejects; a layer of before stays as it was
//   the approval is refused        load fails; nothing was loaded
import { z } from "zod";
import { defineRecipe } from "../core/declare/recipe.js";

const given = {
  "...": "{parameters.options}",
  sources: { list: "{request.files}" },
  layer: "{parameters.layer}",
  collection: "{request.names.collection}",
  // The layer of a version is that version's own: another run of it takes its place.
  mode: "replace",
};

export const vectorRecipe = defineRecipe({
  data_type: "vector",
  description: "Vector files into layers of PostGIS, served as OGC Features and tiles",
  accepts: {
    extensions: [".gpkg", ".geojson", ".geojsonl", ".fgb", ".parquet", ".kml", ".kmz", ".gml", ".csv", ".zip"],
  },
  parameters: z.object({
    layer: z
      .string()
      .regex(/^[a-z0-9][a-z0-9_-]{0,127}$/)
      .describe("name of the layer; of several files, what their names begin with"),
    approval: z.boolean().default(false).describe("a person approves before anything of it is served"),
    options: z
      .record(z.string(), z.unknown())
      .default({})
      .describe("how it is loaded, as process_vector takes it: title, target_crs, columns, indexes, max_rejected, …"),
  }),
  jobs: [
    {
      name: "check",
      job: "process_vector",
      description: "The files are looked at: layers, columns, CRS, findings",
      parameters: { ...given, dry_run: true },
    },
    {
      name: "load",
      job: "process_vector",
      description: "The layers are loaded and served",
      gate: { message: "Load and serve these layers?", when: "$.request.parameters.approval == true" },
      parameters: {
        ...given,
        release: {
          dataset_id: "{request.dataset_id}",
          resource_id: "{request.resource_id}",
          version_id: "{request.version_id}",
        },
      },
    },
  ],
});
