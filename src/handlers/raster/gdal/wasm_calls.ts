// Calls into the WASM build of GDAL, one at a time, in folders that are mounted for the call. What is said to it is the engines' part.
import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { Permanent } from "../../../core/errors/errors.js";
import { errorLines, gdalError } from "./gdal_errors.js";
import type { LoadedModule, WasmModule } from "./wasm_module.js";

const OF_RASTER = 0x02;
const OF_VECTOR = 0x04;
const OF_VERBOSE_ERROR = 0x40;

/** Memory is never given back: beyond this a new module is cheaper than what the old one holds. */
const large_heap = 1024 * 2 ** 20;

export class WasmCalls {
  /** Calls wait for each other: the module has one error state and one set of mounts. */
  private last: Promise<unknown> = Promise.resolve();

  protected constructor(
    private loaded: LoadedModule | null,
    private readonly load: () => Promise<LoadedModule>,
    /** Lines that GDAL calls errors and we do not. */
    private readonly harmless: RegExp,
  ) {}

  protected work<T>(
    failing: string,
    files: readonly string[],
    signal: AbortSignal | undefined,
    act: (call: Call, inside: string[]) => T,
  ): Promise<T> {
    const turn = this.last.then(async () => {
      signal?.throwIfAborted();
      this.loaded ??= await this.load();
      return this.run(this.loaded, failing, files, act);
    });
    this.last = turn.catch(() => {});
    return turn;
  }

  private run<T>(
    loaded: LoadedModule,
    failing: string,
    files: readonly string[],
    act: (call: Call, inside: string[]) => T,
  ): T {
    const { wasm, lines, aborted } = loaded;
    const mounts = new Mounts(wasm, files);
    lines.length = 0;
    try {
      const value = act(
        new Call(wasm),
        files.map((file) => mounts.inside(file)),
      );
      const errors = lines.filter((line) => line.startsWith("ERROR") && !this.harmless.test(line));
      if (errors.length > 0) throw new CallFailed();
      return value;
    } catch (error) {
      // Anything but our own word comes out of the module, which is in no state to go on.
      if (!(error instanceof CallFailed)) this.loaded = null;
      if (error instanceof Permanent) throw error;
      throw crashed(failing, lines, error, aborted.reason) ?? gdalError(failing, lines, error);
    } finally {
      if (this.loaded !== null) mounts.release();
      if (wasm.HEAPU8.byteLength > large_heap) this.loaded = null;
    }
  }
}

/** GDAL said no; its lines say why. */
export class CallFailed extends Error {}

function crashed(failing: string, lines: readonly string[], error: unknown, reason: string | null): Error | null {
  if (error instanceof CallFailed) return null;
  const told = [...lines, reason ?? ""].join(" ");
  if (error instanceof RangeError || /memory|alloc|OOM/i.test(told)) {
    const message = `${failing}: the WASM build of GDAL ran out of memory (it can have 2 GB): use smaller tiles or system GDAL`;
    return new Permanent(message, { code: "raster_memory", cause: error });
  }
  const [last] = errorLines(lines).slice(-1);
  return new Permanent(`${failing}: the WASM build of GDAL crashed${last === undefined ? "" : ` (${last})`}`, {
    code: "gdal_crashed",
    cause: error,
  });
}

/** The folders of the files of one call, and nothing else of this machine. */
class Mounts {
  private readonly places = new Set<string>();

  constructor(
    private readonly wasm: WasmModule,
    files: readonly string[],
  ) {
    for (const root of new Set(files.map((file) => dirname(file)))) {
      const place = placeOf(root);
      this.wasm.FS.mkdir(place);
      this.wasm.FS.mount(this.wasm.NODEFS, { root }, place);
      this.places.add(place);
    }
  }

  inside(file: string): string {
    return join(placeOf(dirname(file)), basename(file));
  }

  release(): void {
    for (const place of this.places) {
      this.wasm.FS.unmount(place);
      this.wasm.FS.rmdir(place);
    }
  }
}

/** The same for a folder in every call: a VRT that one call writes is read by the next. */
function placeOf(folder: string): string {
  return `/folder-${createHash("sha256").update(folder).digest("hex").slice(0, 16)}`;
}

/** Calls into the module, with everything given back that was taken. */
export class Call {
  constructor(private readonly wasm: WasmModule) {}

  number(name: string, types: string[], values: unknown[]): number {
    return this.wasm.ccall(name, "number", types, values) as number;
  }

  text(name: string, values: number[]): string {
    const types = values.map(() => "number");
    const text = this.wasm.ccall(name, "string", types, values) as string;
    if (text === "") throw new CallFailed();
    return text;
  }

  opened<T>(file: string, driver: string, work: (dataset: number) => T, vector?: readonly string[]): T {
    const kind = vector === undefined ? OF_RASTER : OF_VECTOR;
    const dataset = this.withTexts([driver], (drivers) =>
      this.withTexts(vector ?? [], (options) => {
        const types = ["string", "number", "number", "number", "number"];
        return this.number("GDALOpenEx", types, [file, kind | OF_VERBOSE_ERROR, drivers, options, 0]);
      }),
    );
    if (dataset === 0) throw new CallFailed();
    try {
      return work(dataset);
    } finally {
      this.number("GDALClose", ["number"], [dataset]);
    }
  }

  /** What came out is on disk when it is closed, and not before. */
  close(dataset: number): void {
    if (dataset === 0) throw new CallFailed();
    this.number("GDALClose", ["number"], [dataset]);
  }

  withOptions<T>(name: string, options: readonly string[], work: (parsed: number) => T): T {
    return this.withTexts(options, (list) => {
      const parsed = this.number(`${name}New`, ["number", "number"], [list, 0]);
      if (parsed === 0) throw new CallFailed();
      try {
        return work(parsed);
      } finally {
        this.wasm.ccall(`${name}Free`, null, ["number"], [parsed]);
      }
    });
  }

  /** A list of texts as C has it: pointers, and a zero at the end. */
  private withTexts<T>(texts: readonly string[], work: (list: number) => T): T {
    const pointers = texts.map((text) => {
      const bytes = this.wasm.lengthBytesUTF8(text) + 1;
      const pointer = this.wasm._malloc(bytes);
      this.wasm.stringToUTF8(text, pointer, bytes);
      return pointer;
    });
    try {
      return this.withArray(Uint32Array.of(...pointers, 0), work);
    } finally {
      for (const pointer of pointers) this.wasm._free(pointer);
    }
  }

  withArray<T>(values: Uint32Array | Float64Array | Int32Array, work: (pointer: number) => T): T {
    const pointer = this.wasm._malloc(Math.max(8, values.byteLength));
    // The heap is asked for each time: it is another one after it has grown.
    this.wasm.HEAPU8.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), pointer);
    try {
      return work(pointer);
    } finally {
      this.wasm._free(pointer);
    }
  }

  transformed(points: readonly (readonly [number, number])[], options: readonly string[]): ([number, number] | null)[] {
    const count = points.length;
    if (count === 0) return [];
    return this.withTexts(options, (list) => {
      const transformer = this.number("GDALCreateGenImgProjTransformer2", ["number", "number", "number"], [0, 0, list]);
      if (transformer === 0) throw new CallFailed();
      const xs = Float64Array.from(points, ([x]) => x);
      const ys = Float64Array.from(points, ([, y]) => y);
      try {
        return this.withArray(xs, (x) =>
          this.withArray(ys, (y) =>
            this.withArray(new Float64Array(count), (z) =>
              this.withArray(new Int32Array(count), (success) => {
                const types = ["number", "number", "number", "number", "number", "number", "number"];
                this.number("GDALGenImgProjTransform", types, [transformer, 0, count, x, y, z, success]);
                return this.readPoints(count, x, y, success);
              }),
            ),
          ),
        );
      } finally {
        this.wasm.ccall("GDALDestroyGenImgProjTransformer", null, ["number"], [transformer]);
      }
    });
  }

  private readPoints(count: number, x: number, y: number, success: number): ([number, number] | null)[] {
    const { HEAPF64, HEAP32 } = this.wasm;
    return Array.from({ length: count }, (_, at): [number, number] | null => {
      const point: [number, number] = [HEAPF64[x / 8 + at]!, HEAPF64[y / 8 + at]!];
      return HEAP32[success / 4 + at] !== 0 && point.every(Number.isFinite) ? point : null;
    });
  }
}
