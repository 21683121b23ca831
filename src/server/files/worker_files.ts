// GET of a zone's file for a worker: bytes, whole or by range, or the way to the bucket it lies in. Recorded or not: a task sees all files of its tenant.
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import { NotFound, StorageError } from "../../core/errors/errors.js";
import { formatZoneRef, type ZoneRef } from "../../core/places/zones.js";
import type { BlobStore } from "../../storage/blob_store.js";
import { wantedBytes } from "./byte_range.js";

/** How long the store's own address is good: to begin to read, not to end. */
const REDIRECT_S = 900;

export async function sendZoneFile(
  store: BlobStore,
  ref: ZoneRef,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const found = await store.stat(ref.key);
  if (found === null) throw missing(ref);
  const signed = await store.signedUrl(ref.key, { expires_s: REDIRECT_S });
  if (signed !== null) {
    end(request, reply, 302, { location: signed, "content-length": 0 });
    return;
  }
  const wanted = wantedBytes(request.headers.range, found.bytes);
  if (wanted.kind === "unsatisfiable") {
    end(request, reply, 416, { "content-range": `bytes */${found.bytes}`, "content-length": 0 });
    return;
  }
  const [from, to] = wanted.kind === "part" ? [wanted.from, wanted.to] : [0, found.bytes - 1];
  const length = to - from + 1;
  const reading = await store.read(ref.key, { offset: from, length }).catch((error: unknown) => {
    throw error instanceof StorageError && error.reason === "missing" ? missing(ref) : error;
  });
  reply.hijack();
  reply.raw.writeHead(wanted.kind === "part" ? 206 : 200, {
    ...usual(request),
    etag: `"${reading.stat.etag}"`,
    "content-length": length,
    ...(wanted.kind === "part" ? { "content-range": `bytes ${from}-${to}/${found.bytes}` } : {}),
  });
  // If it breaks on the way the connection is cut: nobody must take a part for the whole.
  await pipeline(Readable.from(reading.pieces), reply.raw)
    .catch(() => reply.raw.destroy())
    .finally(() => reading.close());
}

function usual(request: FastifyRequest) {
  return {
    "content-type": "application/octet-stream",
    "accept-ranges": "bytes",
    "cache-control": "private, no-store",
    "x-content-type-options": "nosniff",
    "x-request-id": request.id,
  };
}

function end(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  more: Record<string, string | number>,
): void {
  reply.hijack();
  reply.raw.writeHead(status, { ...usual(request), ...more });
  reply.raw.end();
}

function missing(ref: ZoneRef): NotFound {
  return new NotFound(`there is no file ${formatZoneRef(ref)}`, { hint: "GET …/files lists what there is" });
}
