// Whether many rasters make one collection: bands, data type, CRS, pixel size and type are compared with what most of them
// have, and every difference is told. Pure.
import { type FindingCode, finding } from "./findings.js";
import type { Finding } from "./raster.js";

export interface Member {
  name: string;
  band_count: number;
  /** The type of the bands, when all have the same; else all types: "uint8,uint16". */
  data_type: string;
  /** "EPSG:32636", or the name of one without a code. */
  crs: string;
  /** In units of the CRS. */
  pixel_size: [number, number];
  raster_type: string;
  nodata: number | "nan" | null;
}

export interface Homogeneity {
  /** No difference is an error. */
  ok: boolean;
  /** What most of them have; null without members. */
  common: Omit<Member, "name"> | null;
  differences: (Finding & { name: string })[];
}

export interface HomogeneityOptions {
  /** How far the pixel size may differ, as a share of it; default 0.2. */
  tolerance?: number;
  /** All are reprojected to one CRS: then theirs may differ, and pixel sizes are compared within each CRS. */
  allow_crs?: boolean;
}

export function checkHomogeneity(members: readonly Member[], options: HomogeneityOptions = {}): Homogeneity {
  const { tolerance = 0.2, allow_crs = false } = options;
  const [first] = members;
  if (!first) return { ok: true, common: null, differences: [] };
  const common = {
    band_count: mostOf(members.map((member) => member.band_count)),
    data_type: mostOf(members.map((member) => member.data_type)),
    crs: mostOf(members.map((member) => member.crs)),
    raster_type: mostOf(members.map((member) => member.raster_type)),
    nodata: mostOf(members.map((member) => member.nodata)),
    pixel_size: medianSize(members.filter(({ crs }) => crs === mostOf(members.map((member) => member.crs)))),
  };
  const sizes = new Map(
    [...new Set(members.map(({ crs }) => crs))].map((crs) => [
      crs,
      medianSize(members.filter((one) => one.crs === crs)),
    ]),
  );
  const differences = members.flatMap((member) => {
    const found: (Finding & { name: string })[] = [];
    const tell = (code: FindingCode, has: unknown, most: unknown, what: string) =>
      found.push({ ...finding(code, `${member.name} has ${what} ${has}; most have ${most}.`), name: member.name });
    if (member.band_count !== common.band_count) {
      tell("band_count_differs", member.band_count, common.band_count, "band count");
    }
    if (member.data_type !== common.data_type)
      tell("data_type_differs", member.data_type, common.data_type, "data type");
    if (member.crs !== common.crs && !allow_crs) tell("crs_differs", member.crs, common.crs, "CRS");
    // Pixel sizes in different units say nothing about each other.
    const expected = sizes.get(member.crs)!;
    if (expected.some((size, i) => Math.abs(member.pixel_size[i]! / size - 1) > tolerance)) {
      tell("resolution_differs", sizeText(member.pixel_size), sizeText(expected), "pixel size");
    }
    if (member.raster_type !== common.raster_type)
      tell("raster_type_differs", member.raster_type, common.raster_type, "type");
    if (member.nodata !== common.nodata) tell("nodata_value_differs", member.nodata, common.nodata, "nodata");
    return found;
  });
  return { ok: differences.every(({ severity }) => severity !== "error"), common, differences };
}

/** The first of those that occur most often. */
function mostOf<T>(values: readonly T[]): T {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  let [most] = values;
  for (const [value, count] of counts) if (count > counts.get(most!)!) most = value;
  return most!;
}

function medianSize(members: readonly Member[]): [number, number] {
  const middle = (axis: 0 | 1) =>
    members.map(({ pixel_size }) => Math.abs(pixel_size[axis])).sort((a, b) => a - b)[
      Math.floor((members.length - 1) / 2)
    ]!;
  return [middle(0), middle(1)];
}

function sizeText([x, y]: [number, number]): string {
  return `${Number(x.toPrecision(6))} × ${Number(y.toPrecision(6))}`;
}
