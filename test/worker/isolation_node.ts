import { join } from "node:path";
import { inject } from "vitest";

const loader = new URL("./typescript.mjs", import.meta.url);
loader.searchParams.set("code", join(inject("shared_dir"), "code"));

/**
 * Children of the test itself must be told where the project is as JavaScript, and not to compile WebAssembly a second time for a
 * handful of tiny rasters.
 */
export const node_args = ["--import", loader.href, "--liftoff-only"];
