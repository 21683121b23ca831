// The handlers that open rasters, for the process they run in: it imports this one file, and serves them all with one warm engine.
export { rasterCogTile } from "./cog_tile.js";
export { rasterInspect } from "./inspect.js";
export { rasterStack } from "./stack.js";
export { rasterValidate } from "./validate.js";
