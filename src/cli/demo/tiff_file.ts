// Lays directories and blocks out as one TIFF file. It writes what it is told, lies included: broken files for tests come from
// here too. Pure.
import { type FieldType, field_types, tags } from "../../geo/tiff/tiff_layout.js";

export interface TiffEntry {
  tag: number;
  type: FieldType;
  values: readonly number[] | string;
}

export interface TiffDirectory {
  entries: TiffEntry[];
  /** Strips or tiles, encoded. An empty one is left out of the file (offset and size 0). */
  blocks: Uint8Array[];
  tiled: boolean;
}

export interface TiffParts {
  directories: TiffDirectory[];
  big_tiff?: boolean;
  big_endian?: boolean;
  /** Text between the header and the first directory. */
  ghost?: string;
  /** Size before each block, its last four bytes repeated behind it: as GDAL's COG driver does. */
  leaders?: boolean;
  /** In which order the blocks of the directories follow; default: as listed. */
  data_order?: readonly number[];
  /** Default: before the data. */
  directories_at?: "start" | "end";
}

interface DirectoryLayout {
  offset: number;
  /** Where values stand that are too long for their entry. */
  value_offsets: number[];
  end: number;
}

export function encodeTiff(parts: TiffParts): Uint8Array {
  const big = parts.big_tiff ?? false;
  const order = parts.data_order ?? parts.directories.map((_, i) => i);
  const directories = parts.directories.map((directory) => withBlockTags(directory, big));
  const ghost = new TextEncoder().encode(parts.ghost ?? "");
  const start = even((big ? 16 : 8) + ghost.length);

  let places: DirectoryLayout[];
  let data: { offsets: number[][]; end: number };
  let end: number;
  if (parts.directories_at === "end") {
    data = placeBlocks(parts, order, start);
    places = placeDirectories(directories, big, even(data.end));
    end = places.at(-1)?.end ?? data.end;
  } else {
    places = placeDirectories(directories, big, start);
    data = placeBlocks(parts, order, even(places.at(-1)?.end ?? start));
    end = data.end;
  }

  const bytes = new Uint8Array(end);
  const view = new DataView(bytes.buffer);
  const little = !parts.big_endian;
  bytes.set(little ? [0x49, 0x49] : [0x4d, 0x4d]);
  view.setUint16(2, big ? 43 : 42, little);
  const first = places[0]?.offset ?? 0;
  if (big) {
    view.setUint16(4, 8, little);
    view.setBigUint64(8, BigInt(first), little);
  } else {
    view.setUint32(4, first, little);
  }
  bytes.set(ghost, big ? 16 : 8);
  directories.forEach((directory, i) => {
    const offsets = data.offsets[i]!;
    const entries = directory.entries.map((entry) => (isOffsets(entry) ? { ...entry, values: offsets } : entry));
    writeDirectory(view, entries, places[i]!, places[i + 1]?.offset ?? 0, big, little);
    parts.directories[i]!.blocks.forEach((block, k) => {
      const at = offsets[k]!;
      if (block.length === 0) return;
      bytes.set(block, at);
      if (!parts.leaders) return;
      view.setUint32(at - 4, block.length, true);
      bytes.set(block.subarray(Math.max(0, block.length - 4)), at + block.length);
    });
  });
  return bytes;
}

/** The entry that encodeTiff fills in; one given with values is left as it is. */
function isOffsets({ tag, values }: TiffEntry): boolean {
  return (tag === tags.tile_offsets || tag === tags.strip_offsets) && values.length === 0;
}

function withBlockTags(directory: TiffDirectory, big: boolean): TiffDirectory {
  const { tiled, blocks } = directory;
  const offsets_tag = tiled ? tags.tile_offsets : tags.strip_offsets;
  const counts_tag = tiled ? tags.tile_byte_counts : tags.strip_byte_counts;
  const entries = [...directory.entries];
  if (!entries.some(({ tag }) => tag === offsets_tag)) {
    entries.push({ tag: offsets_tag, type: big ? "long8" : "long", values: [] });
  }
  if (!entries.some(({ tag }) => tag === counts_tag)) {
    entries.push({ tag: counts_tag, type: "long", values: blocks.map((block) => block.length) });
  }
  return { tiled, blocks, entries: entries.sort((a, b) => a.tag - b.tag) };
}

function valueBytes(entry: TiffEntry, blocks: number): number {
  const count = isOffsets(entry) ? blocks : countOf(entry);
  return count * field_types[entry.type].size;
}

/** Text ends with a zero byte. */
function countOf({ values }: TiffEntry): number {
  return typeof values === "string" ? new TextEncoder().encode(values).length + 1 : values.length;
}

function placeDirectories(directories: TiffDirectory[], big: boolean, start: number): DirectoryLayout[] {
  let at = start;
  return directories.map(({ entries, blocks }) => {
    const offset = at;
    at += big ? 8 + entries.length * 20 + 8 : 2 + entries.length * 12 + 4;
    const value_offsets = entries.map((entry) => {
      const size = valueBytes(entry, blocks.length);
      if (size <= (big ? 8 : 4)) return 0;
      const place = even(at);
      at = place + size;
      return place;
    });
    at = even(at);
    return { offset, value_offsets, end: at };
  });
}

function placeBlocks({ directories, leaders }: TiffParts, order: readonly number[], start: number) {
  const offsets: number[][] = directories.map(() => []);
  let at = start;
  for (const i of order) {
    for (const block of directories[i]!.blocks) {
      if (block.length === 0) {
        offsets[i]!.push(0);
        continue;
      }
      if (leaders) at += 4;
      offsets[i]!.push(at);
      at += block.length + (leaders ? 4 : 0);
    }
  }
  return { offsets, end: at };
}

function writeDirectory(
  view: DataView,
  entries: TiffEntry[],
  place: DirectoryLayout,
  next: number,
  big: boolean,
  little: boolean,
): void {
  let at = place.offset;
  if (big) view.setBigUint64(at, BigInt(entries.length), little);
  else view.setUint16(at, entries.length, little);
  at += big ? 8 : 2;
  entries.forEach((entry, i) => {
    view.setUint16(at, entry.tag, little);
    view.setUint16(at + 2, field_types[entry.type].code, little);
    const count = countOf(entry);
    if (big) view.setBigUint64(at + 4, BigInt(count), little);
    else view.setUint32(at + 4, count, little);
    const inline = at + (big ? 12 : 8);
    const elsewhere = place.value_offsets[i]!;
    if (elsewhere !== 0) {
      if (big) view.setBigUint64(inline, BigInt(elsewhere), little);
      else view.setUint32(inline, elsewhere, little);
    }
    writeValues(view, elsewhere || inline, entry, little);
    at += big ? 20 : 12;
  });
  if (big) view.setBigUint64(at, BigInt(next), little);
  else view.setUint32(at, next, little);
}

function writeValues(view: DataView, offset: number, { type, values }: TiffEntry, little: boolean): void {
  if (typeof values === "string") {
    new Uint8Array(view.buffer).set(new TextEncoder().encode(values), offset);
    return;
  }
  const { size } = field_types[type];
  values.forEach((value, i) => {
    const at = offset + i * size;
    if (type === "double") view.setFloat64(at, value, little);
    else if (type === "float") view.setFloat32(at, value, little);
    else if (size === 1) view.setUint8(at, value);
    else if (size === 2) view.setUint16(at, value, little);
    else if (size === 4) view.setUint32(at, value, little);
    else view.setBigUint64(at, BigInt(value), little);
  });
}

function even(offset: number): number {
  return offset + (offset % 2);
}
