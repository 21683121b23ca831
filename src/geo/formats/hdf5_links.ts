// An HDF5 file (netCDF 4 is one) can take its values from other files: by links, by lists of raw files, by virtual datasets, each with any path
// in it, and the library opens them. All three are messages in the file that stand in it as they are, so the whole of it is looked through
// for them, and what has one is refused. What could hide one (a user block, packed heaps, addresses of other widths) is refused, too. Pure.
import { finding } from "../findings.js";
import type { Finding } from "../raster.js";
import type { RangeReader } from "../tiff/tiff_reader.js";

const window_bytes = 4 * 1024 * 1024;
/** Longer than a link with names of usual length, so that hardly any is read for itself; whatever else is looked for is shorter. */
const overlap = 72 * 1024;
/** Of a link: what stands before its name, and the longest path that a system opens. */
const [before_name, longest_path] = [20, 4100];
const signature = Buffer.from("\x89HDF\r\n\x1a\n", "latin1");

/** Why the file may not be opened; null when it leads nowhere else. */
export async function hdf5Links(read: RangeReader, size: number): Promise<Finding | null> {
  const head = Buffer.from(await read(0, 64));
  if (head.length < 48 || !head.subarray(0, 8).equals(signature))
    return refused("It is no HDF5 file from its first byte on.");
  const version = head[8]!;
  const [widths, base] = version <= 1 ? [head.subarray(13, 15), version === 0 ? 24 : 28] : [head.subarray(9, 11), 12];
  if (version > 3 || widths[0] !== 8 || widths[1] !== 8 || head.readBigUInt64LE(base) !== 0n) {
    return refused("Its superblock is of a kind that is not looked through here.");
  }
  const file: File = { read, size };
  for (let at = 0; at < size; at += window_bytes) {
    const piece = Buffer.from(await read(at, Math.min(window_bytes + overlap, size - at)));
    const why =
      (await rawFiles(file, piece)) ??
      (await virtual(file, piece)) ??
      packedHeap(piece) ??
      (await outerLink(file, piece, at));
    if (why !== null) return refused(why);
  }
  return null;
}

interface File {
  read: RangeReader;
  size: number;
}

function refused(message: string): Finding {
  return finding(
    "names_other_files",
    message,
    "Write it anew with its values in it (h5repack, nccopy, xarray), or give a GeoTIFF.",
  );
}

/** External Data Files (message 7): version 1, three bytes that the library skips unseen, two counts, the address of the heap with the names. */
async function rawFiles(file: File, piece: Buffer): Promise<string | null> {
  // Byte by byte: a search begun anew at each hit takes a hundred times as long in a piece that is full of ones.
  for (let at = 4; at + 16 <= piece.length; at++) {
    if (piece[at] !== 1) continue;
    // Headers of the first kind have 8 bytes before a body, those of the second 4 or 6.
    const is_message =
      piece[at - 4] === 7 ||
      (at >= 6 && piece[at - 6] === 7) ||
      (at >= 8 && piece[at - 8] === 7 && piece[at - 7] === 0);
    // The second count is how many files it names.
    if (!is_message || piece.readUInt16LE(at + 6) === 0) continue;
    // What begins before this piece was at the end of the one before, with what stands in front of it.
    if (await stands(file, "HEAP", piece.readBigUInt64LE(at + 8))) {
      return "Its values lie in other files, which it names.";
    }
  }
  return null;
}

/** A data layout of class virtual: version 4 or later, class 3, the address of the heap with the names. */
async function virtual(file: File, piece: Buffer): Promise<string | null> {
  for (const version of [4, 5]) {
    const body = Buffer.from([version, 3]);
    for (let at = piece.indexOf(body); at >= 0; at = piece.indexOf(body, at + 1)) {
      if (at + 10 > piece.length) break;
      if (await stands(file, "GCOL", piece.readBigUInt64LE(at + 2)))
        return "It is put together of other files, which it names.";
    }
  }
  return null;
}

async function stands({ read, size }: File, mark: string, address: bigint): Promise<boolean> {
  if (address <= 0n || address + 4n > BigInt(size)) return false;
  return Buffer.from(await read(Number(address), 4)).toString("latin1") === mark;
}

/** Links in many are kept in heaps, which may be packed: then nobody sees them. */
function packedHeap(piece: Buffer): string | null {
  for (let at = piece.indexOf("FRHP"); at >= 0 && at + 9 <= piece.length; at = piece.indexOf("FRHP", at + 1)) {
    if (piece[at + 4] === 0 && piece.readUInt16LE(at + 7) !== 0)
      return "Its list of names is packed, and cannot be looked through.";
  }
  return null;
}

/** A link message: version 1, flags that say a kind follows, kind 64 or one of a user's own, then its own name and the file's. A file
 * name without a slash leads into the scratch folder, where nothing else is. */
async function outerLink({ read, size }: File, piece: Buffer, from: number): Promise<string | null> {
  const has_all = from + piece.length >= size;
  // What begins behind the window is at the begin of the next piece, with all that follows it.
  const end_at = Math.min(window_bytes, piece.length - 2);
  for (let at = 0; at < end_at; at++) {
    if (piece[at] !== 1) continue;
    const flags = piece[at + 1]!;
    if ((flags & 0b1110_1000) !== 0b1000 || piece[at + 2]! < 64) continue;
    const lengths = piece.subarray(at, at + before_name);
    const length_at = 3 + (flags & 4 ? 8 : 0) + (flags & 16 ? 1 : 0);
    const width = 1 << (flags & 3);
    if (length_at + width > lengths.length) continue;
    const name_bytes = width === 8 ? Number(lengths.readBigUInt64LE(length_at)) : lengths.readUIntLE(length_at, width);
    // The library reads names of any length.
    const link_at = at + length_at + width + name_bytes;
    if (from + link_at >= size) continue;
    // The length of what follows; version and flags in one byte; the path of the file, and a zero.
    const is_here = has_all || link_at + longest_path <= piece.length;
    const link = is_here
      ? piece.subarray(link_at, link_at + longest_path)
      : Buffer.from(await read(from + link_at, longest_path));
    if (link[2] !== 0) continue;
    const end = link.indexOf(0, 3);
    const path = end < 0 ? null : link.subarray(3, end);
    if (path?.includes("/") && path.every((byte) => byte >= 32)) {
      return "It links to other files, which it names.";
    }
  }
  return null;
}
