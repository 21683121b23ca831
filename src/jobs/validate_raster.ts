// validate_raster: one raster checked, and nothing made of it. Its result says what it is, or the job fails with every finding.
import { z } from "zod";
import { defineJob } from "../core/declare/declare.js";
import {
  cog_fields,
  crossChecks,
  source_fields,
  source_ref,
  tile_fields,
  time_fields,
} from "../handlers/raster/settings.js";

export const validateRaster = defineJob({
  type: "validate_raster",
  description: "One raster checked: what it is, and whether COGs can be made of it",
  parameters: z
    .object({
      source: source_ref.describe("the raster: zone:key, such as bronze:scenes/dem.tif, or an https URL"),
      ...time_fields,
      ...source_fields,
      ...cog_fields,
      ...tile_fields,
    })
    .superRefine(crossChecks),
  stages: [{ name: "validate", task: "raster.validate", description: "The source is checked" }],
});
