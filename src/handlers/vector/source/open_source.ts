// From what a user names (bronze:key) to what an engine may open: fetched into the task's folder, told by its bytes, unpacked within
// limits, and put into UTF-8 where it is text of another kind.
import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, open, readdir, rename, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Permanent } from "../../../core/errors/errors.js";
import { formatZoneRef, parseZoneRef } from "../../../core/places/zones.js";
import type { TaskContext } from "../../../core/task/context.js";
import type { VectorFormat } from "../../../geo/vector.js";
import { SourceCache } from "../../../storage/source_cache.js";
import { extensionOf, listArchive, unpackArchive } from "./archive.js";
import { type CsvPlaces, csvHeader, csvPlaces } from "./csv.js";
import { drivers, type FileKind, file_names, fileKind } from "./format.js";

export interface SourceWishes extends CsvPlaces {
  encoding?: string | undefined;
}

export interface VectorFinding {
  code: string;
  severity: "error" | "warning";
  message: string;
  hint: string;
}

export interface VectorSource {
  source: string;
  format: VectorFormat;
  path: string;
  driver: string;
  options: string[];
  bytes: number;
  sha256: string;
  /** Which columns of a CSV file are its places; null when none are. */
  places: CsvPlaces | null;
  findings: VectorFinding[];
}

export async function openVector(ctx: TaskContext, source: string, wishes: SourceWishes): Promise<VectorSource> {
  const folder = join(await ctx.scratch(), createHash("sha256").update(source).digest("hex").slice(0, 16));
  await mkdir(folder, { recursive: true });
  const fetched = join(folder, "fetched");
  const { bytes, sha256 } = await fetch(ctx, source, fetched);
  const opened = { source, bytes, sha256, places: null, findings: [] };
  return told(await identified(fetched, folder, source), opened, wishes);
}

async function fetch(ctx: TaskContext, source: string, path: string): Promise<{ bytes: number; sha256: string }> {
  const ref = parseZoneRef(source);
  const found = ref === null ? null : await ctx.zones.stat(ref);
  if (ref === null || found === null) {
    throw new Permanent(`there is no ${ref === null ? source : formatZoneRef(ref)}`, { code: "source_missing" });
  }
  const max_bytes = ctx.raster.source_max_bytes;
  if (found.bytes > max_bytes) {
    const mb = (value: number) => Math.round(value / 2 ** 20);
    throw new Permanent(`the source has ${mb(found.bytes)} MB; the limit is ${mb(max_bytes)} MB`, {
      code: "source_too_large",
    });
  }
  const download = () => ctx.zones.download(ref, path, { max_bytes });
  const { source_cache } = ctx.raster;
  if (source_cache === null || found.etag === "") return download();
  const identity = ["zone", ref.zone, ref.key, found.etag, String(found.bytes)];
  return new SourceCache(source_cache).provide(ctx.tenant_id, identity, path, download, ctx.signal);
}

interface Identified {
  format: VectorFormat;
  path: string;
}

async function identified(fetched: string, folder: string, source: string): Promise<Identified> {
  const name = basename(parseZoneRef(source)?.key ?? source);
  const kind = fileKind(name, await firstBytes(fetched));
  if (kind === null) throw unknown(name, (await stat(fetched)).size);
  if (kind !== "zip") {
    const path = join(folder, file_names[kind]);
    await rename(fetched, path);
    return { format: kind, path };
  }
  return unpacked(fetched, folder);
}

const shapefile_parts = new Set([".shp", ".shx", ".dbf", ".prj", ".cpg"]);

async function unpacked(archive: string, folder: string): Promise<Identified> {
  const names = (await listArchive(archive)).map(({ name }) => name);
  const target = join(folder, "unpacked");
  await mkdir(target, { recursive: true });
  const gdb = /^(?:.*\/)?([^/]+\.gdb)\//i;
  if (names.some((name) => gdb.test(name))) {
    const roots = new Set(names.flatMap((name) => /^((?:.*\/)?[^/]+\.gdb)\//i.exec(name)?.[1] ?? []));
    if (roots.size > 1) throw several([...roots]);
    const root = `${[...roots][0]}/`;
    await unpackArchive(archive, target, (name) =>
      name.startsWith(root) && !name.slice(root.length).includes("/")
        ? `source.gdb/${plain(name.slice(root.length))}`
        : null,
    );
    return { format: "filegdb", path: join(target, "source.gdb") };
  }
  if (names.some((name) => extensionOf(name) === ".shp")) {
    await unpackArchive(archive, target, (name) =>
      shapefile_parts.has(extensionOf(name)) ? plain(basename(name).replace(/\.[^.]+$/, "")) + extensionOf(name) : null,
    );
    await refuseIncomplete(target);
    return { format: "shapefile", path: target };
  }
  // The first document of a KMZ is the one; elsewhere a second file would be left out without a word.
  const known = names.filter((name) =>
    /\.(kml|gpkg|geojson|json|geojsonl|ndjson|fgb|csv|tsv|gml|parquet|geoparquet)$/i.test(name),
  );
  const kmls = known.filter((name) => extensionOf(name) === ".kml");
  const chosen = kmls.find((name) => name === "doc.kml") ?? kmls[0] ?? known[0];
  if (chosen === undefined) throw unknown(`${names.slice(0, 5).join(", ")} in the archive`, 1);
  if (kmls.length === 0 && known.length > 1) throw several(known);
  await unpackArchive(archive, target, (name) => (name === chosen ? "one" : null));
  const kind: FileKind | null = fileKind(chosen, await firstBytes(join(target, "one")));
  if (kind === null || kind === "zip") throw unknown(chosen, 1);
  const path = join(target, file_names[kind]);
  await rename(join(target, "one"), path);
  return { format: kind, path };
}

/** Names as GDAL's arguments: letters of any script stay, nothing that could be taken for more than a name. */
function plain(name: string): string {
  return name
    .normalize("NFC")
    .replace(/[^\p{L}\p{M}\p{N}._ -]/gu, "_")
    .replace(/^[-.]+/, "_");
}

async function refuseIncomplete(folder: string): Promise<void> {
  const files = new Set(await readdir(folder));
  for (const file of files) {
    if (!file.endsWith(".shp")) continue;
    const missing = [".shx", ".dbf"].filter((end) => !files.has(file.replace(/\.shp$/, end)));
    if (missing.length === 0) continue;
    throw new Permanent(`${file} is not whole: the archive has no ${missing.join(" and no ")} of that name`, {
      code: "shapefile_incomplete",
    });
  }
}

type Opened = Pick<VectorSource, "source" | "bytes" | "sha256" | "places" | "findings">;

async function told({ format, path }: Identified, opened: Opened, wishes: SourceWishes): Promise<VectorSource> {
  const source = {
    ...opened,
    format,
    path,
    driver: format === "geoparquet" ? "" : drivers[format],
    options: [] as string[],
  };
  if (format === "shapefile" && wishes.encoding !== undefined) source.options.push(`ENCODING=${wishes.encoding}`);
  if (["csv", "geojson", "geojsonseq"].includes(format)) await toUtf8(source, wishes.encoding);
  if (format === "csv") {
    const header = csvHeader((await firstBytes(path)).toString("utf8"));
    const places = csvPlaces(header, wishes);
    source.places = places?.used ?? null;
    source.options.push("AUTODETECT_TYPE=YES", "AUTODETECT_SIZE_LIMIT=0", "EMPTY_STRING_AS_NULL=YES", "HEADERS=YES");
    if (places !== null) source.options.push(...places.options);
  }
  if (format === "gpkg") source.options.push("LIST_ALL_TABLES=NO");
  return source;
}

/** GDAL takes these texts for UTF-8 whatever they are. */
async function toUtf8(source: VectorSource, encoding: string | undefined): Promise<void> {
  const wanted = encoding ?? ((await isAllUtf8(source.path)) ? "utf-8" : "windows-1252");
  if (/^utf-?8$/i.test(wanted)) return;
  let decoder: InstanceType<typeof TextDecoder>;
  try {
    decoder = new TextDecoder(wanted);
  } catch {
    throw new Permanent(`${JSON.stringify(wanted)} is no encoding that is known: give one such as windows-1252`, {
      code: "bad_encoding",
    });
  }
  if (encoding === undefined) {
    source.findings.push({
      code: "encoding_guessed",
      severity: "warning",
      message: "The text is not UTF-8 and was read as windows-1252.",
      hint: "Give encoding if letters look wrong.",
    });
  }
  const decoded = new Transform({
    transform: (piece: Buffer, _, done) => done(null, Buffer.from(decoder.decode(piece, { stream: true }))),
    flush: (done) => done(null, Buffer.from(decoder.decode())),
  });
  const before = `${source.path}.other`;
  await rename(source.path, before);
  await pipeline(createReadStream(before), decoded, createWriteStream(source.path, { flags: "wx" }));
}

async function isAllUtf8(path: string): Promise<boolean> {
  let rest = Buffer.alloc(0);
  for await (const piece of createReadStream(path, { highWaterMark: 2 ** 20 })) {
    const all = Buffer.concat([rest, piece as Buffer]);
    // A character may be cut in two: what belongs to one that begins in the last three bytes waits for the next piece.
    let end = all.length;
    for (let back = 1; back <= Math.min(3, all.length); back++) {
      const byte = all[all.length - back]!;
      if ((byte & 0xc0) !== 0x80) {
        if (byte >= 0xc0) end = all.length - back;
        break;
      }
    }
    if (!isUtf8(all.subarray(0, end))) return false;
    rest = all.subarray(end);
  }
  return isUtf8(rest);
}

async function firstBytes(path: string): Promise<Buffer> {
  const handle = await open(path);
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(64 * 1024), 0, 64 * 1024, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

function unknown(name: string, bytes: number): Permanent {
  if (bytes === 0) return new Permanent(`${name} is empty`, { code: "source_empty" });
  if (/\.(shp|dbf|shx)$/i.test(name)) {
    return new Permanent(`${name} is one file of a Shapefile: put .shp, .shx, .dbf and .prj into one .zip`, {
      code: "shapefile_incomplete",
    });
  }
  const known =
    "Shapefile (zip), GeoPackage, GeoJSON, GeoJSONSeq, FlatGeobuf, KML, KMZ, CSV, GML, FileGDB (zip), GeoParquet";
  return new Permanent(`${name} is none of the formats that can be loaded: ${known}`, { code: "unknown_format" });
}

function several(names: readonly string[]): Permanent {
  const few = names.slice(0, 5).join(", ");
  return new Permanent(`the archive holds several sources (${few}): give one archive for each`, {
    code: "archive_ambiguous",
  });
}
