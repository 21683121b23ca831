import { fileURLToPath } from "node:url";

/** Children of the test itself must be told how to read TypeScript. */
export const node_args = ["--import", fileURLToPath(new URL("./typescript.mjs", import.meta.url))];
