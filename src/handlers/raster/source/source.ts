// From what a user names (bronze:key or https://…) to a local file an engine may open: looked at through its header before a byte more is
// fetched, copied into the task's scratch directory, and looked at again, because what was fetched need not be what was looked at.
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { chmod, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { Permanent } from "../../../core/errors/errors.js";
import { quoted } from "../../../core/errors/problems.js";
import { formatZoneRef, parseZoneRef, type ZoneRef } from "../../../core/places/zones.js";
import type { TaskContext } from "../../../core/task/context.js";
import { type Preflight, type PreflightOptions, preflight, type RasterLimits } from "../../../geo/preflight.js";
import type { Finding } from "../../../geo/raster.js";
import type { RangeReader, TiffHeader } from "../../../geo/tiff/tiff_header.js";
import { type CachedFile, SourceCache } from "../../../storage/source_cache.js";
import type { RasterEngine } from "../gdal/engine.js";
import { fetchUrl, openUrl } from "./source_url.js";

export interface SourceLimits {
  /** The most bytes of the file; default 16 GB. */
  max_bytes?: number;
  /** For the whole of a download over https; default 30 minutes. */
  download_s?: number;
  raster?: Partial<RasterLimits>;
  source_crs?: string | null;
}

export interface OpenedSource {
  /** All remarks about the header; with an error among them there is no file. */
  findings: Finding[];
  header: TiffHeader | null;
  file: LocalSource | null;
}

export interface LocalSource extends CachedFile {
  /** In ctx.scratch(); read-only. */
  path: string;
  /** The entity tag of the store or the server, if it gave one. */
  etag: string | null;
  from_cache: boolean;
}

/** Where a source lies, with the two ways to read it. */
export interface Remote {
  bytes: number;
  etag: string | null;
  /** null: only as a whole. */
  read: RangeReader | null;
  /** What it is called in the cache; null when nobody can tell whether it has changed. */
  identity: string[] | null;
  fetch(path: string): Promise<CachedFile>;
}

const default_max_bytes = 16 * 2 ** 30;
const default_download_s = 1800;

/** Findings are an answer; what throws is a source that is not there or cannot be reached. */
export async function openSource(
  ctx: TaskContext,
  source: string,
  engine: Pick<RasterEngine, "codecs">,
  limits: SourceLimits = {},
): Promise<OpenedSource> {
  const remote = await findSource(ctx, source, limits);
  const options: PreflightOptions = {
    codecs: engine.codecs,
    source_crs: limits.source_crs ?? null,
    limits: limits.raster,
  };
  if (remote.read !== null) {
    const before = await preflight(remote.read, remote.bytes, options);
    if (!before.ok) return { findings: before.findings, header: before.header, file: null };
  }
  const path = join(await ctx.scratch(), `${randomUUID()}.tif`);
  const got = await cached(ctx, remote.identity, path, () => remote.fetch(path));
  const after = await checkLocalFile(path, options);
  if (after.ok) return { ...after, file: { ...got, path, etag: remote.etag } };
  await rm(path, { force: true });
  return { findings: after.findings, header: after.header, file: null };
}

/** At `path`, read-only: from the cache of this machine, or by `fetch`. */
export async function cached(
  ctx: TaskContext,
  identity: string[] | null,
  path: string,
  fetch: () => Promise<CachedFile>,
): Promise<CachedFile & { from_cache: boolean }> {
  const { source_cache } = ctx.raster;
  const got =
    source_cache === null || identity === null
      ? { ...(await fetch()), from_cache: false }
      : await new SourceCache(source_cache).provide(ctx.tenant_id, identity, path, fetch, ctx.signal);
  await chmod(path, 0o444);
  return got;
}

export async function checkLocalFile(path: string, options: PreflightOptions): Promise<Preflight> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { size } = await handle.stat();
    const read: RangeReader = async (offset, length) => {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(length), 0, length, offset);
      return buffer.subarray(0, bytesRead);
    };
    return await preflight(read, size, options);
  } finally {
    await handle.close();
  }
}

export async function findSource(ctx: TaskContext, source: string, limits: SourceLimits): Promise<Remote> {
  const { max_bytes = default_max_bytes, download_s = default_download_s } = limits;
  const remote = await found(ctx, source, max_bytes, download_s);
  if (remote.bytes > max_bytes) throw tooLarge(remote.bytes, max_bytes);
  return remote;
}

async function found(ctx: TaskContext, source: string, max_bytes: number, download_s: number): Promise<Remote> {
  const ref = parseZoneRef(source);
  if (ref !== null) return inZone(ctx, ref, max_bytes);
  if (/^https?:\/\//i.test(source)) return atUrl(ctx, source, max_bytes, download_s);
  throw new Permanent(`${quoted(source)} is not a source: write bronze:<key> or https://…`, { code: "bad_source" });
}

async function inZone(ctx: TaskContext, ref: ZoneRef, max_bytes: number): Promise<Remote> {
  const found = await ctx.zones.stat(ref);
  if (found === null) throw new Permanent(`there is no ${formatZoneRef(ref)}`, { code: "source_missing" });
  return {
    bytes: found.bytes,
    etag: found.etag,
    read: inPieces((offset, length) => ctx.zones.read(ref, offset, length), found.bytes),
    identity: found.etag === "" ? null : ["zone", ref.zone, ref.key, found.etag, String(found.bytes)],
    fetch: async (path) => {
      const got = await ctx.zones.download(ref, path, { max_bytes });
      return { bytes: got.bytes, sha256: got.sha256 };
    },
  };
}

/** A header is read in many small steps, and each may be a call to a store far away. */
function inPieces(read: RangeReader, size: number): RangeReader {
  const piece_bytes = 128 * 1024;
  const pieces = new Map<number, Uint8Array>();
  return async (offset, length) => {
    const end = Math.min(offset + length, size);
    if (end <= offset) return new Uint8Array();
    const first = Math.floor(offset / piece_bytes);
    // What is not of a header's kind is not worth keeping.
    if (Math.floor((end - 1) / piece_bytes) !== first || pieces.size > 64) return read(offset, end - offset);
    const piece =
      pieces.get(first) ?? (await read(first * piece_bytes, Math.min(piece_bytes, size - first * piece_bytes)));
    pieces.set(first, piece);
    return piece.subarray(offset - first * piece_bytes, end - first * piece_bytes);
  };
}

async function atUrl(ctx: TaskContext, url: string, max_bytes: number, download_s: number): Promise<Remote> {
  const policy = {
    ...ctx.outbound,
    // Limits of API calls are not limits of rasters, which have their own.
    max_response_bytes: max_bytes + 1,
    max_decompressed_bytes: max_bytes + 1,
    total_timeout_ms: download_s * 1000,
  };
  const found = await openUrl({ url, policy, signal: ctx.signal });
  return {
    bytes: found.bytes ?? 0,
    etag: found.etag,
    read: found.read,
    identity: found.etag === null || found.bytes === null ? null : ["url", url, found.etag, String(found.bytes)],
    fetch: (path) => fetchUrl({ url, policy, signal: ctx.signal, path, max_bytes, expected: found }),
  };
}

export function tooLarge(bytes: number, max_bytes: number): Permanent {
  const mb = (value: number) => Math.round(value / 2 ** 20);
  return new Permanent(`the source has ${mb(bytes)} MB; the limit is ${mb(max_bytes)} MB`, {
    code: "source_too_large",
  });
}
