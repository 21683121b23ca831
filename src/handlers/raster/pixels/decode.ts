// One block of a TIFF, from the bytes in the file to numbers: unpacked, and the differences of its predictor added up again. Only what
// we write ourselves and what most others write; the rest is GDAL's. Pure.
import { inflateSync } from "node:zlib";
import type { DataType } from "../../../geo/raster.js";
import type { TiffImageHeader } from "../../../geo/tiff/tiff_header.js";
import { unpackLzw } from "./lzw.js";

export type Samples =
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Uint32Array
  | Int32Array
  | Float32Array
  | Float64Array;

type SampleArray = new (buffer: ArrayBuffer) => Samples;

const arrays: Readonly<Partial<Record<DataType, SampleArray>>> = {
  uint8: Uint8Array,
  int8: Int8Array,
  uint16: Uint16Array,
  int16: Int16Array,
  uint32: Uint32Array,
  int32: Int32Array,
  float32: Float32Array,
  float64: Float64Array,
};

const codecs = new Set(["none", "deflate", "lzw"]);

/** What stands in one block: pixels in rows, and of each pixel so many samples. */
export interface BlockShape {
  width: number;
  height: number;
  samples: number;
  data_type: DataType;
  compression: string;
  predictor: number;
}

/** null: not one of those that are read here. */
export function shapeOf(image: TiffImageHeader): BlockShape | null {
  const { data_type, compression, predictor, planar_configuration, photometric } = image;
  if (data_type === null || arrays[data_type] === undefined) return null;
  if (compression === null || !codecs.has(compression)) return null;
  const is_float = data_type === "float32" || data_type === "float64";
  const is_known = predictor === 1 || (predictor === 2 && data_type !== "float64") || (predictor === 3 && is_float);
  if (!is_known || (photometric !== null && photometric > 3)) return null;
  return {
    width: image.block_width,
    height: image.block_height,
    samples: planar_configuration === 2 ? 1 : image.band_count,
    data_type,
    compression,
    predictor,
  };
}

export function bytesOf({ width, height, samples, data_type }: BlockShape): number {
  return width * height * samples * bytes_per_sample[data_type]!;
}

export const bytes_per_sample: Readonly<Partial<Record<DataType, number>>> = {
  uint8: 1,
  int8: 1,
  uint16: 2,
  int16: 2,
  uint32: 4,
  int32: 4,
  float32: 4,
  float64: 8,
};

/** A block of one value: what a sparse file leaves out. */
export function filled(shape: BlockShape, value: number): Samples {
  return new arrays[shape.data_type]!(new ArrayBuffer(bytesOf(shape))).fill(value);
}

/** Throws for bytes that are not what the header says. `rows`: of the last strip fewer. */
export function decodeBlock(packed: Uint8Array, shape: BlockShape, rows = shape.height): Samples {
  const whole = bytesOf({ ...shape, height: rows });
  const bytes = unpacked(packed, shape.compression, whole);
  if (bytes.length < whole) throw new RangeError("a block is shorter than its header says");
  // Copied once: samples have to lie at a multiple of their size.
  const own = new Uint8Array(whole);
  if (shape.predictor === 3) {
    undoFloat(bytes, own, shape, rows);
  } else own.set(bytes.subarray(0, whole));
  const samples = new arrays[shape.data_type]!(own.buffer);
  if (shape.predictor === 2) undoDifferences(samples, shape.width * shape.samples, shape.samples);
  return samples;
}

function unpacked(packed: Uint8Array, compression: string, bytes: number): Uint8Array {
  if (compression === "none") return packed;
  if (compression === "lzw") return unpackLzw(packed, bytes);
  // A little more than a block: what would swell to more is not what it says.
  return inflateSync(packed, { maxOutputLength: bytes + 1024 });
}

/** Typed arrays wrap around as the writer's did. */
function undoDifferences(samples: Samples, row: number, step: number): void {
  // Bits of floats are differenced as whole numbers.
  const whole = samples instanceof Float32Array ? new Uint32Array(samples.buffer) : samples;
  for (let start = 0; start < whole.length; start += row) {
    const end = start + row;
    for (let at = start + step; at < end; at++) whole[at] = whole[at]! + whole[at - step]!;
  }
}

/** Rows of bytes: first the highest of each sample, then the next; each the difference from the one a pixel before. */
function undoFloat(bytes: Uint8Array, target: Uint8Array, { width, samples, data_type }: BlockShape, rows: number) {
  const size = bytes_per_sample[data_type]!;
  const values = width * samples;
  const row = values * size;
  const one = new Uint8Array(row);
  for (let y = 0; y < rows; y++) {
    const start = y * row;
    one.set(bytes.subarray(start, start + row));
    for (let at = samples; at < row; at++) one[at] = one[at]! + one[at - samples]!;
    for (let part = 0; part < size; part++) {
      const from = part * values;
      let to = start + size - 1 - part;
      for (let at = 0; at < values; at++, to += size) target[to] = one[from + at]!;
    }
  }
}
