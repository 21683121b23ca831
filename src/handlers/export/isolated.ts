// The handlers that write files of exports, for the process they run in: it imports this one file, and serves them all.

export { exportMosaic } from "./handlers/mosaic.js";
export { exportWriteVector } from "./handlers/write_vector.js";
