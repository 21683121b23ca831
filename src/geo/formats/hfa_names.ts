// An Erdas Imagine file can keep its pixels, or its overviews, in other files that it names, and GDAL opens them. Its own overviews are
// named by its own name, without a folder: those lead nowhere. Pure.
import { finding } from "../findings.js";
import type { Finding } from "../raster.js";
import type { RangeReader } from "../tiff/tiff_reader.js";

const window_bytes = 4 * 1024 * 1024;
/** A name of a file that GDAL would look at is shorter. */
const overlap = 4096;
/** Entries by whose names GDAL finds other files, in any case; a zero ends a name, as it does not in the list of types. */
const entries = ["externalrasterdms\0", "dependentfile\0"];

/** Why the file may not be opened; null when it leads nowhere else. */
export async function hfaNames(read: RangeReader, size: number): Promise<Finding | null> {
  for (let at = 0; at < size; at += window_bytes) {
    const bytes = await read(at, Math.min(window_bytes + overlap, size - at));
    const text = Buffer.from(bytes).toString("latin1").toLowerCase();
    // Overviews are named as file(:layer:name).
    if (entries.some((entry) => text.includes(entry)) || /[/\\][^\0()]{0,1000}\(:/.test(text)) {
      return finding(
        "names_other_files",
        "The Erdas Imagine file names other files, which GDAL would open.",
        "Write it anew with its pixels in it: `gdal_translate -of HFA`, or give a GeoTIFF.",
      );
    }
  }
  return null;
}
