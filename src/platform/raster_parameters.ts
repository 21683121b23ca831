// What may be asked of the raster recipes. Data only.
import { z } from "zod";

export const raster_parameters = z.object({
  approval: z.boolean().default(false).describe("a person approves before anything of it is in the catalogue"),
  options: z
    .record(z.string(), z.unknown())
    .default({})
    .describe("how the COGs are made, as process_raster takes it: target_crs, purpose, compression, nodata, …"),
  publication: z
    .record(z.string(), z.unknown())
    .default({})
    .describe("what the catalogue says, as register_rasters takes it: title, description, license, datetime, …"),
});
