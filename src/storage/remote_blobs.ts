// What the SDKs of both vendors have in common: objects described and read, and their errors told as ours.
import type { BlobStat } from "../core/zones.js";
import { unavailableBlob } from "./blob_errors.js";

/** What breaks on the way is the store's trouble, and says of which object. */
export async function* told(body: AsyncIterable<Uint8Array>, key: string): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw unavailableBlob("read", key, error);
  }
}

export function withSignal(signal: AbortSignal | undefined) {
  return signal === undefined ? {} : { abortSignal: signal };
}

export function statOf(bytes: number | undefined, etag: string | undefined, modified: Date | undefined): BlobStat {
  return { bytes: bytes ?? 0, etag: plainEtag(etag) ?? "", modified_at: (modified ?? new Date(0)).toISOString() };
}

/** Without the quotes of HTTP. */
export function plainEtag(etag: string | undefined): string | undefined {
  return etag?.replaceAll('"', "");
}
