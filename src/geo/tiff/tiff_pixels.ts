// Blocks of a TIFF into numbers: what is packed made whole, predictors undone, bytes in this machine's order. What zlib and others unpack
// comes in unpacked, so that this stays pure. Lengths are checked before they are believed, and nothing becomes longer than its caller says.
import type { DataType } from "../raster.js";

export type Samples =
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Uint32Array
  | Int32Array
  | Float32Array
  | Float64Array;

const arrays = {
  uint8: Uint8Array,
  int8: Int8Array,
  uint16: Uint16Array,
  int16: Int16Array,
  uint32: Uint32Array,
  int32: Int32Array,
  float32: Float32Array,
  float64: Float64Array,
} as const;

export type SampleType = keyof typeof arrays;

export function isSampleType(type: DataType | null): type is SampleType {
  return type !== null && type in arrays;
}

export function bytesOfSample(type: SampleType): number {
  return arrays[type].BYTES_PER_ELEMENT;
}

export interface BlockLayout {
  width: number;
  height: number;
  /** Samples of one pixel in this block: 1 where bands lie apart. */
  samples: number;
  data_type: SampleType;
  predictor: number;
  little_endian: boolean;
}

export function blockBytes({ width, height, samples, data_type }: BlockLayout): number {
  return width * height * samples * bytesOfSample(data_type);
}

/** A block of one value: what a sparse file leaves out. */
export function filledBlock(layout: BlockLayout, value: number): Samples {
  return new arrays[layout.data_type](new ArrayBuffer(blockBytes(layout))).fill(value);
}

/** Pixel by pixel, row by row, all samples of each. Throws RangeError for fewer `bytes` than blockBytes says; they stay as they are. */
export function decodeBlock(bytes: Uint8Array, layout: BlockLayout): Samples {
  const { width, samples, data_type, predictor, little_endian } = layout;
  const size = bytesOfSample(data_type);
  const length = blockBytes(layout);
  if (bytes.length < length) throw new RangeError("a block is shorter than its header says");
  // Copied once: samples have to lie at a multiple of their size, and what was read may hold several blocks.
  const own = new Uint8Array(length);
  if (predictor === 3) undoFloat(bytes, own, layout);
  else {
    own.set(bytes.subarray(0, length));
    if (size > 1 && !little_endian) swap(own, size);
  }
  const array = new arrays[data_type](own.buffer) as Samples;
  if (predictor === 2 && array instanceof Float64Array) undoLongDifferences(array, width * samples, samples);
  else if (predictor === 2) undoDifferences(array, width * samples, samples);
  return array;
}

/** Each sample is told as its difference to the one left of it; what is added wraps round in the array's own type. */
function undoDifferences(samples: Samples, row: number, step: number): void {
  // Bits of floats are differenced as whole numbers.
  const whole = samples instanceof Float32Array ? new Uint32Array(samples.buffer) : samples;
  for (let start = 0; start < whole.length; start += row) {
    const end = start + row;
    for (let at = start + step; at < end; at++) whole[at] = whole[at]! + whole[at - step]!;
  }
}

function undoLongDifferences(samples: Float64Array, row: number, step: number): void {
  const whole = new BigUint64Array(samples.buffer);
  for (let start = 0; start < whole.length; start += row)
    for (let at = start + step; at < start + row; at++) whole[at] = whole[at]! + whole[at - step]!;
}

/** Rows of bytes: first the highest of each sample, then the next; each the difference from the one a pixel before. */
function undoFloat(bytes: Uint8Array, target: Uint8Array, { width, height, samples, data_type }: BlockLayout): void {
  const size = bytesOfSample(data_type);
  const values = width * samples;
  const row = values * size;
  // The sums of the row so far, one for each sample of a pixel; the next part of the row goes on from them.
  const sums = new Uint8Array(samples);
  for (let y = 0; y < height; y++) {
    const start = y * row;
    sums.fill(0);
    for (let part = 0; part < size; part++) {
      const from = start + part * values;
      for (let sample = 0; sample < samples; sample++) {
        let sum = sums[sample]!;
        let to = start + size - 1 - part + sample * size;
        for (let at = from + sample; at < from + values; at += samples, to += samples * size) {
          sum = (sum + bytes[at]!) & 0xff;
          target[to] = sum;
        }
        sums[sample] = sum;
      }
    }
  }
}

function swap(bytes: Uint8Array, size: number): void {
  for (let at = 0; at < bytes.length; at += size) bytes.subarray(at, at + size).reverse();
}

/** 1 where a mask of one bit a pixel says that there is data; rows begin at whole bytes. Throws RangeError for too few. */
export function decodeMask(bytes: Uint8Array, width: number, height: number): Uint8Array {
  const row_bytes = Math.ceil(width / 8);
  if (bytes.length < row_bytes * height) throw new RangeError("a mask is shorter than its header says");
  const mask = new Uint8Array(width * height);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      mask[row * width + column] = (bytes[row * row_bytes + (column >> 3)]! >> (7 - (column & 7))) & 1;
    }
  }
  return mask;
}

const clear = 256;
const end = 257;
const most_codes = 4096;

/**
 * TIFF's LZW: codes of nine to twelve bits, the first bit first, wider one code early. At most `bytes`, which the caller knows from the
 * header; fewer where `packed` ends too early. Throws RangeError for codes that nothing stands for yet.
 */
export function unpackLzw(packed: Uint8Array, bytes: number): Uint8Array {
  if (packed[0] === 0 && ((packed[1] ?? 0) & 1) === 1) throw new RangeError("LZW of the oldest kind");
  const out = new Uint8Array(bytes);
  // A code is what lies at a place of the output, and how long it is: nothing is kept twice.
  const places = new Uint32Array(most_codes);
  const lengths = new Uint32Array(most_codes);
  let next = 258;
  let width = 9;
  let bits = 0;
  let held = 0;
  let written = 0;
  let before_at = 0;
  let before_length = 0;
  for (let at = 0; written < bytes; ) {
    while (held < width) {
      if (at >= packed.length) return out.subarray(0, written);
      bits = ((bits << 8) | packed[at++]!) & 0xffffff;
      held += 8;
    }
    held -= width;
    const code = (bits >>> held) & ((1 << width) - 1);
    if (code === end) break;
    if (code === clear) {
      [next, width, before_length] = [258, 9, 0];
      continue;
    }
    const start = written;
    if (code < 256) out[written++] = code;
    else {
      const is_new = code === next && before_length > 0;
      if (code > next || (code === next && !is_new)) throw new RangeError("an LZW code that nothing stands for");
      const stop = Math.min(written + (is_new ? before_length : lengths[code]!), bytes);
      for (let from = is_new ? before_at : places[code]!; written < stop; ) out[written++] = out[from++]!;
      // What is new ends with the byte it begins with.
      if (is_new && written < bytes) out[written++] = out[before_at]!;
    }
    if (before_length > 0 && next < most_codes) {
      // What came before and one byte of this: both lie there in a row.
      places[next] = before_at;
      lengths[next] = before_length + 1;
      next++;
      if (next >= (1 << width) - 1 && width < 12) width++;
    }
    [before_at, before_length] = [start, written - start];
  }
  return out.subarray(0, written);
}

/** Apple's: runs of one byte, and bytes as they are. At most `bytes`; fewer where `packed` ends too early. */
export function unpackPackBits(packed: Uint8Array, bytes: number): Uint8Array {
  const out = new Uint8Array(bytes);
  let written = 0;
  for (let at = 0; at < packed.length && written < bytes; ) {
    const count = (packed[at++]! << 24) >> 24;
    if (count >= 0) {
      const run = packed.subarray(at, at + Math.min(count + 1, bytes - written));
      out.set(run, written);
      at += count + 1;
      written += run.length;
    } else if (count !== -128 && at < packed.length) {
      const end = Math.min(bytes, written + 1 - count);
      out.fill(packed[at++]!, written, end);
      written = end;
    }
  }
  return out.subarray(0, written);
}
