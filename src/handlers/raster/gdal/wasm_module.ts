// GDAL compiled to WASM (gdal3.js), loaded without that package's own wrapper: a module of our own can be thrown away after a crash, opens
// only with the drivers it is told, and sees only the folders mounted into it. There is no network in it. For isolated processes: it is
// large, and a call into it cannot be interrupted.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { gdal_settings, kept_drivers, skippedDrivers } from "./gdal_environment.js";

/** What the compiled module offers, as far as it is used here. */
export interface WasmModule {
  HEAPU8: Uint8Array;
  HEAPF64: Float64Array;
  HEAP32: Int32Array;
  HEAPU32: Uint32Array;
  FS: {
    mkdir(path: string): void;
    rmdir(path: string): void;
    mount(type: unknown, options: { root: string }, path: string): void;
    unmount(path: string): void;
  };
  NODEFS: unknown;
  ccall(name: string, returns: string | null, types: string[], values: unknown[]): unknown;
  _malloc(bytes: number): number;
  _free(pointer: number): void;
  stringToUTF8(text: string, pointer: number, most: number): void;
  lengthBytesUTF8(text: string): number;
}

type Factory = (options: Record<string, unknown>) => Promise<WasmModule>;

export interface LoadedModule {
  wasm: WasmModule;
  /** What it has written to its standard error since it was last emptied. */
  lines: string[];
  /** Why it stopped for good, if it did. */
  aborted: { reason: string | null };
}

const most_lines = 200;

/** `kept`: the drivers that are left in it; `settings`: GDAL's own. */
export async function loadWasm(
  kept: ReadonlySet<string> = kept_drivers,
  settings: Readonly<Record<string, string>> = gdal_settings,
): Promise<LoadedModule> {
  const require = createRequire(import.meta.url);
  const script = require.resolve("gdal3.js/build/package/gdal3WebAssembly.js");
  const folder = join(dirname(script), "../../dist/package");
  const data = await readFile(join(folder, "gdal3WebAssembly.data"));
  const wasm_binary = await readFile(join(folder, "gdal3WebAssembly.wasm"));
  const factory = require(script) as Factory;
  const lines: string[] = [];
  const aborted: LoadedModule["aborted"] = { reason: null };
  const wasm = await factory({
    wasmBinary: wasm_binary,
    locateFile: (name: string) => join(folder, name),
    // A buffer of its own: the reader takes the whole buffer behind it.
    getPreloadedPackage: () => Uint8Array.from(data).buffer,
    print: () => {},
    printErr: (line: string) => {
      lines.push(line);
      if (lines.length > most_lines) lines.shift();
    },
    onAbort: (why: unknown) => {
      aborted.reason = String(why ?? "");
    },
    preRun: [
      ({ ENV }: { ENV: Record<string, string> }) => {
        // Its own copy of the environment, which would otherwise be made up of the process's.
        for (const name of Object.keys(ENV)) delete ENV[name];
        Object.assign(ENV, settings, { PROJ_LIB: "/usr/share/proj", GDAL_DATA: "/usr/share/gdal", HOME: "/tmp" });
      },
    ],
  });
  registerDrivers(wasm, kept);
  return { wasm, lines, aborted };
}

/** All of them, to learn their names; then again, with a list of those to take away. */
function registerDrivers(wasm: WasmModule, kept: ReadonlySet<string>): void {
  wasm.ccall("GDALAllRegister", null, [], []);
  const count = wasm.ccall("GDALGetDriverCount", "number", [], []) as number;
  const names = Array.from({ length: count }, (_, at) => {
    const driver = wasm.ccall("GDALGetDriver", "number", ["number"], [at]);
    return wasm.ccall("GDALGetDescription", "string", ["number"], [driver]) as string;
  });
  wasm.ccall("CPLSetConfigOption", null, ["string", "string"], ["GDAL_SKIP", skippedDrivers(names, kept)]);
  wasm.ccall("GDALAllRegister", null, [], []);
}

/** As it is compiled in: "GDAL 3.8.4". */
export function versionOf({ HEAPU8 }: WasmModule): string {
  // Constants stand at the beginning.
  const constants = Buffer.from(HEAPU8.buffer, 0, Math.min(HEAPU8.byteLength, 64 * 2 ** 20));
  for (let at = constants.indexOf("GDAL 3."); at >= 0; at = constants.indexOf("GDAL 3.", at + 1)) {
    const found = /^GDAL (3\.\d+\.\d+)\0/.exec(constants.subarray(at, at + 20).toString("latin1"));
    if (found !== null && constants[at - 1] === 0) return found[1]!;
  }
  return "3";
}

export function creationOptionsOf(wasm: WasmModule, driver: string): string {
  const found = wasm.ccall("GDALGetDriverByName", "number", ["string"], [driver]);
  const types = ["number", "string", "string"];
  return wasm.ccall("GDALGetMetadataItem", "string", types, [found, "DMD_CREATIONOPTIONLIST", ""]) as string;
}
