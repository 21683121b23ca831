// The numbers of TIFF and GeoTIFF that reader and writer share. Pure.
import type { DataType } from "../raster.js";

export const tags = {
  subfile_type: 254,
  width: 256,
  height: 257,
  bits_per_sample: 258,
  compression: 259,
  photometric: 262,
  strip_offsets: 273,
  samples_per_pixel: 277,
  rows_per_strip: 278,
  strip_byte_counts: 279,
  planar_configuration: 284,
  predictor: 317,
  color_map: 320,
  tile_width: 322,
  tile_height: 323,
  tile_offsets: 324,
  tile_byte_counts: 325,
  sub_ifds: 330,
  extra_samples: 338,
  sample_format: 339,
  jpeg_tables: 347,
  pixel_scale: 33550,
  tie_points: 33922,
  model_transformation: 34264,
  geo_keys: 34735,
  geo_doubles: 34736,
  geo_text: 34737,
  gdal_metadata: 42112,
  gdal_nodata: 42113,
  lerc_parameters: 50674,
} as const;

/** Field types by name: their number and the bytes of one value. */
export const field_types = {
  byte: { code: 1, size: 1 },
  ascii: { code: 2, size: 1 },
  short: { code: 3, size: 2 },
  long: { code: 4, size: 4 },
  rational: { code: 5, size: 8 },
  signed_byte: { code: 6, size: 1 },
  undefined: { code: 7, size: 1 },
  signed_short: { code: 8, size: 2 },
  signed_long: { code: 9, size: 4 },
  signed_rational: { code: 10, size: 8 },
  float: { code: 11, size: 4 },
  double: { code: 12, size: 8 },
  ifd: { code: 13, size: 4 },
  long8: { code: 16, size: 8 },
  signed_long8: { code: 17, size: 8 },
  ifd8: { code: 18, size: 8 },
} as const;
export type FieldType = keyof typeof field_types;

/** Codecs by their number in the file; the names are those of src/geo/raster.ts where it has one. */
export const compression_names: Readonly<Record<number, string>> = {
  1: "none",
  2: "ccitt_rle",
  3: "ccitt_fax3",
  4: "ccitt_fax4",
  5: "lzw",
  6: "old_jpeg",
  7: "jpeg",
  8: "deflate",
  32773: "packbits",
  32946: "deflate",
  34661: "jbig",
  34676: "sgi_log",
  34677: "sgi_log24",
  34712: "jpeg2000",
  34887: "lerc",
  34925: "lzma",
  50000: "zstd",
  50001: "webp",
  50002: "jxl",
  52546: "jxl",
};

/** How a data type is said in the tags BitsPerSample and SampleFormat. */
export const sample_layouts: Readonly<Record<DataType, { bits: number; format: number }>> = {
  uint8: { bits: 8, format: 1 },
  int8: { bits: 8, format: 2 },
  uint16: { bits: 16, format: 1 },
  int16: { bits: 16, format: 2 },
  uint32: { bits: 32, format: 1 },
  int32: { bits: 32, format: 2 },
  uint64: { bits: 64, format: 1 },
  int64: { bits: 64, format: 2 },
  float32: { bits: 32, format: 3 },
  float64: { bits: 64, format: 3 },
  complex: { bits: 64, format: 6 },
};

/** What GDAL writes between the header and the first directory of a COG. The last blank leaves room for a later YES. */
export function ghostArea(mask_interleaved = false): string {
  const lines = [
    "LAYOUT=IFDS_BEFORE_DATA",
    "BLOCK_ORDER=ROW_MAJOR",
    "BLOCK_LEADER=SIZE_AS_UINT4",
    "BLOCK_TRAILER=LAST_4_BYTES_REPEATED",
    "KNOWN_INCOMPATIBLE_EDITION=NO",
  ];
  const text = `${lines.join("\n")}\n ${mask_interleaved ? "MASK_INTERLEAVED_WITH_IMAGERY=YES\n" : ""}`;
  return `GDAL_STRUCTURAL_METADATA_SIZE=${String(text.length).padStart(6, "0")} bytes\n${text}`;
}
