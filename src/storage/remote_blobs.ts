// What the SDKs of both vendors have in common: objects described and read, and their errors told as ours.
import { Readable } from "node:stream";
import type { BlobStat } from "../core/places/zones.js";
import { missingBlob, unavailableBlob } from "./blob_errors.js";

/** What breaks on the way is the store's trouble, and says of which object. */
export async function* told(body: AsyncIterable<Uint8Array>, key: string): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw unavailableBlob("read", key, error);
  }
}

/** No byte of an object, which must be there all the same. */
export async function nothingOf(key: string, stat: (key: string) => Promise<BlobStat | null>) {
  const found = await stat(key);
  if (found === null) throw missingBlob(key);
  return { stat: found, pieces: Readable.from([]) as AsyncIterable<Uint8Array>, close: async () => {} };
}

export function withSignal(signal: AbortSignal | undefined) {
  return signal === undefined ? {} : { abortSignal: signal };
}

export function typeHeader(media_type: string | undefined): Record<string, string> {
  return media_type === undefined ? {} : { "content-type": media_type };
}

export function statOf(bytes: number | undefined, etag: string | undefined, modified: Date | undefined): BlobStat {
  return { bytes: bytes ?? 0, etag: plainEtag(etag) ?? "", modified_at: (modified ?? new Date(0)).toISOString() };
}

/** Without the quotes of HTTP. */
export function plainEtag(etag: string | undefined): string | undefined {
  return etag?.replaceAll('"', "");
}
