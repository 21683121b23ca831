// The mathematics of reference systems: from a tile's to a raster's. What EPSG defines comes from the database's own list, so that what the
// loads know is known here too; what a file defines itself, its item says.
import { LRUCache } from "lru-cache";
import proj4 from "proj4";
import { crsDefinition } from "../../catalog/crs_definition.js";
import { Conflict } from "../../core/errors/errors.js";
import type { SqlSession } from "../../core/task/context.js";
import type { GeoTransform } from "../../geo/raster.js";
import type { Projecting } from "../../geo/raster_tiles/positions.js";

export interface RasterCrs {
  /** "EPSG:32636"; null when it is defined in words. */
  code: string | null;
  wkt: string | null;
}

export interface RasterPlace {
  transform: GeoTransform;
  width: number;
  height: number;
}

/** From and to degrees of WGS 84. */
export interface Conversion {
  geographic: boolean;
  forward(point: [number, number]): number[];
  inverse(point: [number, number]): number[];
}

const radius = 6_378_137;
const degree = Math.PI / 180;
const same = (point: [number, number]) => point;

const wgs84: Conversion = { geographic: true, forward: same, inverse: same };
const mercator: Conversion = {
  geographic: false,
  forward: ([lon, lat]) => [lon * degree * radius, Math.log(Math.tan(Math.PI / 4 + (lat * degree) / 2)) * radius],
  inverse: ([x, y]) => [x / radius / degree, (2 * Math.atan(Math.exp(y / radius)) - Math.PI / 2) / degree],
};

export class Projections {
  readonly #known = new LRUCache<string, Conversion>({ max: 500 });

  /** Throws Conflict for what cannot be computed. */
  async of({ code, wkt }: RasterCrs, db: SqlSession): Promise<Conversion> {
    if (code === "EPSG:4326") return wgs84;
    if (code === "EPSG:3857") return mercator;
    const name = code ?? wkt ?? "";
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const srid = /^EPSG:(\d{4,6})$/.exec(code ?? "")?.[1];
    const words = srid === undefined ? wkt : await crsDefinition(db, Number(srid));
    const made = words === null ? null : conversionOf(words);
    if (made === null) {
      const what = code ?? "the one that the file defines itself";
      throw new Conflict(`no tile can be made of this file: its reference system, ${what}, cannot be computed here`, {
        hint: "run process_raster on it with target_crs=EPSG:4326, and show that",
      });
    }
    this.#known.set(name, made);
    return made;
  }
}

function conversionOf(words: string): Conversion | null {
  try {
    const converter = proj4(words);
    const geographic = /\+proj=longlat|^\s*GEOG(CS|CRS)/.test(words);
    // Tried once, for what is read and cannot be computed.
    converter.forward([0, 0]);
    return {
      geographic,
      forward: (point) => converter.forward(point),
      inverse: (point) => converter.inverse(point),
    };
  } catch {
    return null;
  }
}

/** West, south, east, north in degrees; the whole world for a raster whose edge cannot be told. East may lie beyond 180. */
export function degreesOf({ transform, width, height }: RasterPlace, { inverse, geographic }: Conversion): Box {
  const [x0, dx, rx, y0, ry, dy] = transform;
  const steps = 16;
  const edge = Array.from({ length: steps + 1 }, (_, n) => n / steps).flatMap((part): [number, number][] => [
    [part, 0],
    [part, 1],
    [0, part],
    [1, part],
    [part, 0.5],
  ]);
  const points = edge.map(([u, v]) =>
    attempt(inverse, [x0 + u * width * dx + v * height * rx, y0 + u * width * ry + v * height * dy]),
  );
  if (points.some((point) => point === null)) return [-180, -90, 180, 90];
  const west = Math.min(...points.map((point) => point![0]));
  const east = Math.max(...points.map((point) => point![0]));
  // A projected raster that reaches from one side of the world to the other lies across the antimeridian or around a pole.
  const is_torn = !geographic && east - west > 180;
  const south = Math.min(...points.map((point) => point![1]));
  const north = Math.max(...points.map((point) => point![1]));
  return is_torn ? [-180, south < 0 ? -90 : south, 180, south < 0 ? north : 90] : [west, south, east, north];
}

export type Box = [west: number, south: number, east: number, north: number];

/** From a tile of this reference system to the raster's own; null beside the raster, where the mathematics may tell anything. */
export function projecting(from: "EPSG:3857" | "EPSG:4326", to: Conversion, box: Box): Projecting {
  const [west, south, east, north] = box;
  const [margin_x, margin_y] = [Math.max(0.5, (east - west) / 4), Math.max(0.5, (north - south) / 4)];
  const middle = (west + east) / 2;
  const is_mercator = from === "EPSG:3857";
  return (x, y) => {
    const [told, lat] = is_mercator ? (mercator.inverse([x, y]) as [number, number]) : [x, y];
    // A raster may lie beyond 180 degrees, where the map begins anew.
    const lon = told + Math.round((middle - told) / 360) * 360;
    if (lon < west - margin_x || lon > east + margin_x || lat < south - margin_y || lat > north + margin_y) return null;
    if (to === mercator && is_mercator && lon === told) return [x, y];
    return attempt(to.forward, [lon, lat]);
  };
}

function attempt(convert: Conversion["forward"], point: [number, number]): [number, number] | null {
  try {
    const [x, y] = convert(point);
    return Number.isFinite(x) && Number.isFinite(y) ? [x!, y!] : null;
  } catch {
    return null;
  }
}
