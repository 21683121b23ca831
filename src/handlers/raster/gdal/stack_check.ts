// Whether several rasters can be the bands of one: everything that differs, said at once. Pure.
import type { RasterInfo } from "../../../geo/raster.js";

/** How far rasters may differ, in pixels: what rounding in different programs can make. */
const tolerance = 1e-3;

export function stackProblems(
  bands: readonly { relative: string; band: number; name: string; info: RasterInfo }[],
): string[] {
  const [first] = bands;
  if (first === undefined) return ["there is nothing to stack"];
  return bands.flatMap(({ relative, band, name, info }) => {
    const own = info.bands[band - 1];
    if (own === undefined) return [`${name}: there is no band ${band}, the file has ${info.bands.length}`];
    const reference = first.info.bands[first.band - 1];
    const differs = (is: boolean, what: string) => (is ? [`${name}: ${what} differs from ${first.name}'s`] : []);
    return [
      ...(relative.startsWith("..") || relative.startsWith("/")
        ? [`${name}: the file is not below the stack's folder`]
        : []),
      ...differs(info.width !== first.info.width || info.height !== first.info.height, "the size"),
      ...differs(!samePlace(info, first.info), "the place"),
      ...differs(
        info.crs?.code !== first.info.crs?.code || (info.crs === null) !== (first.info.crs === null),
        "the CRS",
      ),
      ...differs(own.data_type !== reference?.data_type, `the data type (${own.data_type})`),
      ...differs(own.nodata !== reference?.nodata, `nodata (${own.nodata})`),
    ];
  });
}

function samePlace(one: RasterInfo, other: RasterInfo): boolean {
  const [a, b] = [one.transform, other.transform];
  if (a === null || b === null) return a === b;
  const pixel = Math.max(Math.abs(b[1]), Math.abs(b[2]), Math.abs(b[4]), Math.abs(b[5]));
  const side = Math.max(other.width, other.height);
  // Offsets may be off by part of a pixel, pixel sizes by that much over the whole side.
  return a.every((value, at) => Math.abs(value - b[at]!) <= (tolerance * pixel) / (at === 0 || at === 3 ? 1 : side));
}
