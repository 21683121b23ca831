// The terrain of `fanfold demo world`: one seeded landscape over the whole earth in eight tiles, with pixels where Natural Earth has land.
import { deflateSync } from "node:zlib";
import type { Area } from "../../geo/h3/area.js";
import { writeGeoTiff } from "./geotiff_writer.js";
import { elevation } from "./terrain.js";

export interface WorldTile {
  /** `terrain-r1c1.tif`, north-west first. */
  name: string;
  content(): Uint8Array;
}

const seed = 19;
const nodata = -9999;
/** The side of a tile, in degrees. */
const side = 90;
/** The pixels of a side: 0.25 degrees each. */
const size = 360;
const step = side / size;
const crs = { epsg: 4326, kind: "geographic" } as const;

export function* worldTiles(land: Pick<Area, "contains">): Generator<WorldTile> {
  for (let row = 0; row < 180 / side; row++) {
    for (let column = 0; column < 360 / side; column++) {
      yield { name: `terrain-r${row + 1}c${column + 1}.tif`, content: () => tileFile(land, row, column) };
    }
  }
}

function tileFile(land: Pick<Area, "contains">, row: number, column: number): Uint8Array {
  const [west, north] = [column * side - 180, 90 - row * side];
  const heights = new Float32Array(size * size);
  for (let at = 0; at < heights.length; at++) {
    const [x, y] = [at % size, Math.floor(at / size)];
    const is_land = land.contains(west + (x + 0.5) * step, north - (y + 0.5) * step);
    heights[at] = is_land ? elevation(seed, column * size + x, row * size + y) : nodata;
  }
  return writeGeoTiff({
    width: size,
    height: size,
    data_type: "float32",
    bands: [heights],
    nodata,
    units: ["m"],
    tile: 256,
    deflate: (bytes) => deflateSync(bytes, { level: 4 }),
    transform: [west, step, 0, north, 0, -step],
    crs,
  });
}
