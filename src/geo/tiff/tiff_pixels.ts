// Blocks of a TIFF into numbers: predictors undone, bytes in this machine's order, one band of several. The decompressor is an argument,
// so that this stays pure; lengths are checked before they are believed.
import type { DataType } from "../raster.js";
import { sample_layouts } from "./tiff_layout.js";

export type Samples =
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Uint32Array
  | Int32Array
  | Float32Array
  | Float64Array;

export interface BlockLayout {
  width: number;
  height: number;
  /** Of one pixel in this block: 1 where bands lie apart. */
  samples: number;
  data_type: Exclude<DataType, "complex" | "int64" | "uint64">;
  predictor: number;
  little_endian: boolean;
}

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

export function blockBytes({ width, height, samples, data_type }: BlockLayout): number {
  return (width * height * samples * sample_layouts[data_type].bits) / 8;
}

/** Pixel by pixel, row by row, all samples of each. `bytes` are not compressed any more, as many as blockBytes says. */
export function decodeBlock(bytes: Uint8Array, layout: BlockLayout): Samples {
  const { width, height, samples, data_type, predictor, little_endian } = layout;
  const size = sample_layouts[data_type].bits / 8;
  const row_bytes = width * samples * size;
  // A copy of its own: slice() of a Buffer is none, and begins anywhere.
  const own = new Uint8Array(row_bytes * height);
  own.set(bytes.subarray(0, own.length));
  if (predictor === 3) {
    for (let row = 0; row < height; row++)
      floatRow(own.subarray(row * row_bytes, (row + 1) * row_bytes), samples, size);
  } else if (size > 1 && !little_endian) swap(own, size);
  const array = new arrays[data_type](own.buffer, own.byteOffset, own.length / size) as Samples;
  if (predictor === 2) {
    const row_samples = width * samples;
    for (let start = 0; start < array.length; start += row_samples) {
      // What is added wraps round in the array's own type.
      for (let at = start + samples; at < start + row_samples; at++) array[at]! += array[at - samples]!;
    }
  }
  return array;
}

/** The bytes of a row of floats were sorted by significance, the highest first, and are differences. */
function floatRow(row: Uint8Array, samples: number, size: number): void {
  for (let at = samples; at < row.length; at++) row[at] = row[at]! + row[at - samples]!;
  const sorted = row.slice();
  const count = row.length / size;
  for (let i = 0; i < count; i++) {
    for (let byte = 0; byte < size; byte++) row[i * size + size - 1 - byte] = sorted[byte * count + i]!;
  }
}

function swap(bytes: Uint8Array, size: number): void {
  for (let at = 0; at < bytes.length; at += size) bytes.subarray(at, at + size).reverse();
}

/** 1 where a mask of one bit a pixel says that there is data; rows begin at whole bytes. */
export function decodeMask(bytes: Uint8Array, width: number, height: number): Uint8Array {
  const row_bytes = Math.ceil(width / 8);
  const mask = new Uint8Array(width * height);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      mask[row * width + column] = (bytes[row * row_bytes + (column >> 3)]! >> (7 - (column & 7))) & 1;
    }
  }
  return mask;
}

/** TIFF's LZW: codes of 9 to 12 bits, the highest bit first. Null for what is none. */
export function decodeLzw(bytes: Uint8Array, length: number): Uint8Array | null {
  const clear = 256;
  const end = 257;
  const target = new Uint8Array(length);
  const prefix = new Uint16Array(4097);
  const suffix = new Uint8Array(4097);
  const lengths = new Uint16Array(4097).fill(1);
  for (let code = 0; code < 256; code++) suffix[code] = code;
  let written = 0;
  let bit = 0;
  let width = 9;
  let next = 258;
  let before = -1;
  let first = 0;
  const total = bytes.length * 8;
  while (written < length && bit + width <= total) {
    let code = 0;
    for (let taken = 0; taken < width; ) {
      const offset = (bit + taken) & 7;
      const take = Math.min(8 - offset, width - taken);
      code = (code << take) | ((bytes[(bit + taken) >> 3]! >> (8 - offset - take)) & ((1 << take) - 1));
      taken += take;
    }
    bit += width;
    if (code === end) break;
    if (code === clear) {
      width = 9;
      next = 258;
      before = -1;
      continue;
    }
    if (code > next || (before < 0 && code > 255)) return null;
    // A code that is just being made is the one before, with its own first byte behind it.
    const is_new = code === next && before >= 0;
    let at = is_new ? before : code;
    const own = lengths[at]! + (is_new ? 1 : 0);
    let place = written + own - 1;
    if (is_new) place--;
    for (; ; at = prefix[at]!) {
      if (place < length) target[place] = suffix[at]!;
      if (lengths[at] === 1) {
        first = suffix[at]!;
        break;
      }
      place--;
    }
    if (is_new && written + own - 1 < length) target[written + own - 1] = first;
    written += own;
    if (before >= 0 && next < 4096) {
      prefix[next] = before;
      suffix[next] = first;
      lengths[next] = lengths[before]! + 1;
      next++;
    }
    if (next >= 2047) width = 12;
    else if (next >= 1023) width = 11;
    else if (next >= 511) width = 10;
    before = code;
  }
  return written >= length ? target : null;
}

/** Apple's: runs of one byte, and bytes as they are. Null for what is none. */
export function decodePackBits(bytes: Uint8Array, length: number): Uint8Array | null {
  const target = new Uint8Array(length);
  let written = 0;
  for (let at = 0; at < bytes.length && written < length; ) {
    const count = (bytes[at++]! << 24) >> 24;
    if (count >= 0) {
      target.set(bytes.subarray(at, Math.min(at + count + 1, at + length - written)), written);
      at += count + 1;
      written += count + 1;
    } else if (count !== -128) {
      target.fill(bytes[at++] ?? 0, written, Math.min(length, written + 1 - count));
      written += 1 - count;
    }
  }
  return written >= length ? target : null;
}
