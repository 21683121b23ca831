// Rasters of every kind that a COG is made of, in any size: colours, many bands, nodata of all sorts, a palette, alpha, a mask.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { type NewGeoTiff, writeGeoTiff } from "../../../src/cli/demo/geotiff_writer.js";
import { newPath, utm, written } from "./both_engines.js";

export const kinds = ["rgb", "uint16", "float", "int16", "palette", "rgba", "masked", "corner"] as const;
export type Kind = (typeof kinds)[number];

/** What can hold nothing holds nothing in its upper left quarter. */
export function rasterOf(kind: Kind, width: number, height: number): NewGeoTiff {
  const band = (value: (x: number, y: number) => number) => {
    const values = new Float64Array(width * height);
    for (let at = 0; at < values.length; at++) values[at] = value(at % width, Math.floor(at / width));
    return values;
  };
  const bands = (count: number) =>
    Array.from({ length: count }, (_, at) => band((x, y) => (x + 3 * y + at * 40) % 251));
  const inCorner = (x: number, y: number) => x < width / 2 && y < height / 2;
  const holed = (nodata: number) => [band((x, y) => (inCorner(x, y) ? nodata : x - y))];
  const base = { ...utm, width, height, tile: 256, deflate: undefined };
  switch (kind) {
    case "rgb":
      return { ...base, data_type: "uint8", bands: bands(3), colors: "rgb" };
    case "rgba":
    case "masked": {
      const alpha = band((x, y) => (inCorner(x, y) ? 0 : 255));
      return { ...base, data_type: "uint8", bands: [...bands(3), alpha], colors: "rgb" };
    }
    case "uint16":
      return { ...base, data_type: "uint16", bands: bands(4) };
    case "float":
      return { ...base, data_type: "float32", bands: holed(Number.NaN), nodata: "nan" };
    case "int16":
      return { ...base, data_type: "int16", bands: holed(-32_768), nodata: -32_768 };
    case "corner": {
      // One pixel at the end: most blocks are not in the file at all.
      const last = band((x, y) => (x === width - 1 && y === height - 1 ? 7 : -1));
      return { ...base, data_type: "int16", bands: [last], nodata: -1 };
    }
    case "palette": {
      const color_table = Array.from({ length: 256 }, (_, at) => [at, 255 - at, 90] as [number, number, number]);
      return { ...base, data_type: "uint8", bands: bands(1), colors: "palette", color_table };
    }
  }
}

const sources = new Map<string, Promise<string>>();

/** The same file for both engines. */
export function sourceOf(kind: Kind, width: number, height: number): Promise<string> {
  const key = `${kind} ${width} ${height}`;
  const known = sources.get(key) ?? writeSource(kind, width, height);
  sources.set(key, known);
  return known;
}

async function writeSource(kind: Kind, width: number, height: number): Promise<string> {
  const file = await written(writeGeoTiff(rasterOf(kind, width, height)));
  if (kind !== "masked") return file;
  const masked = await newPath("masked.tif");
  const mask = ["-b", "1", "-b", "2", "-b", "3", "-mask", "4", "--config", "GDAL_TIFF_INTERNAL_MASK", "YES"];
  await promisify(execFile)("gdal_translate", ["-q", ...mask, file, masked]);
  return masked;
}
