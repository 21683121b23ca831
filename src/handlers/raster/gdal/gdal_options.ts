// CogOptions as arguments of gdalwarp, the same for both engines; and what cannot be asked for, said before any work. Pure.
import { Permanent } from "../../../core/errors/errors.js";
import {
  type Bounds,
  bytesOf,
  type CogOptions,
  type Compression,
  type DataType,
  isWide,
  type RasterInfo,
  type Resampling,
} from "../../../geo/raster.js";
import { safeBlockSize } from "../../../geo/tile_plan.js";
import { checkedCrs } from "./gdal_crs.js";
import { warp_mb } from "./gdal_environment.js";
import { gdalNumber } from "./gdal_vrt.js";

const warp_resampling: Readonly<Record<Resampling, string>> = {
  nearest: "near",
  bilinear: "bilinear",
  cubic: "cubic",
  average: "average",
  mode: "mode",
  lanczos: "lanczos",
};

/** The place of the output and how to get there, without a format. */
export function placeOptions(options: Pick<CogOptions, "source_crs" | "target_crs">): string[] {
  return [
    ...(options.source_crs === undefined ? [] : ["-s_srs", checkedCrs(options.source_crs)]),
    "-t_srs",
    checkedCrs(options.target_crs),
    // Only a transform in the file counts: others (arrays of coordinates) are further files, which the file would name.
    "-to",
    "METHOD=GEOTRANSFORM",
  ];
}

/** A warp, and the COG that is made of its pixels. */
export function warpOptions(options: CogOptions, info: RasterInfo & { has_mask: boolean }) {
  const { bounds, resolution, source_nodata, nodata, add_alpha = false } = options;
  const has_alpha = info.bands.some(({ color_interpretation }) => color_interpretation === "alpha");
  // What is hidden by a mask would come out as black. GDAL makes a mask of it where the COG is of JPEG in colour.
  const is_masked = info.has_mask && nodata === undefined && source_nodata === undefined;
  const needs_alpha = (is_masked || add_alpha) && !has_alpha;
  const format = cogFormat(options, info.bands[0]!.data_type);
  const warp = [
    ...placeOptions(options),
    ...(bounds === undefined ? [] : ["-te", ...bounds.map(gdalNumber)]),
    ...(resolution === undefined ? [] : ["-tr", ...resolution.map(gdalNumber)]),
    "-r",
    warp_resampling[options.resampling],
    ...(source_nodata === undefined ? [] : ["-srcnodata", nodataText(source_nodata)]),
    ...(nodata === undefined ? [] : ["-dstnodata", nodataText(nodata)]),
    ...(needs_alpha ? ["-dstalpha"] : []),
    // Every band by itself; overviews of the source are whatever somebody has put there.
    "-wo",
    "UNIFIED_SRC_NODATA=NO",
    "-ovr",
    "NONE",
    "-wm",
    String(warp_mb),
  ];
  return { warp, format };
}

/** Plain pixels in the tiles that a warp is computed in. */
export const plain_format: readonly string[] = [
  "-of",
  "GTiff",
  ...["TILED=YES", "BLOCKXSIZE=512", "BLOCKYSIZE=512", "SPARSE_OK=TRUE", "BIGTIFF=IF_SAFER"].flatMap((pair) => [
    "-co",
    pair,
  ]),
];

/** Larger ones, which no plan of ours asks for, are left to GDAL: a file of plain pixels has the limits of every file. */
const most_plain_bytes = 32 * 2 ** 30;

/** Whether GDAL's cache may lose pixels of the output before the last overview is made of them: each would then be warped once more. */
export function outgrowsCache(options: CogOptions, { bands }: Pick<RasterInfo, "bands">, cache_mb: number): boolean {
  const [width, height] = outputSize(options) ?? [0, 0];
  const bytes = width * height * bands.reduce((sum, band) => sum + bytesOf(band.data_type), 0);
  return bytes * 1.5 > cache_mb * 2 ** 20 && bytes <= most_plain_bytes;
}

/** 64-bit whole numbers on their own grid are copied: a warp counts in doubles. Null for everything else. */
export function copyOptions(options: CogOptions, info: RasterInfo): string[] | null {
  const { bounds, resolution, source_nodata, nodata } = options;
  const window = info.bands.some(({ data_type }) => isWide(data_type)) ? sourceWindow(options, info) : null;
  if (bounds === undefined || resolution === undefined || window === null) return null;
  const given = nodata ?? source_nodata;
  return [
    "-srcwin",
    ...window.map(String),
    ...(given === undefined ? [] : ["-a_nodata", nodataText(given)]),
    ...cogFormat(options, info.bands[0]!.data_type),
  ];
}

/** What the output covers in pixels of the source, where it has its grid; else null. */
function sourceWindow({ source_crs, target_crs, bounds, resolution }: CogOptions, info: RasterInfo) {
  const { transform, crs, width, height } = info;
  if (bounds === undefined || resolution === undefined || transform === null) return null;
  const [x, dx, rx, y, ry, dy] = transform;
  const is_own = target_crs === (source_crs ?? crs?.code ?? crs?.wkt) && rx === 0 && ry === 0;
  if (!is_own || dx !== resolution[0] || dy !== -resolution[1]) return null;
  const window = [
    (bounds[0] - x) / dx,
    (bounds[3] - y) / dy,
    (bounds[2] - bounds[0]) / dx,
    (bounds[1] - bounds[3]) / dy,
  ];
  const whole = window.map(Math.round) as [number, number, number, number];
  const is_inside = whole[0] >= 0 && whole[1] >= 0 && whole[0] + whole[2] <= width && whole[1] + whole[3] <= height;
  return is_inside && whole.every((one, at) => Math.abs(one - window[at]!) < 1e-3) ? whole : null;
}

function cogFormat(options: CogOptions, data_type: DataType): string[] {
  return [
    "-of",
    "COG",
    ...creationOptions(options, data_type),
    // One block needs no overviews, and GDAL (at least up to 3.8) then copies those of the source.
    ...(isOneBlock(options) ? ["-co", "OVERVIEWS=NONE"] : ["-co", "OVERVIEWS=IGNORE_EXISTING"]),
  ];
}

function creationOptions(options: CogOptions, data_type: DataType): string[] {
  const { compression, quality } = options;
  const has_predictor = ["deflate", "lzw", "zstd"].includes(compression) && data_type !== "complex";
  const has_quality = (compression === "jpeg" || compression === "webp") && quality !== undefined;
  const pairs = [
    `COMPRESS=${compression.toUpperCase()}`,
    // Differences of neighbours: GDAL takes 2 for whole numbers and 3 for floats.
    ...(has_predictor ? ["PREDICTOR=YES"] : []),
    ...(has_quality ? [`QUALITY=${Math.round(quality)}`] : []),
    `BLOCKSIZE=${blockSize(options)}`,
    `OVERVIEW_RESAMPLING=${options.overview_resampling.toUpperCase()}`,
    "BIGTIFF=IF_SAFER",
    "SPARSE_OK=TRUE",
    "NUM_THREADS=1",
  ];
  return pairs.flatMap((pair) => ["-co", pair]);
}

/** Width and height of the output, where they are known. */
function outputSize({ bounds, resolution }: CogOptions): [number, number] | null {
  if (bounds === undefined || resolution === undefined) return null;
  const [x0, y0, x1, y1] = bounds;
  return [Math.round((x1 - x0) / resolution[0]), Math.round((y1 - y0) / resolution[1])];
}

function isOneBlock(options: CogOptions): boolean {
  const size = outputSize(options);
  return size !== null && Math.max(...size) <= blockSize(options);
}

/** As asked for, where others find no fault with it. */
function blockSize(options: CogOptions): number {
  const size = outputSize(options);
  return size === null ? options.block_size : safeBlockSize(...size, options.block_size);
}

function nodataText(value: number | "nan"): string {
  return value === "nan" ? "nan" : gdalNumber(value);
}

/** Everything about the options that cannot work with this source, at once. */
export function optionProblems(options: CogOptions, info: RasterInfo, codecs: ReadonlySet<string>): string[] {
  const { compression, bounds, resolution, bands = [], band_names } = options;
  const chosen = bands.length > 0 ? bands.flatMap((band) => info.bands[band - 1] ?? []) : info.bands;
  const types = new Set(chosen.map(({ data_type }) => data_type));
  const missing = bands.filter((band) => !Number.isInteger(band) || band < 1 || band > info.bands.length);
  const bad_nodata = [...new Set([options.source_nodata, options.nodata])].filter(
    (value) => value !== undefined && [...types].some((type) => !fits(value, type)),
  );
  return [
    ...(missing.length > 0 ? [`there is no band ${missing.join(", ")}: the source has ${info.bands.length}`] : []),
    ...(types.size > 1 ? [`bands of different types (${[...types].join(", ")}) cannot be in one file`] : []),
    ...(info.transform === null ? ["the source is not georeferenced"] : []),
    ...(info.crs === null && options.source_crs === undefined
      ? ["the source has no coordinate system: give source_crs"]
      : []),
    ...(bounds !== undefined && !isBounds(bounds) ? ["bounds must be min x, min y, max x, max y"] : []),
    ...(resolution !== undefined && !resolution.every((one) => Number.isFinite(one) && one > 0)
      ? ["resolution must be two numbers above zero"]
      : []),
    ...bad_nodata.map((value) => `nodata ${value} is no value of ${[...types].join(", ")}`),
    ...(band_names !== undefined && band_names.length !== chosen.length
      ? [`${band_names.length} band names were given for ${chosen.length} bands`]
      : []),
    ...compressionProblems(compression, types, chosen.length, codecs),
  ];
}

function compressionProblems(
  compression: Compression,
  types: ReadonlySet<DataType>,
  bands: number,
  codecs: ReadonlySet<string>,
): string[] {
  if (!codecs.has(compression)) return [`this engine cannot write ${compression}: it needs system GDAL`];
  const only_bytes = types.size === 1 && types.has("uint8");
  if (compression === "jpeg" && !(only_bytes && [1, 3, 4].includes(bands))) {
    return ["jpeg holds 1, 3 or 4 bands of uint8 only: use deflate"];
  }
  if (compression === "webp" && !(only_bytes && [3, 4].includes(bands))) {
    return ["webp holds 3 or 4 bands of uint8 only: use deflate"];
  }
  return compression === "lerc_deflate" && types.has("complex") ? ["lerc_deflate holds no complex numbers"] : [];
}

export function checkOptions(options: CogOptions, info: RasterInfo, codecs: ReadonlySet<string>): void {
  const problems = optionProblems(options, info, codecs);
  if (problems.length === 0) return;
  throw new Permanent(`no COG can be made of this: ${problems.join("; ")}`, { code: "bad_cog_options" });
}

function isBounds([x0, y0, x1, y1]: Bounds): boolean {
  return [x0, y0, x1, y1].every(Number.isFinite) && x0 < x1 && y0 < y1;
}

const ranges: Readonly<Partial<Record<DataType, readonly [number, number]>>> = {
  uint8: [0, 255],
  int8: [-128, 127],
  uint16: [0, 65_535],
  int16: [-32_768, 32_767],
  uint32: [0, 4_294_967_295],
  int32: [-2_147_483_648, 2_147_483_647],
  uint64: [0, Number.MAX_SAFE_INTEGER],
  int64: [-(2 ** 63), Number.MAX_SAFE_INTEGER],
};

export function fits(value: number | "nan", type: DataType): boolean {
  const range = ranges[type];
  if (range === undefined) return true;
  return value !== "nan" && Number.isInteger(value) && value >= range[0] && value <= range[1];
}
