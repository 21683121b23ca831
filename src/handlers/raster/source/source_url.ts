// A raster behind an https:// address, through the guard every outgoing call goes through: its header by ranges where the server gives
// them, its whole as a stream into a file, never more bytes than allowed.
import { createHash } from "node:crypto";
import { open, rm } from "node:fs/promises";
import { Permanent, Throttled, Transient } from "../../../core/errors/errors.js";
import type { OutboundPolicy } from "../../../core/places/outbound.js";
import type { RangeReader } from "../../../geo/tiff/tiff_header.js";
import type { CachedFile } from "../../../storage/source_cache.js";
import { type GuardedHead, guardedExchange } from "../../connectors/guard/index.js";

interface Address {
  url: string;
  policy: OutboundPolicy;
  signal: AbortSignal;
}

export interface FoundUrl {
  /** null: the server does not say. */
  bytes: number | null;
  /** Strong ones only: others do not tell versions apart. */
  etag: string | null;
  read: RangeReader | null;
}

/** A header is mostly at the front: most files need this one request. */
const piece_bytes = 256 * 1024;
const most_pieces = 64;

export async function openUrl(address: Address): Promise<FoundUrl> {
  const pieces = new Map<number, Uint8Array>();
  let facts = { bytes: null as number | null, etag: null as string | null };
  const fetchPiece = async (at: number): Promise<Uint8Array | null> => {
    const known = pieces.get(at);
    if (known !== undefined) return known;
    if (pieces.size >= most_pieces) throw new Permanent("the header of the source is too long", { code: "bad_source" });
    const got = await rangeOf(address, at * piece_bytes, piece_bytes);
    if (at === 0) facts = { bytes: got.bytes, etag: got.etag };
    else if (got.etag !== facts.etag || got.bytes !== facts.bytes) throw changed();
    if (got.body === null) return null;
    pieces.set(at, got.body);
    return got.body;
  };
  const first = await fetchPiece(0);
  if (first === null) return { ...facts, read: null };
  const read: RangeReader = async (offset, length) => {
    const parts: Uint8Array[] = [];
    const end = Math.min(offset + length, facts.bytes ?? offset + length);
    for (let at = Math.floor(offset / piece_bytes); at * piece_bytes < end; at++) {
      const piece = await fetchPiece(at);
      if (piece === null) throw changed();
      const start = at * piece_bytes;
      parts.push(piece.subarray(Math.max(0, offset - start), Math.max(0, end - start)));
      if (piece.length < piece_bytes) break;
    }
    return Buffer.concat(parts);
  };
  return { ...facts, read };
}

/** `body` is null when the server does not give ranges: then nothing of it was read. */
async function rangeOf({ url, policy, signal }: Address, offset: number, length: number) {
  const headers = { range: `bytes=${offset}-${offset + length - 1}`, "accept-encoding": "identity" };
  return guardedExchange({ url, policy, signal, headers }, async (head, body) => {
    const etag = strongEtag(head);
    if (head.status === 416) return { bytes: 0, etag, body: new Uint8Array() };
    refuseStatus(head);
    const total = /^bytes \d+-\d+\/(\d+)$/.exec(head.headers["content-range"] ?? "")?.[1];
    if (head.status !== 206 || total === undefined || isEncoded(head)) {
      const bytes = isEncoded(head) ? null : lengthOf(head);
      return { bytes, etag, body: null };
    }
    const parts: Uint8Array[] = [];
    let got = 0;
    for await (const piece of body) {
      parts.push(piece);
      got += piece.length;
      if (got >= length) break;
    }
    return { bytes: Number(total), etag, body: new Uint8Array(Buffer.concat(parts).subarray(0, length)) };
  });
}

interface Fetch extends Address {
  path: string;
  max_bytes: number;
  expected: Pick<FoundUrl, "bytes" | "etag">;
}

export async function fetchUrl({ url, policy, signal, path, max_bytes, expected }: Fetch): Promise<CachedFile> {
  const file = await open(path, "wx", 0o600);
  let complete = false;
  try {
    const headers = { "accept-encoding": "identity" };
    const got = await guardedExchange({ url, policy, signal, headers }, async (head, body) => {
      refuseStatus(head);
      const hash = createHash("sha256");
      let bytes = 0;
      for await (const piece of body) {
        bytes += piece.length;
        if (bytes > max_bytes) throw tooMuch(max_bytes);
        hash.update(piece);
        await file.writeFile(piece);
      }
      if (body.truncated) throw tooMuch(max_bytes);
      const is_other =
        (expected.bytes !== null && bytes !== expected.bytes) ||
        (expected.etag !== null && strongEtag(head) !== expected.etag);
      if (is_other) throw changed();
      return { bytes, sha256: hash.digest("hex") };
    });
    complete = true;
    return got;
  } finally {
    await file.close();
    if (!complete) await rm(path, { force: true });
  }
}

function refuseStatus({ status, headers, url }: GuardedHead): void {
  if (status === 200 || status === 206) return;
  const { host } = new URL(url);
  const told = `${host} answered ${status} for the source`;
  if (status === 429 || status === 503) {
    const seconds = Number(headers["retry-after"]);
    throw new Throttled(Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, 3600) : undefined, told);
  }
  if (status >= 500 || status === 408) throw new Transient(told, { code: "source_unavailable" });
  throw new Permanent(told, { code: status === 404 || status === 410 ? "source_missing" : "source_refused" });
}

function strongEtag({ headers }: GuardedHead): string | null {
  const etag = headers.etag ?? "";
  return /^"[^"]{1,200}"$/.test(etag) ? etag : null;
}

function isEncoded({ headers }: GuardedHead): boolean {
  return !["", "identity"].includes((headers["content-encoding"] ?? "").trim().toLowerCase());
}

function lengthOf({ headers }: GuardedHead): number | null {
  const text = headers["content-length"] ?? "";
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}

function changed(): Transient {
  return new Transient("the source changed while it was read", { code: "source_changed" });
}

function tooMuch(max_bytes: number): Permanent {
  const mb = Math.round(max_bytes / 2 ** 20);
  return new Permanent(`the source has more than ${mb} MB, which is the limit`, { code: "source_too_large" });
}
