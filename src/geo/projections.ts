// From the coordinates of a raster to degrees, for the reference systems in which most of them are. Pure.
import { utm } from "./known_crs.js";

/** How a reference system is left: by column and row alone where its axes are those of the world, by both otherwise. */
export type ToDegrees =
  | { kind: "separable"; lon(x: number): number; lat(y: number): number }
  | { kind: "free"; degrees(x: number, y: number): [lon: number, lat: number] };

const semi_major = 6378137;

/** Null for one that is not among them. ETRS89 and NAD83 are taken for WGS 84, from which they differ by less than two metres. */
export function toDegrees(code: string | null): ToDegrees | null {
  const number = Number(/^EPSG:(\d{1,6})$/.exec(code ?? "")?.[1] ?? Number.NaN);
  if ([4326, 4258, 4269, 4979].includes(number) || code === "OGC:CRS84") {
    return { kind: "separable", lon: (x) => x, lat: (y) => y };
  }
  if (number === 3857 || number === 900913) {
    return {
      kind: "separable",
      lon: (x) => (x / semi_major) * (180 / Math.PI),
      lat: (y) => Math.atan(Math.sinh(y / semi_major)) * (180 / Math.PI),
    };
  }
  const north = number - 32600;
  const south = number - 32700;
  if (north >= 1 && north <= 60) return { kind: "free", degrees: degreesOfUtm(north, 0) };
  if (south >= 1 && south <= 60) return { kind: "free", degrees: degreesOfUtm(south, 10_000_000) };
  if (number >= 25828 && number <= 25838) return { kind: "free", degrees: degreesOfUtm(number - 25800, 0) };
  if (number >= 26901 && number <= 26923) return { kind: "free", degrees: degreesOfUtm(number - 26900, 0) };
  return null;
}

function degreesOfUtm(zone: number, false_northing: number): (x: number, y: number) => [number, number] {
  const { toDegrees } = utm(zone * 6 - 183, false_northing);
  return (x, y) => toDegrees(x, y) ?? [Number.NaN, Number.NaN];
}
