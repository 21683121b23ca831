// Landscapes from a seed, for fixtures and the demo: the same seed and place give the same pixels on every machine, and scenes
// side by side fit together. Only additions, multiplications and 32-bit hashes, so no rounding differs between machines. Pure.
import type { NewGeoTiff } from "./geotiff_writer.js";

export const looks = [
  "dem",
  "rgb",
  "landcover",
  "multispectral",
  "vegetation_index",
  "flood_depth",
  "continuous",
] as const;
export type Look = (typeof looks)[number];

export interface Scene {
  seed: number;
  width: number;
  height: number;
  look: Look;
  /** Place of the upper left pixel in the landscape; default 0, 0. */
  column?: number;
  row?: number;
  /** Share of the width that is nodata at the lower right, as of a tilted swath; default 0. */
  nodata_wedge?: number;
}

export type ScenePixels = Pick<
  NewGeoTiff,
  "width" | "height" | "data_type" | "bands" | "nodata" | "descriptions" | "colors" | "units" | "scales"
>;

/** Metres, about 0 to 3000. */
export function elevation(seed: number, column: number, row: number): number {
  let height = 0;
  let amplitude = 1;
  let frequency = 1 / 256;
  for (let octave = 0; octave < 7; octave++) {
    height += amplitude * smoothNoise(seed + octave * 1013, column * frequency, row * frequency);
    amplitude *= 0.5;
    frequency *= 2;
  }
  // The sum of seven octaves stays below 2; squared, valleys are wide and peaks are few.
  const share = height / 2;
  return 3000 * share * share;
}

export function syntheticScene(scene: Scene): ScenePixels {
  const { width, height, seed } = scene;
  const size = width * height;
  const land = new Float64Array(size);
  const wet = new Float64Array(size);
  const valid = new Uint8Array(size);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const i = y * width + x;
      const column = x + (scene.column ?? 0);
      const row = y + (scene.row ?? 0);
      valid[i] = inWedge(scene, x, y) ? 0 : 1;
      land[i] = elevation(seed, column, row);
      wet[i] =
        smoothNoise(seed + 7919, column / 64, row / 64) * 0.7 + smoothNoise(seed + 104729, column / 8, row / 8) * 0.3;
    }
  }
  const band = (nodata: number, value: (height: number, moisture: number, i: number) => number) =>
    Array.from(land, (metres, i) => (valid[i] ? value(metres, wet[i]!, i) : nodata));
  const shared = { width, height };
  switch (scene.look) {
    case "dem":
      return { ...shared, data_type: "float32", nodata: -9999, units: ["m"], bands: [band(-9999, (metres) => metres)] };
    case "continuous":
      return {
        ...shared,
        data_type: "float32",
        nodata: "nan",
        bands: [band(Number.NaN, (metres, w) => w * 40 - metres / 150)],
      };
    case "vegetation_index":
      return {
        ...shared,
        data_type: "float32",
        nodata: -2,
        bands: [band(-2, (metres, w) => greenness(metres, w) * 1.1 - 0.2)],
      };
    case "flood_depth":
      // Centimetres, as flood models give them: dry is 0.
      return {
        ...shared,
        data_type: "int16",
        nodata: -32768,
        bands: [band(-32768, (metres) => Math.round(Math.max(0, 500 - metres)))],
      };
    case "landcover":
      return { ...shared, data_type: "uint8", nodata: 0, colors: "gray", bands: [band(0, landcover)] };
    case "rgb":
      return {
        ...shared,
        data_type: "uint8",
        colors: "rgb",
        nodata: 0,
        bands: [0, 1, 2].map((c) => band(0, (metres, w) => Math.round(color(metres, w)[c]!))),
      };
    case "multispectral":
      return {
        ...shared,
        data_type: "uint16",
        nodata: 0,
        descriptions: ["blue", "green", "red", "nir"],
        scales: [0.0001, 0.0001, 0.0001, 0.0001],
        bands: [
          band(0, (metres, w) => Math.round(color(metres, w)[2]! * 12 + 200)),
          band(0, (metres, w) => Math.round(color(metres, w)[1]! * 12 + 200)),
          band(0, (metres, w) => Math.round(color(metres, w)[0]! * 12 + 200)),
          band(0, (metres, w) => Math.round(greenness(metres, w) * 5000 + 400)),
        ],
      };
  }
}

function inWedge({ width, height, nodata_wedge = 0 }: Scene, x: number, y: number): boolean {
  return x >= width - nodata_wedge * width * ((y + 1) / height);
}

/** 0–1: green where it is wet and not high. */
function greenness(metres: number, moisture: number): number {
  return Math.max(0, Math.min(1, moisture * 1.3 - metres / 4000));
}

/** Classes: 1 water, 2 crops, 3 forest, 4 grass, 5 rock, 6 snow. */
function landcover(metres: number, moisture: number): number {
  if (metres < 250) return 1;
  if (metres > 2000) return 6;
  if (metres > 1400) return 5;
  if (moisture > 0.55) return 3;
  return moisture > 0.4 ? 4 : 2;
}

/** Never all zero: black is nodata in the rgb scene. */
function color(metres: number, moisture: number): [number, number, number] {
  if (metres < 250) return [20, 60 + metres / 5, 120 + metres / 5];
  if (metres > 2000) return [240, 244, 250];
  const green = greenness(metres, moisture);
  return [150 - green * 110, 120 + green * 40 - metres / 40, 90 - green * 50];
}

/** Between 0 and 1, the same for the same place. */
function smoothNoise(seed: number, x: number, y: number): number {
  const x0 = Math.floor(x);
  const y0 = Math.floor(y);
  const u = ease(x - x0);
  const v = ease(y - y0);
  const top = corner(seed, x0, y0) * (1 - u) + corner(seed, x0 + 1, y0) * u;
  const bottom = corner(seed, x0, y0 + 1) * (1 - u) + corner(seed, x0 + 1, y0 + 1) * u;
  return top * (1 - v) + bottom * v;
}

function ease(t: number): number {
  return t * t * (3 - 2 * t);
}

function corner(seed: number, x: number, y: number): number {
  let hash = Math.imul(x, 0x27d4eb2d) ^ Math.imul(y, 0x165667b1) ^ Math.imul(seed, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 0x1_0000_0000;
}
