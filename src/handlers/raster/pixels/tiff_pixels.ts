// The pixels of a local TIFF, read by ourselves: the raster and its overviews, block by block, and which of them are valid. What we do
// not read (other codecs, masks, alpha in odd places) is told at the start by null, and GDAL reads it.
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import {
  type RangeReader,
  readTiffHeader,
  type TiffHeader,
  type TiffImageHeader,
} from "../../../geo/tiff/tiff_header.js";
import { bytesOfSample, filledBlock, type Samples } from "../../../geo/tiff/tiff_pixels.js";
import { fits } from "../gdal/gdal_options.js";
import { type BlockShape, shapeOf, unpackedBlock } from "./decode.js";

export interface Block {
  /** The column of its first pixel, in the image. */
  column: number;
  row: number;
  /** Pixels within the image; rows of the block are `stride` pixels apart. */
  width: number;
  height: number;
  stride: number;
  samples: Samples;
  /** Where the bands stand: from `band` on, `step` a pixel. */
  band: number;
  step: number;
}

export interface Level {
  image: TiffImageHeader;
  shape: BlockShape;
}

/** The most bytes of one block, unpacked: larger ones (strips of a whole raster) are GDAL's. */
const most_block_bytes = 64 * 2 ** 20;
/** Of one raster with its overviews: whole blocks, unpacked. */
const most_kept_bytes = 24 * 2 ** 20;
const header_limits = { bytes: 32 * 2 ** 20, list_bytes: 16 * 2 ** 20 };

/** The one that was opened last: a small COG is gone through for its numbers, for its outline and for its picture. */
let last: { identity: string; pixels: TiffPixels } | null = null;

function blockBytes({ image, shape }: Level): number {
  const planes = image.planar_configuration === 2 ? image.band_count : 1;
  const blocks = planes * Math.ceil(image.width / shape.width) * Math.ceil(image.height / shape.height);
  return blocks * shape.width * shape.height * shape.samples * bytesOfSample(shape.data_type);
}

export class TiffPixels {
  /** Blocks of a raster that is small enough. */
  private readonly kept: ReadonlyMap<TiffImageHeader, Map<number, Samples>>;

  private constructor(
    private readonly handle: FileHandle,
    readonly header: TiffHeader,
    /** The raster, then its overviews, the largest first. */
    readonly levels: readonly [Level, ...Level[]],
    readonly nodata: number | "nan" | null,
    /** 0-based; null: no band is alpha. */
    readonly alpha: number | null,
    before: TiffPixels | null,
  ) {
    const bytes = levels.reduce((sum, level) => sum + blockBytes(level), 0);
    this.kept = before?.kept ?? new Map(bytes <= most_kept_bytes ? levels.map(({ image }) => [image, new Map()]) : []);
  }

  /** null: GDAL has to read this one. */
  static async open(file: string): Promise<TiffPixels | null> {
    const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
    let found: TiffPixels | null = null;
    try {
      const { size, dev, ino, mtimeNs } = await handle.stat({ bigint: true });
      const identity = [dev, ino, size, mtimeNs].join();
      const before = last?.identity === identity ? last.pixels : null;
      const read: RangeReader = (offset, length) => piece(handle, offset, length);
      const header = before?.header ?? (await readTiffHeader(read, Number(size), header_limits));
      found = TiffPixels.of(handle, header, before);
      last = found === null ? null : { identity, pixels: found };
      return found;
    } catch {
      return null;
    } finally {
      if (found === null) await handle.close();
    }
  }

  private static of(handle: FileHandle, header: TiffHeader, before: TiffPixels | null): TiffPixels | null {
    const [main] = header.images;
    const has_masks = header.images.some(({ role }) => role === "mask" || role === "overview_mask");
    const { nodata } = header;
    if (header.byte_order === "big" || has_masks || isUnreadable(nodata)) return null;
    const images = [main, ...header.images.filter(({ role }) => role === "overview")];
    const levels = images.map(levelOf);
    if (levels.some((level) => level === null)) return null;
    if (nodata !== null && !fits(nodata, main.data_type!)) return null;
    const alpha = alphaOf(header);
    if (alpha === "odd" || (alpha !== null && nodata !== null)) return null;
    const value = typeof nodata === "number" && main.data_type === "float32" ? Math.fround(nodata) : nodata;
    return new TiffPixels(handle, header, levels as [Level, ...Level[]], value, alpha, before);
  }

  get band_count(): number {
    return this.header.images[0].band_count;
  }

  /** Every block of a level that holds one of the rows, of a band where bands lie apart, else of all. */
  async *blocks({ image, shape }: Level, rows?: ReadonlySet<number>): AsyncGenerator<Block> {
    const across = Math.ceil(image.width / shape.width);
    const down = Math.ceil(image.height / shape.height);
    const planes = image.planar_configuration === 2 ? image.band_count : 1;
    for (let plane = 0; plane < planes; plane++) {
      for (let y = 0; y < down; y++) {
        if (rows !== undefined && !rows.has(y)) continue;
        for (let x = 0; x < across; x++) {
          const samples = await this.block(image, shape, (plane * down + y) * across + x, y);
          const [column, row] = [x * shape.width, y * shape.height];
          yield {
            column,
            row,
            width: Math.min(shape.width, image.width - column),
            height: Math.min(shape.height, image.height - row),
            stride: shape.width,
            samples,
            band: plane,
            step: shape.samples,
          };
        }
      }
    }
  }

  private async block(image: TiffImageHeader, shape: BlockShape, index: number, y: number): Promise<Samples> {
    const known = this.kept.get(image)?.get(index);
    if (known !== undefined) return known;
    const samples = await this.unpacked(image, shape, index, y);
    this.kept.get(image)?.set(index, samples);
    return samples;
  }

  private async unpacked(image: TiffImageHeader, shape: BlockShape, index: number, y: number): Promise<Samples> {
    const offset = image.offsets!.values[index]!;
    const length = image.byte_counts!.values[index]!;
    // Left out by a sparse file: no data, and zero where there is none such.
    if (offset === 0 || length === 0)
      return filledBlock(shape, this.nodata === "nan" ? Number.NaN : (this.nodata ?? 0));
    const packed = await piece(this.handle, offset, length);
    if (packed.length < length) throw new RangeError("a block lies behind the end of the file");
    // Tiles are whole, strips end with the image.
    const rows = image.tiled ? shape.height : Math.min(shape.height, image.height - y * shape.height);
    return unpackedBlock(packed, shape, rows);
  }

  close(): Promise<void> {
    return this.handle.close();
  }
}

function isUnreadable(nodata: TiffHeader["nodata"]): nodata is { unreadable: string } {
  return typeof nodata === "object" && nodata !== null;
}

async function piece(handle: FileHandle, offset: number, length: number): Promise<Uint8Array> {
  const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(length), 0, length, offset);
  return buffer.subarray(0, bytesRead);
}

function levelOf(image: TiffImageHeader): Level | null {
  const shape = shapeOf(image);
  const { offsets, byte_counts } = image;
  if (shape === null || shape.width === 0 || shape.height === 0) return null;
  const blocks = Math.ceil(image.width / shape.width) * Math.ceil(image.height / shape.height);
  const wanted = image.planar_configuration === 2 ? blocks * image.band_count : blocks;
  const is_whole = offsets?.values.length === wanted && byte_counts?.values.length === wanted;
  const bytes = shape.width * shape.height * shape.samples * 8;
  return is_whole && bytes <= most_block_bytes * 2 ? { image, shape } : null;
}

/** Where GDAL takes a band for the mask of the others: the last of two or four. Elsewhere it is asked itself. */
function alphaOf({ images: [main], bands }: TiffHeader): number | null | "odd" {
  const colors = main.band_count - main.extra_samples.length;
  const found = bands.flatMap((band, at) => {
    const told = band.color_interpretation;
    const extra = main.extra_samples[at - colors];
    return told === "alpha" || (told === null && (extra === 1 || extra === 2)) ? [at] : [];
  });
  if (found.length === 0) return null;
  const is_plain = found.length === 1 && found[0] === main.band_count - 1 && main.data_type === "uint8";
  return is_plain && [2, 4].includes(main.band_count) ? found[0]! : "odd";
}

/** What is read of a file by ourselves; null where GDAL has to, be it because something in it is not as the header says: GDAL tells what. */
export async function withPixels<T>(file: string, work: (pixels: TiffPixels) => Promise<T | null>): Promise<T | null> {
  const pixels = await TiffPixels.open(file);
  if (pixels === null) return null;
  try {
    return await work(pixels);
  } catch (error) {
    if (error instanceof RangeError || isZlib(error)) return null;
    throw error;
  } finally {
    await pixels.close();
  }
}

function isZlib(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return /^(Z_|ERR_BUFFER_TOO_LARGE)/.test(code);
}
