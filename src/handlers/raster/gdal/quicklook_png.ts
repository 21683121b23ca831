// Pixels as a small picture: grey or colour, stretched between two values, transparent where there is no data. Pure.
import { deflateSync } from "node:zlib";
import type { Pixels } from "./raw_pixels.js";

/** The values that become black and white. */
export type Stretch = readonly [number, number];

export function paintedPng(pixels: Pixels, stretches: readonly Stretch[]): Uint8Array {
  const { width, height, values, valid } = pixels;
  const colours = values.length;
  const row_bytes = width * (colours + 1) + 1;
  // Each row starts with its filter; 0 is none.
  const rows = Buffer.alloc(row_bytes * height);
  for (let y = 0; y < height; y++) {
    let to = y * row_bytes + 1;
    for (let x = 0; x < width; x++) {
      const at = y * width + x;
      for (let band = 0; band < colours; band++) rows[to++] = shade(values[band]![at]!, stretches[band]!);
      rows[to++] = valid.every((mask) => mask[at] !== 0) ? 255 : 0;
    }
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  // Eight bits, and grey (4) or colour (6) with an alpha channel.
  head.set([8, colours === 1 ? 4 : 6], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const body = deflateSync(rows, { level: 9 });
  return Buffer.concat([signature, chunk("IHDR", head), chunk("IDAT", body), chunk("IEND", Buffer.alloc(0))]);
}

/** Classes in the colours that the raster has for them; a value without one is black. */
export function coloredPng({ values, ...rest }: Pixels, table: readonly (readonly number[])[]): Uint8Array {
  const colors = [0, 1, 2].map((channel) => Float64Array.from(values[0]!, (value) => table[value]?.[channel] ?? 0));
  const whole: Stretch = [0, 255];
  return paintedPng({ ...rest, values: colors }, [whole, whole, whole]);
}

function shade(value: number, [low, high]: Stretch): number {
  if (!Number.isFinite(value)) return 0;
  const share = high > low ? (value - low) / (high - low) : 0.5;
  return Math.round(255 * Math.min(1, Math.max(0, share)));
}

function chunk(name: string, body: Uint8Array): Buffer {
  const named = Buffer.concat([Buffer.from(name, "latin1"), body]);
  const framed = Buffer.alloc(8);
  framed.writeUInt32BE(body.length, 0);
  framed.writeUInt32BE(checksum(named), 4);
  return Buffer.concat([framed.subarray(0, 4), named, framed.subarray(4)]);
}

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** CRC-32; node's own is younger than the oldest node we run on. */
function checksum(bytes: Uint8Array): number {
  let value = 0xffffffff;
  for (const byte of bytes) value = table[(value ^ byte) & 0xff]! ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}
