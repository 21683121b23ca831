// The same of the WASM build, in this process: always there, and like the programs told which driver may read.
import { CallFailed, WasmCalls } from "../../raster/gdal/wasm_calls.js";
import { type LoadedModule, loadWasm, versionOf } from "../../raster/gdal/wasm_module.js";
import { addressOf, dumpOptions, info_options, type OgrEngine, type OgrPart, type OgrSource } from "./ogr_engine.js";
import { is_harmless_vector, ogr_settings, vector_drivers } from "./ogr_settings.js";

const load = () => loadWasm(vector_drivers, ogr_settings);

export async function openOgrWasm(): Promise<OgrEngine> {
  return new OgrWasm(await load());
}

class OgrWasm extends WasmCalls implements OgrEngine {
  readonly name = "gdal-wasm";
  readonly version: string;

  constructor(loaded: LoadedModule) {
    super(loaded, load, is_harmless_vector);
    this.version = versionOf(loaded.wasm);
  }

  info(source: OgrSource, signal: AbortSignal): Promise<string> {
    return this.work("the file cannot be read", [source.path], signal, (call, [path]) =>
      call.opened(
        addressOf(source, path!),
        source.driver,
        (dataset) =>
          call.withOptions("GDALVectorInfoOptions", info_options, (parsed) =>
            call.text("GDALVectorInfo", [dataset, parsed]),
          ),
        source.options,
      ),
    );
  }

  dump(source: OgrSource, part: OgrPart, target: string, signal: AbortSignal): Promise<void> {
    return this.translate("the features cannot be read", source, target, dumpOptions(part), signal);
  }

  writes(driver: string): boolean {
    return vector_drivers.has(driver);
  }

  write(source: OgrSource, target: string, options: readonly string[], signal: AbortSignal): Promise<void> {
    return this.translate(`${options[1]} cannot be written`, source, target, options, signal);
  }

  private async translate(
    failing: string,
    source: OgrSource,
    target: string,
    options: readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    await this.work(failing, [source.path, target], signal, (call, [path, out]) =>
      call.opened(
        addressOf(source, path!),
        source.driver,
        (dataset) =>
          call.withOptions("GDALVectorTranslateOptions", options, (parsed) =>
            call.withArray(Uint32Array.of(dataset), (list) => {
              const types = ["string", "number", "number", "number", "number", "number"];
              const made = call.number("GDALVectorTranslate", types, [out, 0, 1, list, parsed, 0]);
              if (made === 0) throw new CallFailed();
              call.close(made);
            }),
          ),
        source.options,
      ),
    );
  }
}
