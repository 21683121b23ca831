// The bytes of one decoded block as numbers: the order of bytes of the file turned into this machine's, and the predictor undone. Pure.
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

export interface BlockShape {
  width: number;
  height: number;
  /** Samples that stand side by side: the bands, or 1 where each band has blocks of its own. */
  per_pixel: number;
  type: SampleType;
  little: boolean;
  predictor: number;
}

/** `bytes` belong to the caller no longer: they are changed in place. */
export function samplesOf(bytes: Uint8Array, shape: BlockShape): Samples {
  const { width, height, per_pixel, type, little, predictor } = shape;
  const size = bytesOfSample(type);
  const length = width * height * per_pixel;
  const whole = alignedBytes(bytes, length * size, size);
  if (predictor === 3) return floatsOf(whole, shape, size);
  if (!little && size > 1) swapBytes(whole, size);
  const samples = new arrays[type](whole.buffer as ArrayBuffer, whole.byteOffset, length);
  if (predictor === 2) addUp(samples, width * per_pixel, per_pixel, height);
  return samples;
}

/** Of the right length, and where an array of larger numbers may begin. */
function alignedBytes(bytes: Uint8Array, length: number, size: number): Uint8Array {
  if (bytes.length >= length && bytes.byteOffset % size === 0) return bytes.subarray(0, length);
  const copy = new Uint8Array(length);
  copy.set(bytes.subarray(0, length));
  return copy;
}

/** Horizontal differencing: each sample is told as its difference to the one left of it. */
function addUp(samples: Samples, row: number, step: number, height: number): void {
  for (let y = 0; y < height; y++) {
    const end = (y + 1) * row;
    for (let at = y * row + step; at < end; at++) samples[at] = samples[at]! + samples[at - step]!;
  }
}

/** The floating point predictor: bytes of equal weight lie together, the highest first, each as a difference to the one before. */
function floatsOf(bytes: Uint8Array, { width, height, per_pixel, type }: BlockShape, size: number): Samples {
  const row_samples = width * per_pixel;
  const row = row_samples * size;
  const out = new Uint8Array(row * height);
  for (let y = 0; y < height; y++) {
    const begin = y * row;
    for (let at = begin + per_pixel; at < begin + row; at++) bytes[at] = bytes[at]! + bytes[at - per_pixel]!;
    for (let plane = 0; plane < size; plane++) {
      const from = begin + plane * row_samples;
      const to = begin + size - 1 - plane;
      for (let at = 0; at < row_samples; at++) out[to + at * size] = bytes[from + at]!;
    }
  }
  return new arrays[type](out.buffer, 0, row_samples * height);
}

function swapBytes(bytes: Uint8Array, size: number): void {
  for (let at = 0; at + size <= bytes.length; at += size) bytes.subarray(at, at + size).reverse();
}
