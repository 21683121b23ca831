// Reference systems by the addresses that OGC gives them. CRS84 is longitude and latitude; the addresses of EPSG mean EPSG's own order of
// axes, which for degrees is latitude first. Pure.
import type { Layer } from "./layer.js";

export interface Crs {
  uri: string;
  srid: number;
  /** North comes first in positions and boxes. */
  flips: boolean;
  /** Longitude and latitude, in this order or the other. */
  degrees: boolean;
}

const epsg = (srid: number) => `http://www.opengis.net/def/crs/EPSG/0/${srid}`;

export const crs84: Crs = {
  uri: "http://www.opengis.net/def/crs/OGC/1.3/CRS84",
  srid: 4326,
  flips: false,
  degrees: true,
};
const wgs84: Crs = { uri: epsg(4326), srid: 4326, flips: true, degrees: true };
const mercator: Crs = { uri: epsg(3857), srid: 3857, flips: false, degrees: false };

/** What a layer is stored in; CRS84 for degrees, because PostGIS has longitude first. Null where it is none of EPSG's. */
export function storageCrs({ srid, flips }: Layer): Crs | null {
  if (srid === null || flips === null) return null;
  if (srid === crs84.srid) return crs84;
  return srid === mercator.srid ? mercator : { uri: epsg(srid), srid, flips, degrees: false };
}

/** The default comes first. */
export function servedCrs(layer: Layer): Crs[] {
  const stored = storageCrs(layer);
  const usual = [crs84, wgs84, mercator];
  return stored === null || usual.some(({ uri }) => uri === stored.uri) ? usual : [...usual, stored];
}

/** As it is, with https, or with a version of EPSG's other than 0. */
export function crsNamed(text: string, among: readonly Crs[]): Crs | null {
  const uri = text
    .trim()
    .replace(/^https:/, "http:")
    .replace(/\/EPSG\/[\d.]+\//, "/EPSG/0/");
  return among.find((one) => one.uri === uri) ?? null;
}

/** Decimals that are worth writing: about a tenth of a millimetre. */
export function digitsOf({ degrees }: Crs): number {
  return degrees ? 9 : 4;
}
