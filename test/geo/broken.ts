// The files people and attackers send instead of a good GeoTIFF, each as bytes with the finding it must end in. All are a few
// kilobytes: what they claim is large, not what they are. Used by the header check's tests and by those of the engines.
import { deflateSync } from "node:zlib";
import { type NewGeoTiff, writeGeoTiff } from "../../src/cli/demo/geotiff_writer.js";
import { syntheticScene } from "../../src/cli/demo/terrain.js";
import { encodeTiff, type TiffEntry } from "../../src/cli/demo/tiff_file.js";
import type { FindingCode } from "../../src/geo/findings.js";
import { tags } from "../../src/geo/tiff/tiff_layout.js";
import { disguises } from "./disguises.js";

export interface BrokenFile {
  name: string;
  /** As it is uploaded: nearly always with the wrong ending. */
  file_name: string;
  bytes: Uint8Array;
  code: FindingCode;
}

const scene = syntheticScene({ look: "dem", seed: 11, width: 64, height: 64 });

export const good: NewGeoTiff = {
  ...scene,
  tile: 32,
  deflate: deflateSync,
  transform: [500000, 10, 0, 4000000, 0, -10],
  crs: { epsg: 32636, kind: "projected" },
};

const short = (tag: number, ...values: number[]): TiffEntry => ({ tag, type: "short", values });
const long = (tag: number, ...values: number[]): TiffEntry => ({ tag, type: "long", values });
const double = (tag: number, ...values: number[]): TiffEntry => ({ tag, type: "double", values });

/** Says anything: later entries take the place of earlier ones, and `null` takes one out. */
export function claim(
  changes: Record<number, TiffEntry | null>,
  blocks: Uint8Array[] = [],
  big_tiff = false,
): Uint8Array {
  const entries: TiffEntry[] = [
    long(tags.width, 64),
    long(tags.height, 64),
    short(tags.bits_per_sample, 8),
    short(tags.compression, 1),
    short(tags.photometric, 1),
    short(tags.samples_per_pixel, 1),
    short(tags.planar_configuration, 1),
    short(tags.sample_format, 1),
    long(tags.tile_width, 64),
    long(tags.tile_height, 64),
    double(tags.pixel_scale, 10, 10, 0),
    double(tags.tie_points, 0, 0, 0, 500000, 4000000, 0),
    short(tags.geo_keys, 1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 1, 3072, 0, 1, 32636),
  ].filter(({ tag }) => !(tag in changes));
  for (const entry of Object.values(changes)) if (entry) entries.push(entry);
  return encodeTiff({
    big_tiff,
    directories: [{ tiled: true, entries, blocks: blocks.length ? blocks : [new Uint8Array(4096)] }],
  });
}

const metres = (transform: NewGeoTiff["transform"]) => writeGeoTiff({ ...good, transform });

function raw(...parts: (string | number[])[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => (typeof part === "string" ? [...Buffer.from(part, "latin1")] : part)));
}

/** n directories, the last of which leads to the one with this index, or to the end. */
function chain(count: number, back_to: number | null): Uint8Array {
  const each = 2 + 12 + 4;
  const bytes = new Uint8Array(8 + count * each);
  const view = new DataView(bytes.buffer);
  bytes.set(raw("II", [42, 0, 8, 0, 0, 0]));
  for (let i = 0; i < count; i++) {
    const at = 8 + i * each;
    view.setUint16(at, 1, true);
    view.setUint16(at + 2, tags.width, true);
    view.setUint16(at + 4, 3, true);
    view.setUint32(at + 6, 1, true);
    view.setUint16(at + 10, 64, true);
    const next = i + 1 < count ? i + 1 : back_to;
    view.setUint32(at + 14, next === null ? 0 : 8 + next * each, true);
  }
  return bytes;
}

/** The tag becomes one that nobody reads. */
function without(tag: number, bytes: Uint8Array): Uint8Array {
  const at = Buffer.from(bytes).indexOf(Buffer.from([tag & 255, tag >> 8, 4, 0]));
  const changed = bytes.slice();
  changed.set([0xe9, 0xfd], at);
  return changed;
}

/** A zlib stream that unpacks to 16 MB of zeros and is 16 KB long. */
const zeros = deflateSync(new Uint8Array(4096 * 4096), { level: 9 });

const whole = writeGeoTiff(good);

const tiffs: BrokenFile[] = [
  ["a header and nothing else", raw("II", [42, 0]), "header_truncated"],
  ["a first directory behind the end", raw("II", [42, 0, 0, 0, 0, 0x10]), "header_truncated"],
  ["no directory", raw("II", [42, 0, 0, 0, 0, 0]), "header_broken"],
  ["a directory that overlaps the header", raw("II", [42, 0, 2, 0, 0, 0], new Array(64).fill(0)), "header_broken"],
  [
    "a directory of 65,535 tags in 40 bytes",
    raw("II", [42, 0, 8, 0, 0, 0, 255, 255], new Array(30).fill(1)),
    "header_truncated",
  ],
  ["a directory without tags", raw("II", [42, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0]), "header_broken"],
  ["a directory that leads to itself", chain(1, 0), "directory_loop"],
  ["directories that lead in a circle", chain(5, 2), "directory_loop"],
  ["10,000 directories", chain(10_000, null), "too_many_directories"],
  ["a BigTIFF with pointers of 4 bytes", raw("II", [43, 0, 4, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0]), "header_broken"],
  [
    "a BigTIFF with 2^60 tags",
    raw("II", [43, 0, 8, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16]),
    "header_broken",
  ],
  ["a BigTIFF with its directory at 2^62", raw("MM", [0, 43, 0, 8, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0]), "header_truncated"],
  [
    "a million by a million pixels",
    claim({ 256: long(256, 1_000_000), 257: long(257, 1_000_000), 322: long(322, 512), 323: long(323, 512) }),
    "pixel_limit",
  ],
  ["4 billion by 4 billion pixels", claim({ 256: long(256, 0xffff_ffff), 257: long(257, 0xffff_ffff) }), "pixel_limit"],
  ["65,535 bands", claim({ 277: short(277, 65535) }), "band_limit"],
  ["no width", claim({ 256: null }), "zero_size"],
  ["a width of 0", claim({ 256: long(256, 0) }), "zero_size"],
  ["a height of 0", claim({ 257: long(257, 0) }), "zero_size"],
  ["0 bands", claim({ 277: short(277, 0) }), "zero_size"],
  ["tiles of size 0", claim({ 322: long(322, 0) }), "header_broken"],
  [
    "a tile of 100,000 by 100,000 pixels",
    claim({ 259: short(259, 8), 322: long(322, 100_000), 323: long(323, 100_000) }),
    "block_too_large",
  ],
  ["a tile behind the end", claim({ 324: long(324, 5_000_000) }), "data_beyond_end"],
  ["a tile that ends behind the end", claim({ 325: long(325, 5_000_000) }), "data_beyond_end"],
  ["no list of tiles", without(tags.tile_offsets, claim({})), "blocks_missing"],
  ["fewer tiles than the raster has", claim({ 256: long(256, 640) }), "blocks_missing"],
  [
    "16 GB in the same 16 KB of zeros",
    claim(
      {
        256: long(256, 131_072),
        257: long(257, 131_072),
        259: short(259, 8),
        322: long(322, 4096),
        323: long(323, 4096),
        324: long(324, ...new Array(1024).fill(20_000)),
        325: long(325, ...new Array(1024).fill(zeros.length)),
      },
      [zeros],
    ),
    "raster_bomb",
  ],
  ["a compression that nobody knows", claim({ 259: short(259, 12345) }), "codec_unknown"],
  ["ZSTD", claim({ 259: short(259, 50000) }), "codec_missing"],
  ["WebP", claim({ 259: short(259, 50001) }), "codec_missing"],
  ["LERC", claim({ 259: short(259, 34887) }), "codec_missing"],
  ["JPEG", claim({ 259: short(259, 7) }), "codec_missing"],
  ["JPEG XL", claim({ 259: short(259, 50002) }), "codec_missing"],
  [
    "a place that is not a number",
    claim({ 33922: double(33922, 0, 0, 0, Number.NaN, 4000000, 0) }),
    "transform_not_finite",
  ],
  [
    "a place that is infinite",
    claim({ 33922: double(33922, 0, 0, 0, Number.POSITIVE_INFINITY, 0, 0) }),
    "transform_not_finite",
  ],
  ["a pixel size of 0", claim({ 33550: double(33550, 0, 0, 0) }), "transform_not_finite"],
  ["a pixel size that is not a number", claim({ 33550: double(33550, Number.NaN, 10, 0) }), "transform_not_finite"],
  ["a transformation that is infinite", metres([Number.NEGATIVE_INFINITY, 10, 1, 0, 1, -10]), "transform_not_finite"],
  ["a flat transformation", metres([500000, 10, 10, 4000000, 10, 10]), "transform_not_finite"],
  ["a rotated raster", metres([500000, 8, 3, 4000000, 3, -8]), "rotated"],
  ["no georeference", writeGeoTiff({ ...good, transform: undefined, crs: undefined }), "no_georeference"],
  ["no CRS", writeGeoTiff({ ...good, crs: undefined }), "no_crs"],
  [
    "ground control points only",
    claim({
      33550: null,
      33922: double(33922, ...[0, 64, 0, 64].flatMap((x, i) => [x, i * 9, 0, 500000 + x, 4000000 - i, 0])),
    }),
    "ground_control_points",
  ],
  ["degrees like 500000", writeGeoTiff({ ...good, crs: { epsg: 4326, kind: "geographic" } }), "bounds_out_of_range"],
  ["complex numbers", claim({ 258: short(258, 64), 339: short(339, 6) }), "complex_data"],
  ["64-bit integers", claim({ 258: short(258, 64), 339: short(339, 2) }), "sixty_four_bit_whole"],
  ["16-bit floats", claim({ 258: short(258, 16), 339: short(339, 3) }), "sub_byte_data"],
  ["12 bits", claim({ 258: short(258, 12) }), "sub_byte_data"],
  ["12 bits with a sign", claim({ 258: short(258, 12), 339: short(339, 2) }), "data_type_unsupported"],
  ["bands of different types", claim({ 277: short(277, 2), 258: short(258, 8, 16) }), "data_type_unsupported"],
  ["1 bit", claim({ 258: short(258, 1) }), "sub_byte_data"],
  ["64-bit floats", writeGeoTiff({ ...good, data_type: "float64" }), "sixty_four_bit"],
  [
    "a nodata that is not a number",
    claim({ 42113: { tag: 42113, type: "ascii", values: "none" } }),
    "nodata_unreadable",
  ],
  [
    "a nodata that does not fit",
    claim({ 42113: { tag: 42113, type: "ascii", values: "-9999" } }),
    "nodata_out_of_range",
  ],
  ["half a file", whole.slice(0, whole.length / 2), "data_beyond_end"],
  ["a file cut within its tags", whole.slice(0, 200), "header_truncated"],
  ["half a BigTIFF", writeGeoTiff({ ...good, big_tiff: true }).slice(0, 3000), "data_beyond_end"],
].map(([name, bytes, code]) => ({ name, bytes, code, file_name: "scene.tif" }) as BrokenFile);

export const broken: BrokenFile[] = [...tiffs, ...disguises];
