// Reads the pixels of a TIFF in a zone, block by block, with our own code: only the bytes of the blocks that are asked for. What it cannot
// read is refused with what can be done. A block says nothing about its size that is not checked.
import { constants, inflateSync } from "node:zlib";
import { decompressZstd } from "hyparquet-compressors";
import { Permanent } from "../../core/errors/errors.js";
import { parseZoneRef, type ZoneRef } from "../../core/places/zones.js";
import type { TaskContext } from "../../core/task/context.js";
import type { BlockPixels } from "../../geo/h3/pixel_cells.js";
import { type ToDegrees, toDegrees } from "../../geo/projections.js";
import type { GeoTransform } from "../../geo/raster.js";
import {
  HeaderError,
  isTiff,
  readTiffHeader,
  type TiffHeader,
  type TiffImageHeader,
} from "../../geo/tiff/tiff_header.js";
import {
  type BlockLayout,
  blockBytes,
  decodeBlock,
  decodeMask,
  isSampleType,
  type Samples,
  unpackLzw,
  unpackPackBits,
} from "../../geo/tiff/tiff_pixels.js";

export interface CogSource {
  source: string;
  ref: ZoneRef;
  etag: string;
  header: TiffHeader;
  image: TiffImageHeader;
  mask: TiffImageHeader | null;
  layout: BlockLayout;
  transform: GeoTransform;
  to_degrees: ToDegrees;
  blocks_across: number;
  blocks_down: number;
  /** 0-based; of the alpha band, -1: none. */
  alpha: number;
}

const codecs = new Set(["none", "deflate", "lzw", "packbits", "zstd"]);
const most_block_bytes = 128 * 2 ** 20;
const read_at_once = 4 * 2 ** 20;
const header_limits = { bytes: 96 * 2 ** 20, list_bytes: 32 * 2 ** 20 };

export async function openCog(ctx: TaskContext, source: string, source_crs: string | undefined): Promise<CogSource> {
  const ref = parseZoneRef(source)!;
  const stat = await ctx.zones.stat(ref);
  if (stat === null) throw refused(source, "missing_source", "it is not there", "look at its name");
  const read = (offset: number, length: number) => readAll(ctx, ref, offset, length);
  if (!isTiff(await read(0, 4)))
    throw refused(source, "not_a_tiff", "it is no TIFF", "make a COG of it with process_raster");
  let header: TiffHeader;
  try {
    header = await readTiffHeader(read, stat.bytes, header_limits);
  } catch (error) {
    if (!(error instanceof HeaderError)) throw error;
    throw refused(source, error.finding.code, error.finding.message, error.finding.hint);
  }
  return { ...checked(source, header, source_crs), ref, etag: stat.etag };
}

function refused(source: string, code: string, what: string, fix: string): Permanent {
  return new Permanent(`${source} cannot be used: ${what}: ${fix}`, { code });
}

function checked(source: string, header: TiffHeader, source_crs: string | undefined): Omit<CogSource, "ref" | "etag"> {
  const [image] = header.images;
  const refuse = (code: string, what: string, fix: string): never => {
    throw refused(source, code, what, fix);
  };
  const { transform } = header.georeference;
  const { data_type, width, height, block_width, block_height } = image;
  if (!isSampleType(data_type)) {
    return refuse(
      "unsupported_data_type",
      "its values are of a type that is not read",
      "make it float32 or an integer with process_raster",
    );
  }
  if (![width, height, block_width, block_height, image.band_count].every((n) => Number.isSafeInteger(n) && n > 0)) {
    return refuse("header_broken", "its size is no size", "look whether it is the right file");
  }
  const code = source_crs ?? header.georeference.crs?.code ?? null;
  const to_degrees = toDegrees(code);
  if (to_degrees === null) {
    return refuse(
      "unsupported_crs",
      `its CRS is ${code ?? "not known"}`,
      "reproject it with process_raster target_crs=EPSG:4326, or give source_crs where it has none",
    );
  }
  if (transform === null || !transform.every(Number.isFinite)) {
    return refuse("no_georeference", "it does not say where it lies", "georeference it, then process_raster");
  }
  const apart = image.planar_configuration === 2;
  const layout: BlockLayout = {
    width: block_width,
    height: block_height,
    samples: apart ? 1 : image.band_count,
    data_type,
    predictor: image.predictor,
    little_endian: header.byte_order === "little",
  };
  const mask = header.images.find(({ role }) => role === "mask") ?? null;
  for (const one of [image, ...(mask === null ? [] : [mask])]) {
    if (one.compression === null || !codecs.has(one.compression)) {
      return refuse(
        "unsupported_codec",
        `it is compressed with ${one.compression ?? one.compression_code}`,
        "make a COG with compression=deflate of it with process_raster",
      );
    }
    if (
      one.offsets === null ||
      one.byte_counts === null ||
      one.offsets.last_values !== null ||
      one.byte_counts.last_values !== null
    ) {
      return refuse(
        "unsupported_layout",
        "the list of its blocks is missing or too long",
        "make a COG with larger blocks of it with process_raster",
      );
    }
  }
  if (blockBytes(layout) > most_block_bytes) {
    return refuse("blocks_too_large", "its blocks are larger than 128 MB", "make a COG of it with process_raster");
  }
  const is_float = data_type === "float32" || data_type === "float64";
  if (
    ![1, 2, 3].includes(image.predictor) ||
    (image.predictor === 3 && !is_float) ||
    (image.predictor === 2 && is_float)
  ) {
    return refuse("unsupported_layout", `its predictor is ${image.predictor}`, "make a COG of it with process_raster");
  }
  if (
    mask !== null &&
    (mask.bits_per_sample[0] !== 1 ||
      mask.block_width !== block_width ||
      mask.block_height !== block_height ||
      mask.width !== width ||
      mask.height !== height)
  ) {
    return refuse("unsupported_layout", "its mask is laid out in another way", "make a COG of it with process_raster");
  }
  if (header.nodata !== null && typeof header.nodata === "object") {
    return refuse(
      "bad_nodata",
      `its nodata value is ${JSON.stringify(header.nodata.unreadable)}`,
      "give it a number with process_raster nodata=…",
    );
  }
  // The first of the extra bands that is alpha, associated or not.
  const extra = image.extra_samples.findIndex((kind) => kind === 1 || kind === 2);
  const alpha = extra < 0 ? -1 : image.band_count - image.extra_samples.length + extra;
  const blocks_across = Math.ceil(width / block_width);
  const blocks_down = Math.ceil(height / block_height);
  const count = blocks_across * blocks_down * (apart ? image.band_count : 1);
  if (image.offsets!.values.length < count || image.byte_counts!.values.length < count) {
    return refuse("header_broken", "its list of blocks is too short", "look whether the file is whole");
  }
  return { source, header, image, mask, layout, transform, to_degrees, blocks_across, blocks_down, alpha };
}

/** Reads any length; a zone gives a few MB at a time. */
async function readAll(ctx: TaskContext, ref: ZoneRef, offset: number, length: number): Promise<Uint8Array> {
  if (length <= read_at_once) return ctx.zones.read(ref, offset, length);
  const whole = new Uint8Array(length);
  for (let at = 0; at < length; at += read_at_once) {
    const piece = await ctx.zones.read(ref, offset + at, Math.min(read_at_once, length - at));
    whole.set(piece, at);
    if (piece.length < Math.min(read_at_once, length - at)) return whole.subarray(0, at + piece.length);
  }
  return whole;
}

/** One band of one block; null for one that is not in the file and whose pixels are nodata. */
export async function readBlock(
  ctx: TaskContext,
  cog: CogSource,
  block: number,
  band: number,
): Promise<BlockPixels | null> {
  const { image, layout, alpha, mask, header } = cog;
  const apart = image.planar_configuration === 2;
  const plane = cog.blocks_across * cog.blocks_down;
  const [across, down] = [block % cog.blocks_across, Math.floor(block / cog.blocks_across)];
  const column = across * layout.width;
  const row = down * layout.height;
  // The last strip is as high as what is left; tiles are always whole.
  const height = image.tiled ? layout.height : Math.min(layout.height, image.height - row);
  const own = { ...layout, height };
  const values = await samples(ctx, cog, image, apart ? band * plane + block : block, own);
  if (values === null && header.nodata !== null) return null;
  const count = layout.width * height;
  let valid: Uint8Array | null = null;
  if (alpha >= 0 && alpha !== band) {
    const found = apart ? await samples(ctx, cog, image, alpha * plane + block, own) : values;
    if (found === null) return null;
    valid = new Uint8Array(count);
    for (let i = 0; i < count; i++) valid[i] = found[apart ? i : i * layout.samples + alpha]! !== 0 ? 1 : 0;
  }
  if (mask !== null) {
    const raw = await unpacked(ctx, cog, mask, block, Math.ceil(layout.width / 8) * height);
    // A block that the mask does not have is empty.
    if (raw === null) return null;
    const bits = decodeMask(raw, layout.width, height);
    if (valid === null) valid = bits;
    else for (let i = 0; i < count; i++) valid[i]! &= bits[i]!;
  }
  return {
    column,
    row,
    width: Math.min(layout.width, image.width - column),
    height: Math.min(height, image.height - row),
    stride: layout.width,
    values: values ?? new Uint8Array(count * (apart ? 1 : layout.samples)),
    step: apart ? 1 : layout.samples,
    first: apart ? 0 : band,
    valid,
  };
}

async function samples(
  ctx: TaskContext,
  cog: CogSource,
  image: TiffImageHeader,
  at: number,
  layout: BlockLayout,
): Promise<Samples | null> {
  const raw = await unpacked(ctx, cog, image, at, blockBytes(layout));
  return raw === null ? null : decodeBlock(raw, layout);
}

/** Null for a block that the file leaves out. */
async function unpacked(
  ctx: TaskContext,
  cog: CogSource,
  image: TiffImageHeader,
  at: number,
  length: number,
): Promise<Uint8Array | null> {
  const offset = image.offsets!.values[at] ?? 0;
  const packed = image.byte_counts!.values[at] ?? 0;
  if (offset === 0 || packed === 0) return null;
  const broken = (why: string) =>
    refused(cog.source, "block_broken", `block ${at} ${why}`, "look whether the file is whole");
  if (packed > length * 2 + 65536) throw broken("is larger than what it holds");
  const bytes = await readAll(ctx, cog.ref, offset, packed);
  if (bytes.length < packed) throw broken("ends behind the file");
  let found: Uint8Array;
  try {
    found = decompressed(image.compression!, bytes, length);
  } catch {
    throw broken("cannot be unpacked");
  }
  if (found.length < length) throw broken("holds too little");
  return found;
}

function decompressed(codec: string, bytes: Uint8Array, length: number): Uint8Array {
  switch (codec) {
    case "deflate":
      return inflateSync(bytes, { maxOutputLength: length, finishFlush: constants.Z_SYNC_FLUSH });
    case "lzw":
      return unpackLzw(bytes, length);
    case "packbits":
      return unpackPackBits(bytes, length);
    case "zstd":
      return decompressZstd(bytes, new Uint8Array(length));
    default:
      return bytes;
  }
}
