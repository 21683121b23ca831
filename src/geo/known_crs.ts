// Points between the coordinate systems that most rasters are in: degrees, Web Mercator and UTM, all on WGS 84. The formulas are those
// of PROJ (Krüger's series to the sixth power; Karney 2011), good to a nanometre; starting PROJ takes longer than a thousand points. Pure.
import type { Point } from "./bounds.js";

const radius = 6_378_137;
const flattening = 1 / 298.257223563;
const rad = Math.PI / 180;
const eccentricity = Math.sqrt(flattening * (2 - flattening));
const n = flattening / (2 - flattening);
const rectifying = (radius / (1 + n)) * (1 + n ** 2 / 4 + n ** 4 / 64 + n ** 6 / 256);
const scale = 0.9996 * rectifying;
/** As PROJ: so far from the middle (150 degrees) the series says nothing. */
const widest = 2.623395162778;

const alpha = [
  n / 2 - (2 / 3) * n ** 2 + (5 / 16) * n ** 3 + (41 / 180) * n ** 4 - (127 / 288) * n ** 5 + (7891 / 37800) * n ** 6,
  (13 / 48) * n ** 2 - (3 / 5) * n ** 3 + (557 / 1440) * n ** 4 + (281 / 630) * n ** 5 - (1983433 / 1935360) * n ** 6,
  (61 / 240) * n ** 3 - (103 / 140) * n ** 4 + (15061 / 26880) * n ** 5 + (167603 / 181440) * n ** 6,
  (49561 / 161280) * n ** 4 - (179 / 168) * n ** 5 + (6601661 / 7257600) * n ** 6,
  (34729 / 80640) * n ** 5 - (3418889 / 1995840) * n ** 6,
  (212378941 / 319334400) * n ** 6,
];
const beta = [
  n / 2 - (2 / 3) * n ** 2 + (37 / 96) * n ** 3 - (1 / 360) * n ** 4 - (81 / 512) * n ** 5 + (96199 / 604800) * n ** 6,
  (1 / 48) * n ** 2 + (1 / 15) * n ** 3 - (437 / 1440) * n ** 4 + (46 / 105) * n ** 5 - (1118711 / 3870720) * n ** 6,
  (17 / 480) * n ** 3 - (37 / 840) * n ** 4 - (209 / 4480) * n ** 5 + (5569 / 90720) * n ** 6,
  (4397 / 161280) * n ** 4 - (11 / 504) * n ** 5 - (830251 / 7257600) * n ** 6,
  (4583 / 161280) * n ** 5 - (108847 / 3991680) * n ** 6,
  (20648693 / 638668800) * n ** 6,
];

interface KnownCrs {
  /** Degrees in and out; null: there is no such point. */
  toDegrees(x: number, y: number): Point | null;
  fromDegrees(lon: number, lat: number): Point | null;
}

/** null: one of the two is not known here. A point that cannot be transformed comes back as null. */
export function transformKnown(points: readonly Point[], from_crs: string, to_crs: string): (Point | null)[] | null {
  const [from, to] = [knownCrs(from_crs), knownCrs(to_crs)];
  if (from === null || to === null) return null;
  return points.map(([x, y]) => {
    if (!Number.isFinite(x) || !Number.isFinite(y)) return null;
    if (from_crs === to_crs) return [x, y];
    const degrees = from.toDegrees(x, y);
    const placed = degrees === null ? null : to.fromDegrees(...degrees);
    return placed?.every(Number.isFinite) ? placed : null;
  });
}

function knownCrs(crs: string): KnownCrs | null {
  if (crs === "EPSG:4326") return degrees_crs;
  if (crs === "EPSG:3857") return web_mercator;
  const [, side, zone = ""] = /^EPSG:32([67])(\d\d)$/.exec(crs) ?? [];
  const number = Number(zone);
  if (side === undefined || number < 1 || number > 60) return null;
  return utm(number * 6 - 183, side === "7" ? 10_000_000 : 0);
}

const degrees_crs: KnownCrs = { toDegrees: (x, y) => [x, y], fromDegrees: (lon, lat) => [lon, lat] };

const web_mercator: KnownCrs = {
  toDegrees: (x, y) => [turned(x / radius / rad), Math.atan(Math.sinh(y / radius)) / rad],
  fromDegrees: (lon, lat) =>
    isOnGlobe(lon, lat) ? [turned(lon) * rad * radius, radius * Math.asinh(Math.tan(lat * rad))] : null,
};

/** `middle`: the meridian in the middle of the zone, in degrees. */
export function utm(middle: number, false_northing: number): KnownCrs {
  return {
    toDegrees(x, y) {
      const xi = (y - false_northing) / scale;
      const eta = (x - 500_000) / scale;
      if (!(Math.abs(eta) <= widest)) return null;
      const [north, east] = series(beta, xi, eta, -1);
      const lat = Math.atan(geographicTangent(Math.sin(north) / Math.hypot(Math.sinh(east), Math.cos(north)))) / rad;
      return [turned(middle + Math.atan2(Math.sinh(east), Math.cos(north)) / rad), lat];
    },
    fromDegrees(lon, lat) {
      if (!isOnGlobe(lon, lat)) return null;
      const across = turned(lon - middle) * rad;
      const tangent = conformalTangent(Math.tan(lat * rad));
      const north = Math.atan2(tangent, Math.cos(across));
      const east = Math.asinh(Math.sin(across) / Math.hypot(tangent, Math.cos(across)));
      if (!(Math.abs(east) <= widest)) return null;
      const [xi, eta] = series(alpha, north, east, 1);
      return [500_000 + scale * eta, false_northing + scale * xi];
    },
  };
}

function series(terms: readonly number[], xi: number, eta: number, sign: 1 | -1): Point {
  let [north, east] = [xi, eta];
  terms.forEach((term, at) => {
    const times = 2 * (at + 1);
    north += sign * term * Math.sin(times * xi) * Math.cosh(times * eta);
    east += sign * term * Math.cos(times * xi) * Math.sinh(times * eta);
  });
  return [north, east];
}

function conformalTangent(tangent: number): number {
  const hypotenuse = Math.hypot(1, tangent);
  const sigma = Math.sinh(eccentricity * Math.atanh((eccentricity * tangent) / hypotenuse));
  return Math.hypot(1, sigma) * tangent - sigma * hypotenuse;
}

/** Newton's steps; two are enough on Earth. */
function geographicTangent(conformal: number): number {
  const rest = 1 - eccentricity ** 2;
  let tangent = conformal / rest;
  for (let step = 0; step < 5; step++) {
    const found = conformalTangent(tangent);
    const change =
      ((conformal - found) * (1 + rest * tangent ** 2)) / (rest * Math.hypot(1, tangent) * Math.hypot(1, found));
    tangent += change;
    if (!(Math.abs(change) > 1e-15 * Math.abs(tangent))) break;
  }
  return tangent;
}

/** PROJ refuses what lies beyond the poles, or more than ten radians round. */
function isOnGlobe(lon: number, lat: number): boolean {
  return Math.abs(lat) <= 90 && Math.abs(lon) <= 10 / rad;
}

/** Between -180 and 180. */
function turned(lon: number): number {
  return Math.abs(lon) <= 180 + 1e-10 ? lon : lon - 360 * Math.floor((lon + 180) / 360);
}
