// What a file is by its first bytes, whatever its name says. Pure.
import { type FindingCode, finding } from "./findings.js";
import type { Finding } from "./raster.js";
import { isTiff } from "./tiff/tiff_header.js";

/** Enough to know every format below; tar says what it is at byte 257. */
export const file_kind_bytes = 512;

const binary: [number, string, FindingCode, string][] = [
  [0, "PK\x03\x04", "archive", "a ZIP archive"],
  [0, "PK\x05\x06", "archive", "an empty ZIP archive"],
  [0, "PK\x07\x08", "archive", "a part of a ZIP archive"],
  [0, "\x1f\x8b", "archive", "gzipped"],
  [0, "7z\xbc\xaf\x27\x1c", "archive", "a 7z archive"],
  [0, "Rar!", "archive", "a RAR archive"],
  [0, "BZh", "archive", "packed with bzip2"],
  [0, "\xfd7zXZ", "archive", "packed with xz"],
  [0, "\x28\xb5\x2f\xfd", "archive", "packed with zstd"],
  [257, "ustar", "archive", "a tar archive"],
  [0, "\x89PNG", "other_raster_format", "a PNG picture"],
  [0, "\xff\xd8\xff", "other_raster_format", "a JPEG picture"],
  [0, "GIF8", "other_raster_format", "a GIF picture"],
  [8, "WEBP", "other_raster_format", "a WebP picture"],
  [0, "BM", "other_raster_format", "a BMP picture"],
  [0, "\0\0\0\x0cjP  ", "other_raster_format", "JPEG 2000"],
  [0, "\xff\x4f\xff\x51", "other_raster_format", "JPEG 2000"],
  [0, "CDF\x01", "other_raster_format", "netCDF"],
  [0, "CDF\x02", "other_raster_format", "netCDF"],
  [0, "CDF\x05", "other_raster_format", "netCDF"],
  [0, "\x89HDF", "other_raster_format", "HDF5 or netCDF 4"],
  [0, "\x0e\x03\x13\x01", "other_raster_format", "HDF4"],
  [0, "GRIB", "other_raster_format", "GRIB"],
  [0, "EHFA_HEADER_TAG", "other_raster_format", "Erdas Imagine"],
  [0, "NITF", "other_raster_format", "NITF"],
  [0, "\x7fELF", "other_file_format", "a program"],
  [0, "MZ", "other_file_format", "a program"],
  [0, "\xca\xfe\xba\xbe", "other_file_format", "a program"],
  [0, "\xcf\xfa\xed\xfe", "other_file_format", "a program"],
  [0, "#!", "other_file_format", "a script"],
  [0, "%PDF", "other_file_format", "a PDF"],
  [0, "SQLite format 3", "other_file_format", "an SQLite database or GeoPackage"],
  [0, "PAR1", "other_file_format", "a Parquet file"],
  [0, "fgb", "other_file_format", "a FlatGeobuf file"],
  [0, "LASF", "other_file_format", "a point cloud (LAS)"],
  [0, "\0\0\x27\x0a", "other_file_format", "a shapefile"],
];

const texts: [RegExp, FindingCode, string][] = [
  [/^<!doctype html|^<html|^<head|^<body/i, "web_page", "a web page"],
  [/<VRTDataset/i, "virtual_dataset", "a GDAL virtual dataset (VRT)"],
  [/<GDALTileIndexDataset/i, "virtual_dataset", "a GDAL tile index (GTI)"],
  [/<OGRVRTDataSource/i, "virtual_dataset", "an OGR virtual dataset (VRT)"],
  [/<GDAL_WMS|<WMS_|<GDAL_WMTS/i, "virtual_dataset", "a description of a map service"],
  [/^<Error>|<Error><Code>/i, "virtual_dataset", "the error message of an object store"],
  [/^</, "virtual_dataset", "XML"],
  [/^[[{]/, "other_file_format", "JSON"],
];

/** null: a TIFF by its first bytes. */
export function fileKind(first_bytes: Uint8Array): Finding | null {
  if (first_bytes.length === 0) return finding("file_empty", "The file is empty.");
  if (isTiff(first_bytes)) return null;
  const head = String.fromCharCode(...first_bytes.subarray(0, file_kind_bytes));
  for (const [at, magic, code, words] of binary) {
    if (head.startsWith(magic, at)) return finding(code, `This is not a GeoTIFF but ${words}.`);
  }
  const text = head.replace(/^\xef\xbb\xbf/, "").trimStart();
  const bare = text.replace(/^<\?xml[^>]{0,200}\?>\s*/i, "");
  for (const [pattern, code, words] of texts) {
    if (pattern.test(bare)) return finding(code, `This is not a GeoTIFF but ${words}.`);
  }
  if (/^<\?xml/i.test(text)) return finding("virtual_dataset", "This is not a GeoTIFF but XML.");
  return finding("not_a_tiff", `This is not a GeoTIFF: its first bytes are ${hex(first_bytes.subarray(0, 8))}.`);
}

function hex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
}
