// WebAssembly of a package, compiled from its file: the packages themselves would fetch it, as browsers do.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const { WebAssembly } = globalThis as unknown as { WebAssembly: { compile(bytes: Uint8Array): Promise<never> } };

export async function compiled(path: string): Promise<never> {
  return WebAssembly.compile(await readFile(require.resolve(path)));
}
