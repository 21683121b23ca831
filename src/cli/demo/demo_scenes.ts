// The scenes of the raster demo: one seeded landscape, cut into squares that fit together, as a survey would deliver them. One of
// them is cut short on purpose, as by an upload that broke off.
import { deflateSync } from "node:zlib";
import { writeGeoTiff } from "./geotiff_writer.js";
import { syntheticScene } from "./terrain.js";

export interface DemoScene {
  /** `terrain-r2c3.tif` */
  name: string;
  content: Uint8Array;
  /** What it should be, of the one that is broken. */
  mended: Uint8Array | null;
}

export interface SceneSettings {
  scenes: number;
  /** Pixels a side. */
  size: number;
}

const seed = 20;
const metres_per_pixel = 10;
/** UTM zone 33 north. */
const crs = { epsg: 32633, kind: "projected" } as const;
const [west, north] = [500_000, 5_230_000];
/** The share of the broken file that arrived. */
const arrived = 0.6;

export function* demoScenes({ scenes, size }: SceneSettings): Generator<DemoScene> {
  const columns = Math.ceil(Math.sqrt(scenes));
  const broken = Math.floor(scenes / 2);
  for (let at = 0; at < scenes; at++) {
    const [row, column] = [Math.floor(at / columns), at % columns];
    const whole = sceneFile(size, row, column);
    yield {
      name: `terrain-r${row + 1}c${column + 1}.tif`,
      content: at === broken ? whole.subarray(0, Math.floor(whole.length * arrived)) : whole,
      mended: at === broken ? whole : null,
    };
  }
}

function sceneFile(size: number, row: number, column: number): Uint8Array {
  const side_m = size * metres_per_pixel;
  const pixels = syntheticScene({
    seed,
    width: size,
    height: size,
    look: "dem",
    column: column * size,
    row: row * size,
    // A sensor's edge: footprints follow the pixels that are there.
    nodata_wedge: row === 0 ? 0.2 : 0,
  });
  return writeGeoTiff({
    ...pixels,
    tile: 256,
    deflate: (bytes) => deflateSync(bytes, { level: 4 }),
    transform: [west + column * side_m, metres_per_pixel, 0, north - row * side_m, 0, -metres_per_pixel],
    crs,
  });
}
