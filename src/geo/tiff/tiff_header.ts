// What the header of a TIFF says: images, layout, data type, place, CRS, nodata, names of bands, and what GDAL notes about the
// order of the data. Safe on hostile files (see tiff_reader.ts); what is merely wrong is left for preflight.ts to tell. Pure.
import { type BandMetadata, bandMetadata } from "../gdal_metadata.js";
import { type Georeference, readGeoreference } from "../georeference.js";
import type { DataType } from "../raster.js";
import { compression_names, sample_layouts, tags } from "./tiff_layout.js";
import {
  default_header_limits,
  type HeaderLimits,
  type NumberList,
  type RangeReader,
  type RawDirectory,
  TiffReader,
} from "./tiff_reader.js";

export { default_header_limits, HeaderError, type HeaderLimits, type RangeReader } from "./tiff_reader.js";

export interface TiffImageHeader {
  /** Where its directory is. */
  directory_offset: number;
  width: number;
  height: number;
  band_count: number;
  bits_per_sample: number[];
  sample_formats: number[];
  /** null: one that is not read here, or bands differ. */
  data_type: DataType | null;
  compression_code: number;
  /** As in src/geo/raster.ts; null for a number nobody knows. */
  compression: string | null;
  predictor: number;
  photometric: number | null;
  /** 2: each band in blocks of its own. */
  planar_configuration: number;
  extra_samples: number[];
  has_color_table: boolean;
  tiled: boolean;
  /** The size of a tile, or of a strip. */
  block_width: number;
  block_height: number;
  offsets: NumberList | null;
  byte_counts: NumberList | null;
  /** What its blocks are decoded with: where it is in the file, and how long. */
  jpeg_tables: FilePlace | null;
  color_map: FilePlace | null;
  lerc_parameters: FilePlace | null;
  role: "image" | "overview" | "mask" | "overview_mask" | "other";
}

export interface FilePlace {
  offset: number;
  bytes: number;
}

export interface GhostArea {
  /** Line by line: LAYOUT, BLOCK_ORDER, … */
  options: Record<string, string>;
}

export interface TiffHeader {
  byte_order: "little" | "big";
  big_tiff: boolean;
  file_size: number;
  ghost: GhostArea | null;
  /** The byte behind GDAL's note; null without it. */
  ghost_end: number | null;
  /** In the order of the chain; the first is the raster. */
  images: [TiffImageHeader, ...TiffImageHeader[]];
  georeference: Georeference;
  /** null: none; the text when it is not a number. */
  nodata: number | "nan" | null | { unreadable: string };
  bands: BandMetadata[];
  metadata: Record<string, string>;
  bytes_read: number;
  reads: number;
}

/** A TIFF by its first four bytes. */
export function isTiff(bytes: Uint8Array): boolean {
  const [a, b, c, d] = bytes;
  if (a === 0x49 && b === 0x49) return (c === 42 || c === 43) && d === 0;
  return a === 0x4d && b === 0x4d && c === 0 && (d === 42 || d === 43);
}

/** Throws HeaderError with a finding; `bytes` must have been seen to be a TIFF's (isTiff). */
export async function readTiffHeader(
  read: RangeReader,
  file_size: number,
  limits?: Partial<HeaderLimits>,
): Promise<TiffHeader> {
  const reader = new TiffReader(read, file_size, { ...default_header_limits, ...limits });
  const first = await reader.start();
  const directories = await reader.directories(first);
  const images: TiffImageHeader[] = [];
  for (const directory of directories) images.push(await readImage(reader, directory));
  const main = directories[0]!;
  const ghost = await readGhost(reader, first);
  const xml = await reader.text(main, tags.gdal_metadata, 1024 * 1024);
  const { bands, metadata } = bandMetadata(xml, Math.min(images[0]!.band_count, 65535));
  return {
    byte_order: reader.little ? "little" : "big",
    big_tiff: reader.big_tiff,
    file_size,
    ghost: ghost?.area ?? null,
    ghost_end: ghost?.end ?? null,
    images: images as [TiffImageHeader, ...TiffImageHeader[]],
    georeference: await readGeoreference(reader, main),
    nodata: parseNodata(await reader.text(main, tags.gdal_nodata, 1024)),
    bands,
    metadata,
    bytes_read: reader.bytes_read,
    reads: reader.reads,
  };
}

async function readImage(reader: TiffReader, directory: RawDirectory): Promise<TiffImageHeader> {
  const one = (tag: number) => reader.number(directory, tag);
  const many = async (tag: number) => (await reader.numbers(directory, tag, 65536)) ?? [];
  const width = (await one(tags.width)) ?? 0;
  const height = (await one(tags.height)) ?? 0;
  const band_count = (await one(tags.samples_per_pixel)) ?? 1;
  const bits_per_sample = await many(tags.bits_per_sample);
  const sample_formats = await many(tags.sample_format);
  const tiled = directory.entries.has(tags.tile_width) || directory.entries.has(tags.tile_offsets);
  const compression_code = (await one(tags.compression)) ?? 1;
  return {
    directory_offset: directory.offset,
    width,
    height,
    band_count,
    bits_per_sample,
    sample_formats,
    data_type: dataType(bits_per_sample, sample_formats),
    compression_code,
    compression: compression_names[compression_code] ?? null,
    predictor: (await one(tags.predictor)) ?? 1,
    photometric: await one(tags.photometric),
    planar_configuration: (await one(tags.planar_configuration)) ?? 1,
    extra_samples: await many(tags.extra_samples),
    has_color_table: directory.entries.has(tags.color_map),
    tiled,
    block_width: tiled ? ((await one(tags.tile_width)) ?? 0) : width,
    block_height: tiled
      ? ((await one(tags.tile_height)) ?? 0)
      : Math.min((await one(tags.rows_per_strip)) ?? height, height),
    offsets: await reader.list(directory, tiled ? tags.tile_offsets : tags.strip_offsets),
    byte_counts: await reader.list(directory, tiled ? tags.tile_byte_counts : tags.strip_byte_counts),
    jpeg_tables: placeOf(directory, tags.jpeg_tables),
    color_map: placeOf(directory, tags.color_map),
    lerc_parameters: placeOf(directory, tags.lerc_parameters),
    role: roleOf((await one(tags.subfile_type)) ?? 0),
  };
}

function placeOf(directory: RawDirectory, tag: number): FilePlace | null {
  const entry = directory.entries.get(tag);
  return entry === undefined || entry.size === 0 ? null : { offset: entry.offset, bytes: entry.count * entry.size };
}

/** Bit 0: smaller version of another image. Bit 2: mask. The others are of faxes. */
function roleOf(subfile_type: number): TiffImageHeader["role"] {
  const is_overview = (subfile_type & 1) !== 0;
  if ((subfile_type & 4) !== 0) return is_overview ? "overview_mask" : "mask";
  if (is_overview) return "overview";
  return subfile_type === 0 || subfile_type === 2 ? "image" : "other";
}

function dataType(bits: number[], formats: number[]): DataType | null {
  // Default of TIFF 6.0: one bit; we name no such type.
  const [first_bits, first_format = 1] = [bits[0] ?? 1, formats[0]];
  if (bits.some((b) => b !== first_bits) || formats.some((f) => f !== first_format)) return null;
  if (first_format === 5 || first_format === 6) return "complex";
  // Void (4) is read as unsigned, as GDAL does.
  const format = first_format === 4 ? 1 : first_format;
  const found = Object.entries(sample_layouts).find(
    ([, layout]) => layout.bits === first_bits && layout.format === format,
  );
  return (found?.[0] as DataType | undefined) ?? null;
}

/** GDAL's note between header and first directory; anything else there is ignored. */
async function readGhost(
  reader: TiffReader,
  first_directory: number,
): Promise<{ area: GhostArea; end: number } | null> {
  const from = reader.header_size;
  const intro = "GDAL_STRUCTURAL_METADATA_SIZE=";
  const intro_length = intro.length + 13;
  if (first_directory - from < intro_length || from + intro_length > reader.file_size) return null;
  const head = ascii(await reader.view(from, intro_length));
  const size = /^GDAL_STRUCTURAL_METADATA_SIZE=(\d{6}) bytes\n$/.exec(head)?.[1];
  if (size === undefined || Number(size) > 4096 || from + intro_length + Number(size) > reader.file_size) return null;
  const text = ascii(await reader.view(from + intro_length, Number(size)));
  const pairs = text
    .split("\n")
    .map((line) => line.trim().split("=", 2))
    .filter((pair): pair is [string, string] => pair.length === 2);
  return { area: { options: Object.fromEntries(pairs) }, end: from + intro_length + Number(size) };
}

function ascii(view: DataView): string {
  return String.fromCharCode(...new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
}

function parseNodata(text: string | null): TiffHeader["nodata"] {
  if (text === null) return null;
  const word = text.trim();
  if (/^-?nan$/i.test(word)) return "nan";
  const infinite = /^([+-]?)inf(inity)?$/i.exec(word);
  if (infinite) return infinite[1] === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  const value = Number(word.replace(",", "."));
  return word === "" || Number.isNaN(value) ? { unreadable: word.slice(0, 40) } : value;
}
