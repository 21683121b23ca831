// Reads the plain TIFF that an engine was asked to write: float64, uncompressed, one strip a band; first the bands, then which of their
// pixels are valid. Pure.
import { Permanent } from "../../../core/errors/errors.js";

export interface Pixels {
  width: number;
  height: number;
  /** By band, row by row. */
  values: Float64Array[];
  /** The same, 0 where there is no data. */
  valid: Uint8Array[];
}

const STRIP_OFFSETS = 273;
const LONG = 4;

export function readRawPixels(file: Uint8Array, width: number, height: number, bands: number): Pixels {
  const offsets = stripOffsets(file);
  const bytes = width * height * 8;
  if (offsets.length !== bands * 2 || offsets.some((offset) => offset + bytes > file.length)) {
    throw new Permanent("GDAL wrote pixels in an order that was not asked for", { code: "gdal_failed" });
  }
  // Copied: a float64 must lie at a multiple of eight.
  const strips = offsets.map(
    (offset) => new Float64Array(Uint8Array.from(file.subarray(offset, offset + bytes)).buffer),
  );
  const values = strips.slice(0, bands);
  const valid = strips.slice(bands).map((mask, band) => {
    const own = values[band]!;
    // A float without a nodata value of its own is still no data when it is not a number.
    return Uint8Array.from(mask, (one, at) => (one !== 0 && !Number.isNaN(own[at]) ? 1 : 0));
  });
  return { width, height, values, valid };
}

/** Of a file of one band and one row, without a mask. */
export function readRawValues(file: Uint8Array, count: number): number[] {
  const [offset = 0] = stripOffsets(file);
  if (offset === 0 || offset + count * 8 > file.length) {
    throw new Permanent("GDAL wrote values in an order that was not asked for", { code: "gdal_failed" });
  }
  return [...new Float64Array(Uint8Array.from(file.subarray(offset, offset + count * 8)).buffer)];
}

function stripOffsets(file: Uint8Array): number[] {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  if (view.byteLength < 8 || view.getUint16(0) !== 0x4949 || view.getUint16(2, true) !== 42) return [];
  const directory = view.getUint32(4, true);
  const count = view.getUint16(directory, true);
  for (let at = directory + 2; at < directory + 2 + count * 12; at += 12) {
    if (view.getUint16(at, true) !== STRIP_OFFSETS || view.getUint16(at + 2, true) !== LONG) continue;
    const length = view.getUint32(at + 4, true);
    const start = length === 1 ? at + 8 : view.getUint32(at + 8, true);
    return Array.from({ length }, (_, index) => view.getUint32(start + index * 4, true));
  }
  return [];
}
