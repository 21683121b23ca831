// Every remark that a check of a raster can make: its code, how bad it is, when it is made and what to do. The table in
// docs/raster_checks.md is made from this one. Codes are part of the interface: others count on them. Pure.
import type { Finding } from "./raster.js";

interface FindingFacts {
  group: "file" | "structure" | "size" | "georeference" | "pixels" | "statistics" | "collection";
  severity: Finding["severity"];
  when: string;
  hint: string;
}

export const finding_table = {
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
    when: "The file is text that points at other files (VRT, GTI, WMS, any XML). Such files are never opened.",
    hint: "Make a GeoTIFF of it with `gdal_translate`, and give that.",
  },
  other_raster_format: {
    group: "file",
    severity: "error",
    when: "The file is a raster or picture in another format (PNG, JPEG, JPEG 2000, netCDF, HDF5, GRIB, …).",
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
    when: "The metadata in the file names other files (an OVERVIEW_FILE, arrays of coordinates), which GDAL would open.",
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
  no_georeference: {
    group: "georeference",
    severity: "error",
    when: "The file does not say where on Earth it lies.",
    hint: "Add it with `gdal_edit.py -a_ullr`, or give a GeoTIFF that has its place.",
  },
  ground_control_points: {
    group: "georeference",
    severity: "error",
    when: "The place is given by ground control points only.",
    hint: "Warp the file first: `gdalwarp -tps <file> <new file>`.",
  },
  transform_not_finite: {
    group: "georeference",
    severity: "error",
    when: "The place or the pixel size is not a number, infinite or zero.",
    hint: "Write the georeference again: `gdal_edit.py -a_ullr`.",
  },
  rotated: {
    group: "georeference",
    severity: "warning",
    when: "The raster is rotated or sheared against its CRS; the output is made north-up.",
    hint: "Nothing: pixels are resampled in any case.",
  },
  south_up: {
    group: "georeference",
    severity: "info",
    when: "Rows run from south to north; the output is made north-up.",
    hint: "Nothing.",
  },
  no_crs: {
    group: "georeference",
    severity: "error",
    when: "The file names no coordinate reference system, and none was given.",
    hint: "Give `source_crs`, for example EPSG:32636, if you know it. It is never guessed.",
  },
  crs_without_code: {
    group: "georeference",
    severity: "info",
    when: "The coordinate reference system is defined in the file itself and has no EPSG code.",
    hint: "Give `source_crs` if it should be read as a known one.",
  },
  crs_overridden: {
    group: "georeference",
    severity: "warning",
    when: "`source_crs` was given and is another than the one in the file; the given one is used.",
    hint: "Leave `source_crs` out if the file is right.",
  },
  bounds_out_of_range: {
    group: "georeference",
    severity: "error",
    when: "The raster lies outside of what its CRS can mean (degrees beyond ±360 or ±90).",
    hint: "The CRS is probably wrong: give the right one as `source_crs`.",
  },
  complex_data: {
    group: "pixels",
    severity: "error",
    when: "Pixels are complex numbers, as in radar data before detection.",
    hint: "Give amplitude or intensity as real numbers.",
  },
  data_type_unsupported: {
    group: "pixels",
    severity: "error",
    when: "Pixels have a width or kind that is not read here (for example 64-bit integers or 12 bits), or bands differ.",
    hint: "Convert it: `gdal_translate -ot Float32`.",
  },
  sub_byte_data: {
    group: "pixels",
    severity: "warning",
    when: "Pixels have fewer than 8 bits; the output has 8.",
    hint: "Nothing.",
  },
  sixty_four_bit: {
    group: "pixels",
    severity: "warning",
    when: "Pixels are 64-bit numbers: twice the size, hardly ever more truth.",
    hint: "Convert it to Float32 if six digits are enough.",
  },
  nodata_unreadable: {
    group: "pixels",
    severity: "warning",
    when: "The nodata value in the file is not a number.",
    hint: "Give `nodata` yourself.",
  },
  nodata_out_of_range: {
    group: "pixels",
    severity: "warning",
    when: "The nodata value does not fit the data type, so no pixel has it.",
    hint: "Give the right `nodata`, or ignore this if the raster is full.",
  },
  raster_empty: {
    group: "statistics",
    severity: "error",
    when: "At least 99 % of the pixels of every band are nodata.",
    hint: "Check the nodata value and the extent of the source.",
  },
  mostly_nodata: {
    group: "statistics",
    severity: "warning",
    when: "More than 90 % of the pixels of a band are nodata.",
    hint: "Cut the source to where it has data, if that is not intended.",
  },
  band_empty: {
    group: "statistics",
    severity: "warning",
    when: "One band has no valid pixel, others have.",
    hint: "Leave the band out with `bands`.",
  },
  nodata_conflict: {
    group: "statistics",
    severity: "warning",
    when: "Values look like nodata of another kind (-9999, -32768, 65535, 1e20, …) but count as data.",
    hint: "Give `nodata` with that value.",
  },
  nodata_differs: {
    group: "statistics",
    severity: "warning",
    when: "Bands have different nodata values.",
    hint: "Give one `nodata` for all.",
  },
  extreme_values: {
    group: "statistics",
    severity: "warning",
    when: "Values are far beyond what can be measured (more than 1e15), which usually is nodata that is not declared.",
    hint: "Give `nodata` with that value.",
  },
  not_finite_values: {
    group: "statistics",
    severity: "warning",
    when: "The statistics of a band are not finite numbers.",
    hint: "Give `nodata: nan`, or mend the source.",
  },
  constant: {
    group: "statistics",
    severity: "warning",
    when: "All valid pixels of a band are equal.",
    hint: "Check that the source is not a mask or an empty product.",
  },
  out_of_range: {
    group: "statistics",
    severity: "warning",
    when: "Values do not fit the kind of raster (a DEM above 9,000 m, an index beyond ±1.5, …).",
    hint: "Check `raster_type`, and scale and offset of the source.",
  },
  unused_bit_depth: {
    group: "statistics",
    severity: "info",
    when: "All values would fit a smaller data type.",
    hint: "Nothing: compression takes most of the difference.",
  },
  raster_type_unlikely: {
    group: "statistics",
    severity: "warning",
    when: "The raster does not look like the `raster_type` that was given, but can be treated as it.",
    hint: "Leave `raster_type` out to have it found, or ignore this.",
  },
  raster_type_impossible: {
    group: "statistics",
    severity: "error",
    when: "The raster cannot be of the `raster_type` that was given.",
    hint: "Leave `raster_type` out, or give one that fits bands and data type.",
  },
  band_count_differs: {
    group: "collection",
    severity: "error",
    when: "A raster has another number of bands than most of its collection.",
    hint: "Put it into a collection of its own, or leave it out.",
  },
  data_type_differs: {
    group: "collection",
    severity: "error",
    when: "A raster has another data type than most of its collection.",
    hint: "Convert it, or put it into a collection of its own.",
  },
  crs_differs: {
    group: "collection",
    severity: "error",
    when: "A raster has another CRS than most of its collection.",
    hint: "Allow it if all are reprojected to one `target_crs`, or leave it out.",
  },
  resolution_differs: {
    group: "collection",
    severity: "error",
    when: "The pixel size of a raster is more than 20 % off that of most of its collection.",
    hint: "Put it into a collection of its own, or leave it out.",
  },
  raster_type_differs: {
    group: "collection",
    severity: "error",
    when: "A raster is of another type than most of its collection.",
    hint: "Give `raster_type` if it was found wrongly, or leave it out.",
  },
  nodata_value_differs: {
    group: "collection",
    severity: "warning",
    when: "A raster has another nodata value than most of its collection.",
    hint: "Give one `nodata` for all outputs.",
  },
} as const satisfies Record<string, FindingFacts>;

export type FindingCode = keyof typeof finding_table;

/** `message` says what is wrong in this very raster; the hint comes from the table unless there is a better one. */
export function finding(code: FindingCode, message: string, hint?: string): Finding {
  const facts: FindingFacts = finding_table[code];
  return { code, severity: facts.severity, message, hint: hint ?? facts.hint };
}

export function hasErrors(findings: readonly Finding[]): boolean {
  return findings.some(({ severity }) => severity === "error");
}
