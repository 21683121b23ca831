// The handlers that open rasters, for the process they run in: it imports this one file, and serves them all with one warm engine.
export { rasterCogTile } from "./handlers/cog_tile.js";
export { rasterInspect } from "./handlers/inspect.js";
export { rasterListLayers } from "./handlers/list_layers.js";
export { rasterStack } from "./handlers/stack.js";
export { rasterValidate } from "./handlers/validate.js";
