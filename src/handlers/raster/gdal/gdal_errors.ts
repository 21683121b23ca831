// What GDAL says when it fails, as an error of ours: its last lines, without the folders of this machine. Pure.
import { Permanent, Transient } from "../../../core/errors/errors.js";

const most_lines = 5;
const most_characters = 300;

/** "ERROR 1: /scratch/…/x.tif: …" → "x.tif: …". */
export function errorLines(lines: readonly string[]): string[] {
  const told = lines.filter((line) => /^(ERROR|FATAL)\b/.test(line.trim()));
  const chosen = told.length > 0 ? told : lines.filter((line) => line.trim() !== "");
  const clean = chosen.map((line) => withoutFolders(line.trim().replace(/^(ERROR|FATAL)\s*\d*:\s*/, "")));
  return [...new Set(clean)].slice(-most_lines).map((line) => line.slice(0, most_characters));
}

function withoutFolders(text: string): string {
  return text.replace(/(?:\/[^\s/:'"`,;<>]+)*\/([^\s/:'"`,;<>]*)/g, "$1");
}

/** A full disk passes; what is wrong with a file does not. */
export function gdalError(what: string, lines: readonly string[], cause?: unknown): Permanent | Transient {
  const told = errorLines(lines);
  const message = `${what}: ${told.length === 0 ? "GDAL did not say why" : told.join("; ")}`;
  if (lines.some((line) => /no space left|disk quota exceeded/i.test(line))) {
    return new Transient(message, { code: "disk_full", cause });
  }
  if (lines.some((line) => /out of memory|cannot allocate|bad_alloc|memory allocation/i.test(line))) {
    return new Permanent(`${message} (a smaller tile or system GDAL may help)`, { code: "raster_memory", cause });
  }
  return new Permanent(message, { code: "gdal_failed", cause });
}
