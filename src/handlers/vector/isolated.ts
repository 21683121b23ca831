// The handlers that open vector files, for the process they run in: it imports this one file, and serves them all with one warm engine.
export { vectorInspect } from "./handlers/inspect.js";
export { vectorLoad } from "./handlers/load.js";
