// A GeoTIFF can name other files in its own metadata (an OVERVIEW_FILE, arrays of coordinates), and GDAL opens whatever stands there: any
// path, any URL, with any driver. The driver allow-list for the file itself does not help against that, so such files are refused. Pure.
import { finding } from "./findings.js";
import type { Finding } from "./raster.js";
import type { RangeReader } from "./tiff/tiff_reader.js";

const GDAL_METADATA = 42_112;
const max_directories = 1000;
const max_entries = 4096;
const max_metadata = 4 * 1024 * 1024;

/** GDAL looks these up by name, in any case, whatever their domain. */
const file_names = /overview_file|[xyz]_dataset/i;

/** Bytes under any of their names. GDAL takes the text from wider numbers too, one letter each, which nobody writes but to hide it. */
const byte_types = new Set([1, 2, 6, 7]);

/** GDAL counts round at 2^32 and skips zeros: a letter that is written longer than any letter is, is hidden. */
const overlong = /&#(x[0-9a-f]{7}|[0-9]{8})/i;

/** Why the file may not be opened; null when nothing speaks against it. What is no TIFF at all is for GDAL to refuse. */
export async function hiddenPath(read: RangeReader, size: number): Promise<Finding | null> {
  const head = view(await read(0, 16));
  if (head.byteLength < 8) return null;
  const mark = head.getUint16(0);
  if (mark !== 0x4949 && mark !== 0x4d4d) return null;
  const little = mark === 0x4949;
  const version = head.getUint16(2, little);
  if (version !== 42 && version !== 43) return null;
  const layout = version === 43 ? big : classic;
  if (head.byteLength < layout.head) return null;
  const seen = new Set<number>();
  let at = layout.offset(head, layout.first, little);
  while (at > 0 && at < size && !seen.has(at) && seen.size < max_directories) {
    seen.add(at);
    const count_view = view(await read(at, layout.count_bytes));
    if (count_view.byteLength < layout.count_bytes) return null;
    const count = layout.count(count_view, little);
    if (count > max_entries) return null;
    const bytes = count * layout.entry_bytes + layout.offset_bytes;
    const entries = view(await read(at + layout.count_bytes, bytes));
    if (entries.byteLength < bytes - layout.offset_bytes) return null;
    for (let index = 0; index < count; index++) {
      const entry = index * layout.entry_bytes;
      if (entries.getUint16(entry, little) !== GDAL_METADATA) continue;
      if (!byte_types.has(entries.getUint16(entry + 2, little))) return named("The metadata in the file is no text.");
      const length = layout.offset(entries, entry + 4, little);
      const offset =
        length <= layout.offset_bytes
          ? at + layout.count_bytes + entry + 4 + layout.offset_bytes
          : layout.offset(entries, entry + 4 + layout.offset_bytes, little);
      if (length > max_metadata) return named("The metadata in the file is larger than 4 MB.");
      const written = new TextDecoder("latin1").decode(await read(offset, length));
      if (overlong.test(written)) return named("The metadata in the file hides what it says.");
      const text = decodedText(written);
      if (file_names.test(text)) return named("The metadata in the file names other files, which GDAL would open.");
    }
    if (entries.byteLength < bytes) return null;
    at = layout.offset(entries, count * layout.entry_bytes, little);
  }
  return null;
}

function named(message: string): Finding {
  return finding("names_other_files", message);
}

/** As an XML reader would see it: a letter may be written as its number. */
function decodedText(text: string): string {
  return text
    .replace(/&#x([0-9a-f]{1,6});?/gi, (_, digits: string) => letter(Number.parseInt(digits, 16)))
    .replace(/&#([0-9]{1,7});?/g, (_, digits: string) => letter(Number(digits)));
}

function letter(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : "?";
}

function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

const classic = {
  head: 8,
  first: 4,
  count_bytes: 2,
  entry_bytes: 12,
  offset_bytes: 4,
  count: (from: DataView, little: boolean) => from.getUint16(0, little),
  offset: (from: DataView, at: number, little: boolean) => from.getUint32(at, little),
};

const big: typeof classic = {
  head: 16,
  first: 8,
  count_bytes: 8,
  entry_bytes: 20,
  offset_bytes: 8,
  count: (from, little) => Number(from.getBigUint64(0, little)),
  offset: (from, at, little) => Number(from.getBigUint64(at, little)),
};
