// A COG in a zone, read by ranges: its header once, then the blocks that tiles need. Blocks that were decoded are kept for the next tile, within
// a bound for the whole process.
import { LRUCache } from "lru-cache";
import { Conflict } from "../../core/errors/errors.js";
import { type Level, levelsOf } from "../../geo/raster_tiles/levels.js";
import { copyBand, hideNodata, type Part, type Window } from "../../geo/raster_tiles/window.js";
import {
  type FilePlace,
  isTiff,
  type RangeReader,
  readTiffHeader,
  type TiffHeader,
  type TiffImageHeader,
} from "../../geo/tiff/tiff_header.js";
import {
  bytesOfSample,
  decodeBlock,
  decodeMask,
  isSampleType,
  type Samples,
  type SampleType,
} from "../../geo/tiff/tiff_pixels.js";
import { HeaderError } from "../../geo/tiff/tiff_reader.js";
import { type BlockFacts, decoded, decoded_compressions } from "./codecs.js";

/** What one part of a level may cost at most, decoded. */
export const most_part_bytes = 96 * 1024 * 1024;
const kept_bytes = 96 * 1024 * 1024;
const largest_block = 64 * 1024 * 1024;
/** Blocks with no more than this between them are read together. */
const near_bytes = 64 * 1024;
const most_read = 4 * 1024 * 1024;
const header_limits = { bytes: 32 * 1024 * 1024, list_bytes: 8 * 1024 * 1024 };

export class CogFile {
  readonly levels: readonly Level[];
  /** The bands that are shown; an alpha band is none of them. */
  readonly band_count: number;
  readonly alpha_band: number | null;
  readonly sample_type: SampleType;
  readonly #under_way = new Map<string, Promise<Samples | null>>();

  private constructor(
    /** Names this version of this file, among all that are open. */
    readonly id: string,
    readonly header: TiffHeader,
    private readonly read: RangeReader,
    private readonly kept: LRUCache<string, { samples: Samples }>,
    private readonly extras: ReadonlyMap<FilePlace, Uint8Array>,
  ) {
    const [whole] = header.images;
    this.levels = levelsOf(header);
    const [extra] = whole.extra_samples.slice(-1);
    // Associated or not, an alpha band tells where data are.
    this.alpha_band = (extra === 1 || extra === 2) && whole.band_count > 1 ? whole.band_count : null;
    this.band_count = whole.band_count - (this.alpha_band === null ? 0 : 1);
    this.sample_type = whole.data_type as SampleType;
  }

  /** Throws Conflict where no tile can be made of it. */
  static async open(id: string, read: RangeReader, bytes: number, kept: LRUCache<string, { samples: Samples }>) {
    if (bytes < 16 || !isTiff(await read(0, 4))) throw noTiles("it is no TIFF");
    const header = await readTiffHeader(read, bytes, header_limits).catch((error: unknown) => {
      throw error instanceof HeaderError ? noTiles(error.message) : error;
    });
    const problem = problemOf(header);
    if (problem !== null) throw noTiles(problem);
    const extras = new Map<FilePlace, Uint8Array>();
    for (const image of header.images)
      for (const place of [image.jpeg_tables, image.color_map, image.lerc_parameters])
        if (place !== null && place.bytes <= 1024 * 1024 && place.offset + place.bytes <= bytes)
          extras.set(place, await read(place.offset, place.bytes));
    return new CogFile(id, header, read, kept, extras);
  }

  /** How many bytes a part of a level is made of, decoded. */
  costOf({ image }: Level, part: Part): number {
    const blocks = blocksOf(image, part);
    const planes = image.planar_configuration === 2 ? 1 : image.band_count;
    return blocks.length * image.block_width * image.block_height * planes * bytesOfSample(this.sample_type);
  }

  /** Bands counted from 1. */
  async window(level: Level, part: Part, bands: readonly number[], nodata: number | "nan" | null): Promise<Window> {
    const size = part.width * part.height;
    const window: Window = {
      part,
      width: part.width,
      height: part.height,
      bands: bands.map(() => new Float64Array(size)),
      valid: new Uint8Array(size),
    };
    await this.#fill(level.image, part, bands, window.bands, window.valid);
    if (level.mask !== null) {
      const mask = new Uint8Array(size);
      await this.#fill(level.mask, part, [1], [mask]);
      for (let at = 0; at < size; at++) if (mask[at] === 0) window.valid[at] = 0;
    }
    if (this.alpha_band !== null) {
      const alpha = new Float64Array(size);
      await this.#fill(level.image, part, [this.alpha_band], [alpha]);
      for (let at = 0; at < size; at++) if (alpha[at] === 0) window.valid[at] = 0;
    }
    hideNodata(window.bands, window.valid, nodata);
    return window;
  }

  /** Red, green and blue by value, where the file has colours of its own. */
  colorTable(): (readonly [number, number, number])[] | null {
    const [whole] = this.header.images;
    const bytes = whole.photometric === 3 && whole.color_map !== null ? this.extras.get(whole.color_map) : undefined;
    if (bytes === undefined) return null;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const count = Math.floor(bytes.byteLength / 6);
    const at = (channel: number, value: number) =>
      view.getUint16((channel * count + value) * 2, this.header.byte_order === "little") >> 8;
    return Array.from({ length: count }, (_, value) => [at(0, value), at(1, value), at(2, value)] as const);
  }

  /** `valid`: 1 wherever a block is. A block that was never written has no data. */
  async #fill(
    image: TiffImageHeader,
    part: Part,
    bands: readonly number[],
    to: readonly (Float64Array | Uint8Array)[],
    valid?: Uint8Array,
  ): Promise<void> {
    const apart = image.planar_configuration === 2;
    const per_plane = blockColumns(image) * blockRows(image);
    const blocks = blocksOf(image, part);
    const planes = apart ? bands.map((band) => (band - 1) * per_plane) : [0];
    const wanted = planes.flatMap((first) => blocks.map((block) => first + block));
    const samples = await this.#blocks(image, wanted);
    const columns = blockColumns(image);
    for (const block of blocks) {
      const place = {
        column: (block % columns) * image.block_width,
        row: Math.floor(block / columns) * image.block_height,
        width: image.block_width,
        height: image.block_height,
        per_pixel: apart ? 1 : image.band_count,
      };
      bands.forEach((band, n) => {
        const found = samples.get((apart ? planes[n]! : 0) + block);
        if (found) copyBand({ ...place, samples: found }, apart ? 0 : band - 1, part, to[n]!);
      });
      if (valid !== undefined && planes.some((first) => samples.get(first + block))) markValid(valid, part, place);
    }
  }

  async #blocks(image: TiffImageHeader, wanted: readonly number[]): Promise<Map<number, Samples | null>> {
    const found = new Map<number, Samples | null>();
    const missing: number[] = [];
    const waiting: Promise<unknown>[] = [];
    for (const block of wanted) {
      const name = this.#nameOf(image, block);
      const known = this.kept.get(name);
      const coming = this.#under_way.get(name);
      if (known !== undefined) found.set(block, known.samples);
      else if (coming !== undefined) waiting.push(coming.then((samples) => found.set(block, samples)));
      else missing.push(block);
    }
    for (const group of this.#together(image, missing)) {
      const bytes = this.read(group.from, group.to - group.from);
      for (const { block, offset, length } of group.blocks) {
        const name = this.#nameOf(image, block);
        const work = bytes.then((all) => this.#decode(image, block, all, offset - group.from, length));
        this.#under_way.set(name, work);
        waiting.push(work.then((samples) => found.set(block, samples)).finally(() => this.#under_way.delete(name)));
      }
    }
    await Promise.all(waiting);
    return found;
  }

  #nameOf(image: TiffImageHeader, block: number): string {
    return `${this.id}/${image.directory_offset}/${block}`;
  }

  /** Blocks that lie close together are one read. */
  #together({ offsets, byte_counts }: TiffImageHeader, blocks: readonly number[]) {
    const placed = blocks
      .map((block) => ({ block, offset: offsets?.values[block] ?? 0, length: byte_counts?.values[block] ?? 0 }))
      .filter(({ offset, length }) => offset > 0 && length > 0)
      .sort((a, b) => a.offset - b.offset);
    const groups: { from: number; to: number; blocks: typeof placed }[] = [];
    for (const one of placed) {
      const end = one.offset + one.length;
      if (one.length > largest_block || end > this.header.file_size)
        throw noTiles(`block ${one.block} does not lie within the file`);
      const last = groups.at(-1);
      if (last !== undefined && one.offset - last.to <= near_bytes && end - last.from <= most_read) {
        last.to = Math.max(last.to, end);
        last.blocks.push(one);
      } else groups.push({ from: one.offset, to: end, blocks: [one] });
    }
    return groups;
  }

  async #decode(
    image: TiffImageHeader,
    block: number,
    all: Uint8Array,
    from: number,
    length: number,
  ): Promise<Samples> {
    if (all.length < from + length) throw noTiles("the file ends within a block");
    const { block_width: width, photometric } = image;
    const height = heightOf(image, block);
    const per_pixel = image.planar_configuration === 2 ? 1 : image.band_count;
    const is_mask = image.data_type === null;
    const type = is_mask ? "uint8" : (image.data_type as SampleType);
    const facts: BlockFacts = {
      compression: image.compression,
      width,
      height,
      per_pixel,
      bytes: is_mask ? Math.ceil(width / 8) * height : width * height * per_pixel * bytesOfSample(type),
      photometric,
      jpeg_tables: this.#extra(image.jpeg_tables),
      lerc_packing: this.#lercPacking(image),
    };
    const bytes = await decoded(all.subarray(from, from + length), facts).catch((error: unknown) => {
      throw noTiles(`block ${block} cannot be decoded: ${error instanceof Error ? error.message : String(error)}`);
    });
    const own = facts.compression === "lerc" || facts.compression === "jpeg" || facts.compression === "webp";
    const samples = is_mask
      ? decodeMask(bytes, width, height)
      : decodeBlock(bytes, {
          width,
          height,
          samples: per_pixel,
          data_type: type,
          // These decoders speak this machine's order of bytes already.
          little_endian: own || this.header.byte_order === "little",
          predictor: own ? 1 : image.predictor,
        });
    this.kept.set(this.#nameOf(image, block), { samples });
    return samples;
  }

  #extra(place: FilePlace | null): Uint8Array | null {
    return place === null ? null : (this.extras.get(place) ?? null);
  }

  #lercPacking({ lerc_parameters }: TiffImageHeader): number {
    const bytes = this.#extra(lerc_parameters);
    if (bytes === null || bytes.length < 8) return 0;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return view.getUint32(4, this.header.byte_order === "little");
  }
}

export function keptBlocks(): LRUCache<string, { samples: Samples }> {
  return new LRUCache({ maxSize: kept_bytes, sizeCalculation: ({ samples }) => samples.byteLength + 200 });
}

/** Why no tile can be made of such a file; null where one can. */
function problemOf({ images, georeference, nodata }: TiffHeader): string | null {
  const [whole] = images;
  const known: readonly (string | null)[] = decoded_compressions;
  if (!isSampleType(whole.data_type))
    return `pixels of ${whole.bits_per_sample[0] ?? 1} bits of this kind are not shown`;
  if (!known.includes(whole.compression))
    return `its codec ${whole.compression ?? whole.compression_code} is not decoded here`;
  if (georeference.transform === null) return "it does not say where it lies";
  if (typeof nodata === "object" && nodata !== null) return `its nodata value ${nodata.unreadable} cannot be read`;
  for (const image of images) {
    const { block_width, block_height, band_count } = image;
    if (!(block_width >= 1 && block_height >= 1 && band_count >= 1)) return "it has no blocks";
    const planes = image.planar_configuration === 2 ? 1 : band_count;
    const bytes = block_width * block_height * planes * (image.data_type === null ? 1 : 8);
    if (bytes > largest_block * 4) return `its blocks of ${block_width} × ${block_height} pixels are too large`;
    if (image.offsets?.last_values) return "it has too many blocks";
  }
  return null;
}

export function noTiles(why: string): Conflict {
  return new Conflict(`no tile can be made of this file: ${why}`, {
    hint: "make a COG of it with process_raster, and show that",
  });
}

function blockColumns({ width, block_width }: TiffImageHeader): number {
  return Math.ceil(width / block_width);
}

function blockRows({ height, block_height }: TiffImageHeader): number {
  return Math.ceil(height / block_height);
}

function blocksOf(image: TiffImageHeader, { left, top, width, height }: Part): number[] {
  const columns = blockColumns(image);
  const blocks: number[] = [];
  const last_row = Math.floor((top + height - 1) / image.block_height);
  const last_column = Math.floor((left + width - 1) / image.block_width);
  for (let row = Math.floor(top / image.block_height); row <= last_row; row++)
    for (let column = Math.floor(left / image.block_width); column <= last_column; column++)
      blocks.push(row * columns + column);
  return blocks;
}

/** The last strip has only the rows that are left. */
function heightOf(image: TiffImageHeader, block: number): number {
  if (image.tiled) return image.block_height;
  const row = Math.floor((block % (blockColumns(image) * blockRows(image))) / blockColumns(image));
  return Math.min(image.block_height, image.height - row * image.block_height);
}

function markValid(
  valid: Uint8Array,
  part: Part,
  place: { column: number; row: number; width: number; height: number },
) {
  const from = Math.max(place.column, part.left) - part.left;
  const to = Math.min(place.column + place.width, part.left + part.width) - part.left;
  const last = Math.min(place.row + place.height, part.top + part.height) - part.top;
  for (let row = Math.max(place.row, part.top) - part.top; row < last; row++)
    valid.fill(1, row * part.width + from, row * part.width + to);
}
