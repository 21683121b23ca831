// The recipe of one raster: checked, made into COGs, and registered in the catalogue, behind a gate when the request asks for approval.
//
//   validate → process → publish
//
// What goes wrong, and what then happens:
//   the file cannot be used        validate fails with every finding, and the request with it; nothing was written
//   some tiles fail                process is a partial success, and so is the request; a resume makes those tiles and registers them
//   the approval is refused        publish fails; the COGs are there, and nothing of them is in the catalogue
import { defineRecipe } from "../core/declare/recipe.js";
import { raster_parameters } from "./raster_parameters.js";

export const rasterRecipe = defineRecipe({
  data_type: "raster",
  description: "One raster into COGs and STAC items",
  accepts: { extensions: [".tif", ".tiff"], max_files: 1 },
  parameters: raster_parameters,
  jobs: [
    {
      name: "validate",
      job: "validate_raster",
      description: "The file is checked before anything is made",
      parameters: { "...": "{parameters.options}", source: "{request.files.0}" },
    },
    {
      name: "process",
      job: "process_raster",
      description: "COGs in the silver zone",
      parameters: {
        "...": "{parameters.options}",
        source: "{request.files.0}",
        collection: "{request.names.collection}",
        item_id: "{request.names.item}",
        overwrite: "{request.names.overwrite}",
        register: false,
      },
    },
    {
      name: "publish",
      job: "register_rasters",
      description: "STAC items in the catalogue",
      gate: { message: "Publish this raster in the catalogue?", when: "$.request.parameters.approval == true" },
      parameters: {
        "...": "{parameters.publication}",
        sources: { job_id: "{jobs.process.job_id}" },
        collection: "{request.names.collection}",
        overwrite: "{request.names.overwrite}",
      },
    },
  ],
});
