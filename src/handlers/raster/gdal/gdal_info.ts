// What gdalinfo prints, as a RasterInfo. Pure.

import { isRecord } from "../../../core/declare/report.js";
import { Permanent } from "../../../core/errors/errors.js";
import type { BandInfo, DataType, GeoTransform, RasterInfo } from "../../../geo/raster.js";
import { crsInfo } from "./gdal_crs.js";

export const info_options: readonly string[] = ["-json", "-norat", "-nogcp"];

const types: Readonly<Record<string, DataType>> = {
  Byte: "uint8",
  Int8: "int8",
  UInt16: "uint16",
  Int16: "int16",
  UInt32: "uint32",
  Int32: "int32",
  UInt64: "uint64",
  Int64: "int64",
  Float32: "float32",
  Float64: "float64",
  CInt16: "complex",
  CInt32: "complex",
  CFloat32: "complex",
  CFloat64: "complex",
};

type Json = Record<string, unknown>;

/** What only the engine needs to know. `color_table` is that of the first band: red, green, blue for each value. */
export interface LookedAt extends RasterInfo {
  has_mask: boolean;
  color_table: readonly (readonly number[])[] | null;
}

export function readInfo(text: string): LookedAt {
  const json = parsed(text);
  const size = numbers(json.size);
  const bands = records(json.bands);
  const [first] = bands;
  if (size.length !== 2 || first === undefined) {
    throw new Permanent("the file has no raster in it", { code: "not_a_raster" });
  }
  const metadata = record(json.metadata);
  const system = record(json.coordinateSystem);
  const structure = texts(metadata.IMAGE_STRUCTURE);
  const wkt = typeof system.wkt === "string" ? system.wkt.trim() : "";
  const block = numbers(first.block);
  return {
    driver: String(json.driverShortName ?? ""),
    width: size[0]!,
    height: size[1]!,
    bands: bands.map(bandInfo),
    transform: json.geoTransform === undefined ? null : transformOf(json.geoTransform),
    crs: wkt === "" ? null : crsInfo(wkt),
    compression: compressionOf(structure.COMPRESSION),
    block_size: [block[0] ?? 0, block[1] ?? 0],
    overview_count: records(first.overviews).length,
    metadata: texts(metadata[""]),
    has_mask: words(record(first.mask).flags).includes("PER_DATASET"),
    color_table: isRecord(first.colorTable) ? lists(record(first.colorTable).entries).map(numbers) : null,
  };
}

function bandInfo(band: Json): BandInfo {
  const metadata = record(band.metadata);
  const is_signed = texts(metadata.IMAGE_STRUCTURE).PIXELTYPE === "SIGNEDBYTE";
  const data_type = is_signed ? "int8" : types[String(band.type)];
  if (data_type === undefined) {
    throw new Permanent(
      `bands of the type ${String(band.type)} are not supported: convert them to whole numbers or floats`,
      {
        code: "unsupported_data_type",
      },
    );
  }
  const color_interpretation = String(band.colorInterpretation ?? "Undefined").toLowerCase();
  return {
    data_type,
    nodata: nodataOf(band.noDataValue, data_type),
    color_interpretation,
    description: typeof band.description === "string" && band.description !== "" ? band.description : null,
    has_color_table: isRecord(band.colorTable),
    scale: typeof band.scale === "number" ? band.scale : null,
    offset: typeof band.offset === "number" ? band.offset : null,
    unit: typeof band.unit === "string" && band.unit !== "" ? band.unit : null,
  };
}

/** Infinities are no values anybody compares with: they are kept apart from "none" by being text in GDAL's answer. */
function nodataOf(value: unknown, type: DataType): BandInfo["nodata"] {
  // GDAL writes as few digits as name a float32; the value of the pixels is the one that is compared with.
  if (typeof value === "number") return type === "float32" ? Math.fround(value) : value;
  if (typeof value !== "string") return null;
  if (/nan/i.test(value)) return "nan";
  const number = /^-inf/i.test(value)
    ? Number.NEGATIVE_INFINITY
    : /^\+?inf/i.test(value)
      ? Number.POSITIVE_INFINITY
      : Number(value);
  return Number.isNaN(number) ? null : number;
}

/** Anything that is not a number makes it unusable, and the planner says so. */
function transformOf(value: unknown): GeoTransform {
  const list = Array.isArray(value) ? value.map((one) => (typeof one === "number" ? one : Number.NaN)) : [];
  return [0, 1, 2, 3, 4, 5].map((at) => list[at] ?? Number.NaN) as GeoTransform;
}

function compressionOf(text: string | undefined): string | null {
  if (text === undefined) return null;
  return /jpeg/i.test(text) ? "jpeg" : text.toLowerCase();
}

/** GDAL writes NaN and inf as they are into JSON, in some versions. */
export function parsed(text: string): Json {
  try {
    return record(JSON.parse(text));
  } catch {
    const mended = text.replace(/"(?:[^"\\]|\\.)*"|-?\b(?:nan|inf(?:inity)?)\b/gi, (found) =>
      found.startsWith('"') ? found : `"${found}"`,
    );
    try {
      return record(JSON.parse(mended));
    } catch {
      throw new Permanent("GDAL's description of the file cannot be read", { code: "gdal_failed" });
    }
  }
}

function record(value: unknown): Json {
  return isRecord(value) ? (value as Json) : {};
}

function records(value: unknown): Json[] {
  return Array.isArray(value) ? value.map(record) : [];
}

function lists(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function numbers(value: unknown): number[] {
  return Array.isArray(value) ? value.map(Number) : [];
}

function texts(value: unknown): Record<string, string> {
  return Object.fromEntries(Object.entries(record(value)).map(([key, one]) => [key, String(one)]));
}

function words(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
