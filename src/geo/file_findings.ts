// Remarks about the file of a raster: what it is, whether its structure holds, how large it would become. Pure data.
import type { FindingFacts } from "./findings.js";

export const file_findings = {
  file_empty: {
    group: "file",
    severity: "error",
    when: "The file has no bytes.",
    hint: "Upload the file again; the last upload was probably cut off.",
  },
  not_a_tiff: {
    group: "file",
    severity: "error",
    when: "The first bytes are of no format that is known here.",
    hint: "Give a GeoTIFF.",
  },
  web_page: {
    group: "file",
    severity: "error",
    when: "The file is an HTML page, usually an error or a login page that was saved under the name of the raster.",
    hint: "Open the file in a text editor to see what the server said, then download the raster again.",
  },
  archive: {
    group: "file",
    severity: "error",
    when: "The file is an archive (ZIP, gzip, tar, 7z, …).",
    hint: "Unpack it first and give the raster that is inside.",
  },
  virtual_dataset: {
    group: "file",
    severity: "error",
    when: "The file is text that points at other files (GTI, WMS, any XML), or a VRT where only rasters themselves are taken.",
    hint: "Make a GeoTIFF of it with `gdal_translate`, and give that.",
  },
  other_raster_format: {
    group: "file",
    severity: "error",
    when: "The file is a picture (PNG, JPEG, …) or a raster in a format that is not read here.",
    hint: "Convert it to GeoTIFF with `gdal_translate`, and give that.",
  },
  other_file_format: {
    group: "file",
    severity: "error",
    when: "The file is something else that is known (a program, a PDF, a database, a vector file, …).",
    hint: "Give a GeoTIFF.",
  },
  names_other_files: {
    group: "file",
    severity: "error",
    when: "The file names other files (in its metadata, by links of HDF5, as the parts of a VRT), which GDAL would open.",
    hint: "Write it anew without them: `gdal_translate -co PROFILE=GeoTIFF`.",
  },
  header_truncated: {
    group: "structure",
    severity: "error",
    when: "The file ends before its directory of tags does.",
    hint: "Upload the file again; the last upload was probably cut off.",
  },
  header_broken: {
    group: "structure",
    severity: "error",
    when: "The directory of tags contradicts itself: sizes, types or counts that no writer makes.",
    hint: "Write the file again with `gdal_translate`, or ask where it comes from for a good copy.",
  },
  directory_loop: {
    group: "structure",
    severity: "error",
    when: "The chain of directories comes back to itself.",
    hint: "The file is damaged or made to do harm. Ask where it comes from for a good copy.",
  },
  too_many_directories: {
    group: "structure",
    severity: "error",
    when: "The file has more images than a raster with overviews and masks needs.",
    hint: "Give the pages of the file one by one: `gdal_translate GTIFF_DIR:<n>:<file>`.",
  },
  header_too_large: {
    group: "structure",
    severity: "error",
    when: "The directories are larger than what is read of a header.",
    hint: "Write the file again with larger blocks: `gdal_translate -of COG`.",
  },
  data_beyond_end: {
    group: "structure",
    severity: "error",
    when: "Blocks of pixels lie, by their offsets, behind the end of the file.",
    hint: "Upload the file again; the last upload was probably cut off.",
  },
  blocks_missing: {
    group: "structure",
    severity: "error",
    when: "The list of blocks is shorter than the size of the raster needs, or is not there.",
    hint: "Write the file again with `gdal_translate`.",
  },
  sparse: {
    group: "structure",
    severity: "info",
    when: "Some blocks are left out of the file; they are read as nodata.",
    hint: "Nothing, when that is intended.",
  },
  several_images: {
    group: "structure",
    severity: "warning",
    when: "The file holds more than one full image; only the first is used.",
    hint: "Give the other pages as files of their own.",
  },
  zero_size: {
    group: "size",
    severity: "error",
    when: "Width, height or the number of bands is 0 or missing.",
    hint: "Write the file again; it has no pixels.",
  },
  pixel_limit: {
    group: "size",
    severity: "error",
    when: "The raster has more pixels than is allowed here.",
    hint: "Cut it into parts, or ask the operator for a higher limit.",
  },
  band_limit: {
    group: "size",
    severity: "error",
    when: "The raster has more bands than is allowed here.",
    hint: "Give the bands that are needed as a file of their own.",
  },
  raster_bomb: {
    group: "size",
    severity: "error",
    when: "The raster would unpack to very many times the size of the file.",
    hint: "If the raster is real and nearly empty, cut it to where it has data.",
  },
  block_too_large: {
    group: "size",
    severity: "error",
    when: "One strip or tile would need more memory than is allowed.",
    hint: "Write the file with tiles: `gdal_translate -co TILED=YES`.",
  },
  codec_unknown: {
    group: "size",
    severity: "error",
    when: "The compression has a number that no TIFF reader knows.",
    hint: "Write the file again with DEFLATE: `gdal_translate -co COMPRESS=DEFLATE`.",
  },
  codec_missing: {
    group: "size",
    severity: "error",
    when: "The compression needs system GDAL, and the worker has only the built-in one.",
    hint: "Install GDAL on the worker (`gdalwarp` on its PATH), or write the file with DEFLATE or LZW.",
  },
} as const satisfies Record<string, FindingFacts>;
