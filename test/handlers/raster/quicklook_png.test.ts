// The small picture beside a COG, read again byte by byte.
import { inflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { paintedPng } from "../../../src/handlers/raster/gdal/quicklook_png.js";

/** Its bytes a pixel, and its pixels. */
function read(png: Uint8Array): { color_type: number; pixels: number[] } {
  const bytes = Buffer.from(png);
  const [width, height, color_type] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20), bytes[25]!];
  const samples = { 0: 1, 2: 3, 4: 2, 6: 4 }[color_type]!;
  const rows = inflateSync(bytes.subarray(41, 41 + bytes.readUInt32BE(33)));
  const row = width * samples;
  expect(rows).toHaveLength((row + 1) * height);
  const pixels: number[] = [];
  for (let y = 0; y < height; y++) {
    expect(rows[y * (row + 1)]).toBe(2);
    for (let x = 0; x < row; x++)
      pixels.push((rows[y * (row + 1) + 1 + x]! + (y === 0 ? 0 : pixels[(y - 1) * row + x]!)) & 0xff);
  }
  return { color_type, pixels };
}

const values = Float64Array.from([-5, 0, 50, 100, 200, Number.NaN]);

test("values between black and white are shades, others are one of them", () => {
  const valid = [new Uint8Array(6).fill(1)];
  const png = paintedPng({ width: 2, height: 3, values: [values], valid }, [[0, 100]]);
  expect(read(png)).toEqual({ color_type: 0, pixels: [0, 0, 128, 255, 255, 0] });
});

test("what any band leaves out is transparent in all of them", () => {
  const valid = [Uint8Array.from([1, 1, 1, 1, 1, 0]), Uint8Array.from([1, 0, 1, 1, 1, 1]), new Uint8Array(6).fill(1)];
  const bands = [values, values, values];
  const { color_type, pixels } = read(
    paintedPng({ width: 3, height: 2, values: bands, valid }, [
      [0, 100],
      [0, 50],
      [100, 100],
    ]),
  );
  expect(color_type).toBe(6);
  expect(pixels.filter((_, at) => at % 4 === 3)).toEqual([255, 0, 255, 255, 255, 0]);
  expect(pixels.slice(8, 12)).toEqual([128, 255, 128, 255]);
});
