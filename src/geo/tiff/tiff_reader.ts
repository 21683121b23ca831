// Reads the directories of a TIFF that may have been made to do harm, through a function that reads ranges. Every count is
// checked before it is believed, every chain is cut, and the number and size of reads is bounded: a hostile file costs a few
// reads and an error with a finding. (@cogeotiff/core follows a circle of directories for ever, and reads any count.) Pure.
import { type FindingCode, finding } from "../findings.js";
import type { Finding } from "../raster.js";
import { field_types } from "./tiff_layout.js";

/** Bytes of the file from `offset`; fewer than `length` only at its end. */
export type RangeReader = (offset: number, length: number) => Promise<Uint8Array>;

export interface HeaderLimits {
  /** Images in the file: a raster, its overviews and their masks. */
  directories: number;
  /** Read altogether. */
  bytes: number;
  /** The most bytes of one list of offsets or sizes: of a longer list only both ends are read. */
  list_bytes: number;
}

export const default_header_limits: HeaderLimits = { directories: 64, bytes: 4 * 1024 * 1024, list_bytes: 512 * 1024 };

/** The only error that reading a header ends in, beside what the reader itself throws. */
export class HeaderError extends Error {
  readonly finding: Finding;

  constructor(code: FindingCode, message: string) {
    super(message);
    this.name = "HeaderError";
    this.finding = finding(code, message);
  }
}

export interface RawEntry {
  tag: number;
  /** Bytes of one value; 0 for a type that is not known. */
  size: number;
  type: number;
  count: number;
  /** Where the values are in the file. */
  offset: number;
}

export interface RawDirectory {
  offset: number;
  entries: Map<number, RawEntry>;
}

/** A list of numbers that may be known at its ends only. */
export interface NumberList {
  count: number;
  /** All of them, or those at the start. */
  values: number[];
  /** Those at the end, when not all were read. */
  last_values: number[] | null;
}

const chunk = 16 * 1024;

export class TiffReader {
  little = true;
  big_tiff = false;
  bytes_read = 0;
  reads = 0;
  private pieces: { offset: number; bytes: Uint8Array }[] = [];

  constructor(
    private readonly read: RangeReader,
    readonly file_size: number,
    readonly limits: HeaderLimits = default_header_limits,
  ) {}

  /** Exactly these bytes, in a view. */
  async view(offset: number, length: number): Promise<DataView> {
    if (!Number.isSafeInteger(offset) || offset < 0 || offset + length > this.file_size) {
      const place = `${length} bytes at ${offset}`;
      throw new HeaderError("header_truncated", `The header needs ${place}, but the file has ${this.file_size} bytes.`);
    }
    const known = this.pieces.find((piece) => offset >= piece.offset && offset + length <= end(piece));
    const piece = known ?? (await this.load(offset, length));
    return new DataView(piece.bytes.buffer, piece.bytes.byteOffset + offset - piece.offset, length);
  }

  private async load(offset: number, length: number) {
    const wanted = Math.min(Math.max(length, chunk), this.file_size - offset);
    if (this.bytes_read + wanted > this.limits.bytes) {
      throw new HeaderError(
        "header_too_large",
        `More than ${this.limits.bytes} bytes of header would have to be read.`,
      );
    }
    this.reads++;
    this.bytes_read += wanted;
    const bytes = await this.read(offset, wanted);
    if (bytes.length < length) {
      throw new HeaderError("header_truncated", `The file ends at byte ${offset + bytes.length}, within its header.`);
    }
    const piece = { offset, bytes };
    this.pieces.push(piece);
    return piece;
  }

  /** The offset of the first directory. The first bytes are known to be a TIFF's. */
  async start(): Promise<number> {
    const head = await this.view(0, 8);
    this.little = head.getUint8(0) === 0x49;
    this.big_tiff = head.getUint16(2, this.little) === 43;
    if (!this.big_tiff) return head.getUint32(4, this.little);
    if (head.getUint16(4, this.little) !== 8 || head.getUint16(6, this.little) !== 0) {
      throw new HeaderError("header_broken", "This BigTIFF has pointers of a size other than 8 bytes.");
    }
    return this.uint64(await this.view(8, 8), 0);
  }

  get header_size(): number {
    return this.big_tiff ? 16 : 8;
  }

  /** All directories of the chain, in its order. */
  async directories(first: number): Promise<RawDirectory[]> {
    const directories: RawDirectory[] = [];
    const seen = new Set<number>();
    for (let offset = first; offset !== 0; ) {
      if (seen.has(offset)) {
        throw new HeaderError(
          "directory_loop",
          `Directory ${directories.length + 1} leads back to the one at byte ${offset}.`,
        );
      }
      if (directories.length === this.limits.directories) {
        throw new HeaderError("too_many_directories", `The file has more than ${this.limits.directories} directories.`);
      }
      if (offset < this.header_size) {
        throw new HeaderError(
          "header_broken",
          `A directory lies at byte ${offset}, within the first bytes of the file.`,
        );
      }
      seen.add(offset);
      const { directory, next } = await this.directory(offset);
      directories.push(directory);
      offset = next;
    }
    if (directories.length === 0) throw new HeaderError("header_broken", "The file has no directory.");
    return directories;
  }

  private async directory(offset: number): Promise<{ directory: RawDirectory; next: number }> {
    const [counter, entry_size, pointer] = this.big_tiff ? [8, 20, 8] : [2, 12, 4];
    const head = await this.view(offset, counter);
    const count = this.big_tiff ? this.uint64(head, 0) : head.getUint16(0, this.little);
    if (count === 0) throw new HeaderError("header_broken", `The directory at byte ${offset} has no tags.`);
    if (count > 65535) throw new HeaderError("header_broken", `The directory at byte ${offset} claims ${count} tags.`);
    const view = await this.view(offset + counter, count * entry_size + pointer);
    const entries = new Map<number, RawEntry>();
    for (let i = 0; i < count; i++) {
      const at = i * entry_size;
      const tag = view.getUint16(at, this.little);
      const type = view.getUint16(at + 2, this.little);
      const size = sizes.get(type) ?? 0;
      const values = this.big_tiff ? this.uint64(view, at + 4) : view.getUint32(at + 4, this.little);
      const inline_at = at + 4 + pointer;
      const is_inline = values * size <= pointer;
      const elsewhere = is_inline ? 0 : this.pointer(view, inline_at);
      // The first of twins counts, as in libtiff.
      if (entries.has(tag)) continue;
      entries.set(tag, {
        tag,
        type,
        size,
        count: values,
        offset: is_inline ? offset + counter + inline_at : elsewhere,
      });
    }
    return { directory: { offset, entries }, next: this.pointer(view, count * entry_size) };
  }

  private pointer(view: DataView, at: number): number {
    return this.big_tiff ? this.uint64(view, at) : view.getUint32(at, this.little);
  }

  /** Beyond 2^53 it is behind the end of every file; it stays larger than all sizes, and is found by that. */
  uint64(view: DataView, at: number): number {
    return Number(view.getBigUint64(at, this.little));
  }

  /** At most `most` values: a longer tag is broken. Null when the tag is not there or not of numbers. */
  async numbers(directory: RawDirectory, tag: number, most: number): Promise<number[] | null> {
    const entry = directory.entries.get(tag);
    if (!entry || entry.size === 0 || entry.type === field_types.ascii.code) return null;
    if (entry.count > most) {
      throw new HeaderError("header_broken", `Tag ${tag} has ${entry.count} values; ${most} at most make sense.`);
    }
    return this.values(entry, 0, entry.count);
  }

  async number(directory: RawDirectory, tag: number): Promise<number | null> {
    const entry = directory.entries.get(tag);
    if (!entry || entry.size === 0 || entry.count < 1) return null;
    return (await this.values(entry, 0, 1))[0]!;
  }

  /** Text up to `most` bytes; of a longer one nothing, for half a text says something else. */
  async text(directory: RawDirectory, tag: number, most: number): Promise<string | null> {
    const entry = directory.entries.get(tag);
    if (entry?.size !== 1 || entry.count === 0 || entry.count > most) return null;
    const view = await this.view(entry.offset, entry.count);
    const text = new TextDecoder().decode(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
    const zero = text.indexOf("\0");
    return zero < 0 ? text : text.slice(0, zero);
  }

  async list(directory: RawDirectory, tag: number): Promise<NumberList | null> {
    const entry = directory.entries.get(tag);
    if (!entry || entry.size === 0 || entry.count === 0) return null;
    if (entry.offset + entry.count * entry.size > this.file_size) {
      throw new HeaderError("header_truncated", `A list of ${entry.count} blocks lies behind the end of the file.`);
    }
    const most = Math.floor(this.limits.list_bytes / entry.size);
    if (entry.count <= most) {
      return { count: entry.count, values: await this.values(entry, 0, entry.count), last_values: null };
    }
    const part = Math.floor(chunk / entry.size);
    return {
      count: entry.count,
      values: await this.values(entry, 0, part),
      last_values: await this.values(entry, entry.count - part, part),
    };
  }

  private async values(entry: RawEntry, from: number, count: number): Promise<number[]> {
    const view = await this.view(entry.offset + from * entry.size, count * entry.size);
    return Array.from({ length: count }, (_, i) => this.value(view, i * entry.size, entry.type));
  }

  private value(view: DataView, at: number, type: number): number {
    const { little } = this;
    switch (type) {
      case field_types.short.code:
        return view.getUint16(at, little);
      case field_types.signed_short.code:
        return view.getInt16(at, little);
      case field_types.long.code:
      case field_types.ifd.code:
        return view.getUint32(at, little);
      case field_types.signed_long.code:
        return view.getInt32(at, little);
      case field_types.rational.code:
        return view.getUint32(at, little) / view.getUint32(at + 4, little);
      case field_types.signed_rational.code:
        return view.getInt32(at, little) / view.getInt32(at + 4, little);
      case field_types.float.code:
        return view.getFloat32(at, little);
      case field_types.double.code:
        return view.getFloat64(at, little);
      case field_types.long8.code:
      case field_types.ifd8.code:
        return this.uint64(view, at);
      case field_types.signed_long8.code:
        return Number(view.getBigInt64(at, little));
      case field_types.signed_byte.code:
        return view.getInt8(at);
      default:
        return view.getUint8(at);
    }
  }
}

const sizes = new Map<number, number>(Object.values(field_types).map(({ code, size }) => [code, size]));

function end({ offset, bytes }: { offset: number; bytes: Uint8Array }): number {
  return offset + bytes.length;
}
