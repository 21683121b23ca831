// How a handler that uses GDAL runs: in a process of its own, beside which one more, GDAL's program, does the work.
import { raster_memory_mb, raster_module } from "../settings.js";
import { withKnownGdal } from "./engine_choice.js";

export const gdal_process = {
  isolation: "process",
  module: raster_module,
  prepare: withKnownGdal,
  helpers: 1,
  memory_mb: raster_memory_mb,
} as const;
