// The WASM build of GDAL in this process: slower than the system's by three or four times, with fewer codecs, but always there. One call
// at a time; a call cannot be interrupted, so giving up on one ends the process. After a crash inside, the next call gets a new
// module.
import type { RasterEngine } from "./engine.js";
import { codecsIn, is_harmless } from "./engine_cli.js";
import { GdalEngine } from "./gdal_engine.js";
import type { GdalPrograms, SourceFile } from "./gdal_programs.js";
import { WasmCalls } from "./wasm_calls.js";
import { creationOptionsOf, type LoadedModule, loadWasm, versionOf } from "./wasm_module.js";

export async function openWasmEngine(): Promise<RasterEngine> {
  return new GdalEngine(await WasmPrograms.open());
}

class WasmPrograms extends WasmCalls implements GdalPrograms {
  readonly name = "gdal-wasm";
  readonly cache_mb = null;

  private constructor(
    loaded: LoadedModule,
    readonly version: string,
    readonly codecs: ReadonlySet<string>,
  ) {
    super(loaded, () => loadWasm(), is_harmless);
  }

  static async open(): Promise<WasmPrograms> {
    const loaded = await loadWasm();
    const codecs = new Set(["GTiff", "COG"].flatMap((driver) => codecsIn(creationOptionsOf(loaded.wasm, driver))));
    return new WasmPrograms(loaded, versionOf(loaded.wasm), codecs);
  }

  info(source: SourceFile, options: readonly string[], signal: AbortSignal): Promise<string> {
    const failing = "the file cannot be read as a raster";
    return this.work(failing, [source.file, ...(source.needs ?? [])], signal, (call, [file]) =>
      call.opened(file!, source.driver, (dataset) =>
        call.withOptions("GDALInfoOptions", options, (parsed) => call.text("GDALInfo", [dataset, parsed])),
      ),
    );
  }

  async translate(source: SourceFile, target: string, options: readonly string[], signal: AbortSignal): Promise<void> {
    await this.work(
      "the raster cannot be read",
      [source.file, target, ...(source.needs ?? [])],
      signal,
      (call, [file, out]) =>
        call.opened(file!, source.driver, (dataset) =>
          call.withOptions("GDALTranslateOptions", options, (parsed) => {
            const types = ["string", "number", "number", "number"];
            call.close(call.number("GDALTranslate", types, [out, dataset, parsed, 0]));
          }),
        ),
    );
  }

  async warp(source: SourceFile, target: string, options: readonly string[], signal: AbortSignal): Promise<void> {
    await this.work(
      "the raster cannot be converted",
      [source.file, target, ...(source.needs ?? [])],
      signal,
      (call, [file, out]) =>
        call.opened(file!, source.driver, (dataset) =>
          call.withOptions("GDALWarpAppOptions", options, (parsed) =>
            call.withArray(Uint32Array.of(dataset), (list) => {
              const types = ["string", "number", "number", "number", "number", "number"];
              call.close(call.number("GDALWarp", types, [out, 0, 1, list, parsed, 0]));
            }),
          ),
        ),
    );
  }

  transform(points: readonly (readonly [number, number])[], from_crs: string, to_crs: string) {
    return this.work("coordinates cannot be transformed", [], undefined, (call) =>
      call.transformed(points, [`SRC_SRS=${from_crs}`, `DST_SRS=${to_crs}`]),
    );
  }
}
