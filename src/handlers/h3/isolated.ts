// The handlers that open rasters, for the process they run in: it imports this one file.
export { h3InspectRasters } from "./handlers/inspect_rasters.js";
export { h3TallyRaster } from "./handlers/tally_raster.js";
