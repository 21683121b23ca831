// The recipe of several rasters that go into one collection: each checked, made into COGs, and registered together, behind a gate when the
// request asks for approval.
//
//   validate → process → publish
//
// A broken file costs itself only, as long as not more than half of them are broken: the request is a partial success, and a resume, once
// the file is mended, adds what it makes.
import { defineRecipe } from "../core/declare/recipe.js";
import { raster_parameters } from "./raster_parameters.js";

export const rasterCollectionRecipe = defineRecipe({
  data_type: "raster_collection",
  description: "Several rasters into COGs and one STAC collection",
  accepts: { extensions: [".tif", ".tiff"], min_files: 2 },
  parameters: raster_parameters,
  jobs: [
    {
      name: "validate",
      job: "validate_rasters",
      description: "Each file is checked before anything is made",
      parameters: { "...": "{parameters.options}", sources: { list: "{request.files}" } },
    },
    {
      name: "process",
      job: "process_raster_collection",
      description: "COGs in the silver zone",
      parameters: {
        "...": "{parameters.options}",
        sources: { list: "{request.files}" },
        collection: "{request.names.collection}",
        overwrite: "{request.names.overwrite}",
        register: false,
      },
    },
    {
      name: "publish",
      job: "register_rasters",
      description: "STAC items in the catalogue",
      gate: { message: "Publish these rasters in the catalogue?", when: "$.request.parameters.approval == true" },
      parameters: {
        "...": "{parameters.publication}",
        sources: { job_id: "{jobs.process.job_id}" },
        collection: "{request.names.collection}",
        overwrite: "{request.names.overwrite}",
      },
    },
  ],
});
