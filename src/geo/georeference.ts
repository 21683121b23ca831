// Where a TIFF lies: GDAL's geotransform from pixel scale, tie points or a matrix, and the CRS from the GeoKeys. Pure.
import type { Bounds, GeoTransform } from "./raster.js";
import { tags } from "./tiff/tiff_layout.js";
import type { RawDirectory, TiffReader } from "./tiff/tiff_reader.js";

export interface Georeference {
  /** From the corner of the first pixel, also where the file gives its centre. May hold what is not finite. */
  transform: GeoTransform | null;
  /** Tie points without a scale: ground control points. */
  has_control_points: boolean;
  crs: TiffCrs | null;
}

export interface TiffCrs {
  /** "EPSG:32636"; null when it is defined in the file itself. */
  code: string | null;
  kind: "projected" | "geographic" | "geocentric" | "unknown";
  name: string | null;
}

export async function readGeoreference(reader: TiffReader, directory: RawDirectory): Promise<Georeference> {
  const many = async (tag: number, most: number) => (await reader.numbers(directory, tag, most)) ?? [];
  const scale = await many(tags.pixel_scale, 64);
  const ties = await many(tags.tie_points, 60_000);
  const matrix = await many(tags.model_transformation, 64);
  const keys = geoKeys(await many(tags.geo_keys, 4096));
  const is_point = keys.get(1025)?.value === 2;
  return {
    transform: transformOf(scale, ties, matrix, is_point),
    has_control_points: matrix.length < 16 && scale.length < 2 && ties.length >= 12,
    crs: crsOf(keys, (await reader.text(directory, tags.geo_text, 64 * 1024)) ?? ""),
  };
}

function transformOf(scale: number[], ties: number[], matrix: number[], is_point: boolean): GeoTransform | null {
  let transform: GeoTransform | null = null;
  if (matrix.length >= 16) {
    transform = [matrix[3]!, matrix[0]!, matrix[1]!, matrix[7]!, matrix[4]!, matrix[5]!];
  } else if (scale.length >= 2 && ties.length >= 6) {
    const [column, row, , x, y] = ties as [number, number, number, number, number];
    const [dx, dy] = scale as [number, number];
    transform = [x - column * dx, dx, 0, y + row * dy, 0, -dy];
  }
  if (transform && is_point) {
    const [x0, dx, rx, y0, ry, dy] = transform;
    return [x0 - (dx + rx) / 2, dx, rx, y0 - (ry + dy) / 2, ry, dy];
  }
  return transform;
}

interface GeoKey {
  /** The tag its value is in; 0: here. */
  place: number;
  count: number;
  value: number;
}

function geoKeys(values: number[]): Map<number, GeoKey> {
  const keys = new Map<number, GeoKey>();
  const count = Math.min(values[3] ?? 0, Math.floor(values.length / 4) - 1);
  for (let i = 1; i <= count; i++) {
    const [key, place, length, value] = values.slice(i * 4, i * 4 + 4) as [number, number, number, number];
    keys.set(key, { place, count: length, value });
  }
  return keys;
}

function crsOf(keys: Map<number, GeoKey>, text: string): TiffCrs | null {
  const model = keys.get(1024)?.value;
  const projected = keys.get(3072);
  const geographic = keys.get(2048);
  const key = model === 1 || (model !== 2 && projected) ? projected : geographic;
  // A local system (engineering) or nothing at all.
  if (!key && !geographic && !projected) return null;
  const used = key ?? projected ?? geographic!;
  const kinds = { 1: "projected", 2: "geographic", 3: "geocentric" } as const;
  // A model of the writer's own is told in a text that GDAL reads (Esri's, the geostationary ones): the datum's code is not its code.
  const is_told_otherwise = model !== undefined && !(model in kinds);
  const usual = projected ? "projected" : "geographic";
  const kind = is_told_otherwise ? "unknown" : (kinds[model as 1 | 2 | 3] ?? usual);
  // From 32767 on, numbers are the writer's own.
  const is_code = !is_told_otherwise && used.place === 0 && used.value > 0 && used.value < 32767;
  return { code: is_code ? `EPSG:${used.value}` : null, kind, name: citation(keys, text) };
}

function citation(keys: Map<number, GeoKey>, text: string): string | null {
  for (const id of [3073, 1026, 2049]) {
    const key = keys.get(id);
    if (key?.place !== tags.geo_text) continue;
    const name = text
      .slice(key.value, key.value + key.count)
      .replace(/\|$/, "")
      .trim();
    if (name !== "") return name.slice(0, 200);
  }
  return null;
}

/** Around all four corners, so also of a rotated raster. */
export function boundsOf(transform: GeoTransform, width: number, height: number): Bounds {
  const [x0, dx, rx, y0, ry, dy] = transform;
  const corners = [
    [0, 0],
    [width, 0],
    [0, height],
    [width, height],
  ].map(([column, row]) => [x0 + column! * dx + row! * rx, y0 + column! * ry + row! * dy] as const);
  const xs = corners.map(([x]) => x);
  const ys = corners.map(([, y]) => y);
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}
