// Files brought into the zone bronze: announced, sent in parts, several at a time, and gone on with where it broke off.
import type { ReplyOf } from "../core/api/endpoint.js";
import { uploads_api } from "../core/api/files/uploads.js";
import { Forbidden } from "../core/errors/errors.js";
import type { Asking, Listing } from "./operate.js";
import { listed, type Paged } from "./pages.js";
import { ServiceError } from "./told_errors.js";
import type { Transport } from "./transport.js";

export type Upload = ReplyOf<typeof uploads_api.complete>;
type WithParts = ReplyOf<typeof uploads_api.get>;
type Part = WithParts["parts"][number];

export interface UploadOptions extends Asking {
  /** Where it is to lie in bronze: dem/scene 1.tif */
  key: string;
  media_type?: string;
  /** Computed when left out, of up to 64 MB: larger ones are to be read once more for it. */
  sha256?: string;
  /** Also where a file is there already. */
  overwrite?: boolean;
  /** Parts on their way at a time. Default: 3. */
  parallel?: number;
  /** This upload is gone on with; when left out, one of the same file that was broken off. */
  upload_id?: string;
  /** How much has arrived. */
  onProgress?: (sent: number, total: number) => void;
}

const hashed_bytes = 64 * 1024 * 1024;
/** A part may be 64 MB, over any line; the store and the server each have a clock of their own. */
const part_ms = 15 * 60_000;
/** Everything is read once more before it is in its place. */
const complete_ms = 60 * 60_000;

export class Uploads {
  constructor(private readonly transport: Transport) {}

  list(options: Listing & { state?: Upload["state"]; prefix?: string } = {}): Paged<Upload> {
    return listed(this.transport, uploads_api.list, "uploads", options);
  }

  get(upload_id: string, options: Asking = {}): Promise<WithParts> {
    return this.transport.call(uploads_api.get, { params: { upload_id }, ...options });
  }

  /** One under way is given up; of a completed one the file goes. */
  remove(upload_id: string, { reason, ...options }: Asking & { reason?: string } = {}): Promise<Upload> {
    return this.transport.call(uploads_api.remove, { params: { upload_id }, query: { reason }, ...options });
  }

  /** Resolves when the file is in its place, where jobs find it as its `ref`. */
  async put(content: Blob | Uint8Array, { signal, ...options }: UploadOptions): Promise<Upload> {
    const blob = content instanceof Blob ? content : new Blob([content as Uint8Array<ArrayBuffer>]);
    const sha256 = options.sha256 ?? (blob.size <= hashed_bytes ? await sha256Of(blob) : undefined);
    let upload = await this.#begin(blob.size, { ...options, sha256, signal });
    const { upload_id } = upload;
    while (upload.missing > 0) {
      const before = upload.missing;
      await this.#send(blob, upload, options, signal);
      upload = await this.get(upload_id, { signal });
      // Nothing of it has arrived although all was sent: it would go on for ever.
      if (upload.missing >= before) throw new ServiceError("lost_parts", 502, "parts that were sent have not arrived");
    }
    options.onProgress?.(blob.size, blob.size);
    return this.transport.call(uploads_api.complete, {
      params: { upload_id },
      body: {},
      timeout_ms: complete_ms,
      signal,
    });
  }

  async #begin(bytes: number, options: UploadOptions): Promise<WithParts> {
    const { key, media_type, sha256, overwrite, signal } = options;
    const upload_id =
      options.upload_id ?? (sha256 && (await this.#brokenOff({ key, bytes, sha256, overwrite }, signal)));
    if (upload_id !== undefined) return this.get(upload_id, { signal });
    const body = { key, bytes, media_type, sha256, overwrite };
    return this.transport.call(uploads_api.begin, { body, signal });
  }

  /** The same file for the same place, as its checksum says. */
  async #brokenOff(
    {
      key,
      bytes,
      sha256,
      overwrite = false,
    }: { key: string; bytes: number; sha256: string; overwrite?: boolean | undefined },
    signal: AbortSignal | undefined,
  ): Promise<string | undefined> {
    try {
      for await (const one of this.list({ state: "open", prefix: key, signal })) {
        const is_same = one.key === key && one.bytes === bytes && one.sha256 === sha256;
        if (is_same && one.overwrite === overwrite) return one.upload_id;
      }
    } catch (error) {
      // A key that may bring files need not be one that may look at them: then it begins anew.
      if (!(error instanceof Forbidden)) throw error;
    }
    return undefined;
  }

  /** Those that the answer names. */
  async #send(
    blob: Blob,
    upload: WithParts,
    options: Pick<UploadOptions, "parallel" | "onProgress">,
    signal?: AbortSignal,
  ) {
    const { parallel = 3, onProgress } = options;
    const waiting = [...upload.parts];
    // What is not named is there, or comes after these.
    let left = upload.bytes - Math.min(upload.bytes, arrivedOf(upload));
    const given_up = new AbortController();
    const stop = () => given_up.abort(signal?.reason);
    signal?.addEventListener("abort", stop, { once: true });
    if (signal?.aborted) stop();
    const work = async () => {
      for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
        given_up.signal.throwIfAborted();
        onProgress?.(upload.bytes - left, upload.bytes);
        await this.#sendPart(blob, part, given_up.signal);
        left -= part.bytes;
        onProgress?.(upload.bytes - left, upload.bytes);
      }
    };
    try {
      const workers = Array.from({ length: Math.min(Math.max(1, parallel), waiting.length) }, work);
      // What is under way for nothing is cut short, and waited for: nothing is sent any more once this has ended.
      for (const one of workers) one.catch((error: unknown) => given_up.abort(error));
      const ends = await Promise.allSettled(workers);
      const failed = ends.find((one) => one.status === "rejected");
      if (failed !== undefined) throw failed.reason;
    } finally {
      signal?.removeEventListener("abort", stop);
    }
  }

  #sendPart(blob: Blob, { url, headers, offset, bytes }: Part, signal: AbortSignal): Promise<void> {
    return this.transport.put(url, { headers, body: blob.slice(offset, offset + bytes), timeout_ms: part_ms, signal });
  }
}

/** At least: the last part may be the short one. */
function arrivedOf({ part_count, missing, part_bytes, parts, bytes }: WithParts): number {
  const named = parts.reduce((sum, part) => sum + part.bytes, 0);
  const others = Math.max(0, missing - parts.length) * part_bytes;
  return part_count === missing ? 0 : Math.max(0, bytes - named - others);
}

async function sha256Of(blob: Blob): Promise<string> {
  const digest = new Uint8Array(await globalThis.crypto.subtle.digest("SHA-256", await blob.arrayBuffer()));
  return [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
