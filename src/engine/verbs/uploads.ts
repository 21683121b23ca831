// Files that clients bring into bronze. The row says what was announced, the parts lie in a store beside the zone, and the file appears under
// its key in one step, once everything that was announced has arrived and is what it was said to be.
import { createHash } from "node:crypto";
import {
  most_parts,
  server_part_bytes,
  store_part_bytes,
  type UploadRecord,
  type UploadWithParts,
} from "../../core/api/files/uploads.js";
import { BadRequest, BeyondLimit, Conflict, NotAllowedNow, StorageError, TooLarge } from "../../core/errors/errors.js";
import type { BlobStore } from "../../storage/blob_store.js";
import { readableProblem } from "../../storage/keys.js";
import type { Zones } from "../../storage/zones.js";
import type { Queryable } from "../database/database.js";
import { asked } from "./reply.js";

export interface UploadLimits {
  /** The most bytes of one file. */
  max_bytes: number;
  /** The most bytes of all files that a tenant has brought and is bringing. */
  tenant_bytes: number;
  /** The bytes of one part; tests have smaller ones. */
  part_bytes?: number;
}

export const default_upload_limits: UploadLimits = { max_bytes: 20 * 1024 ** 3, tenant_bytes: 200 * 1024 ** 3 };

export interface NewUpload {
  key: string;
  bytes: number;
  sha256?: string | undefined;
  media_type?: string | undefined;
  overwrite?: boolean;
  actor?: string | undefined;
}

/** How many missing parts are told at a time, and how long a store's address for one is good. */
const TOLD = 100;
const SIGNED_S = 3_600;
const zone = "bronze";

export class Uploads {
  readonly #keep_s: number;

  constructor(
    private readonly db: Queryable,
    private readonly tenant: string,
    private readonly zones: Zones,
    private readonly limits: UploadLimits,
    /** How long one is kept that nobody goes on with. */
    keep_h: number,
  ) {
    this.#keep_s = keep_h * 3600;
  }

  async begin({ key, bytes, ...more }: NewUpload): Promise<UploadWithParts> {
    const problem = readableProblem(key);
    if (problem !== null) {
      throw new BadRequest("the upload is refused", {
        problems: [{ path: "body.key", problem, fix: "Give a name such as dem/scene 1.tif." }],
      });
    }
    const { max_bytes, tenant_bytes } = this.limits;
    if (bytes > max_bytes) {
      throw new TooLarge(`the file has ${bytes} bytes, and ${max_bytes} is the most`, {
        hint: "the operator sets it: FANFOLD_UPLOAD_MAX_MB",
      });
    }
    if (more.overwrite !== true) await this.#assertFree(key);
    const signed = await this.#parts.signedPut("probe", { expires_s: SIGNED_S });
    const least = this.limits.part_bytes ?? (signed === null ? server_part_bytes : store_part_bytes);
    const part_bytes = Math.max(least, Math.ceil(bytes / most_parts / least) * least);
    const request = { ...more, key, bytes, part_bytes, tenant_bytes, expires_s: this.#keep_s, tenant: this.tenant };
    const record = await asked<UploadRecord>(
      this.db.sql`select app.begin_upload(${JSON.stringify(request)}::text::json) as reply`,
    );
    return this.#withParts(record, new Map());
  }

  /** Which parts are missing, and where to send them. */
  async look(upload_id: string): Promise<UploadWithParts> {
    const record = await this.#get(upload_id);
    return this.#withParts(record, await this.#arrived(record));
  }

  /** How large this part of an upload that awaits parts is to be. */
  async expected(upload_id: string, part: number): Promise<number> {
    const record = await this.#get(upload_id);
    if (record.state !== "open") throw new NotAllowedNow(`this upload is ${record.state}: it takes no more parts`);
    const count = partCount(record);
    if (part > count) {
      throw new BadRequest(`there is no part ${part}`, {
        hint: `this upload has ${count}; see GET /api/files/${upload_id}`,
      });
    }
    return partOf(record, part).bytes;
  }

  /** Whole or not at all: a part that ends early, or goes on, is not stored. */
  async putPart(upload_id: string, part: number, bytes: number, pieces: AsyncIterable<Uint8Array>) {
    const written = await this.#parts.write(partKey(upload_id, part), exactly(pieces, bytes), { bytes });
    return { part, bytes: written.bytes, sha256: written.sha256 };
  }

  /** Puts the file in its place. A caller that was interrupted, or asks twice at a time, comes to the same end. */
  async complete(upload_id: string, actor?: string): Promise<UploadRecord> {
    const begun = await this.#get(upload_id);
    if (begun.state === "completed") return begun;
    const missing = this.#missing(begun, await this.#arrived(begun));
    if (missing.length > 0) {
      const again = await this.#get(upload_id);
      if (again.state === "completed") return again;
      const parts = partCount(begun) === 1 ? "the file" : `${missing.length} of ${partCount(begun)} parts`;
      throw new NotAllowedNow(`${parts} has not arrived, or is not of the size that was announced`, {
        hint: `GET /api/files/${upload_id} tells where to send what is missing`,
      });
    }
    if (begun.state === "open" && !begun.overwrite) await this.#assertFree(begun.key);
    await asked(this.db.sql`select app.take_upload_key(${upload_id}::uuid, ${this.tenant}::text) as reply`);
    const found = await this.#publish(begun).catch(async (error: unknown) => {
      if (error instanceof StorageError && error.reason === "missing") {
        // Somebody else has just put it in its place, and removed the parts.
        const now = await this.#get(upload_id);
        if (now.state === "completed") return null;
      }
      if (error instanceof Altered) await this.remove(upload_id, { actor, reason: "its checksum is another one" });
      throw error;
    });
    if (found === null) return this.#get(upload_id);
    const done = await asked<UploadRecord>(
      this.db
        .sql`select app.end_upload(${upload_id}::uuid, ${found}::text, ${actor ?? null}::text, ${this.tenant}::text) as reply`,
    );
    await this.#removeParts(upload_id);
    return done;
  }

  /** One under way is given up; of a completed one the file goes. */
  async remove(upload_id: string, { actor, reason }: { actor?: string | undefined; reason?: string | undefined } = {}) {
    const record = await this.#get(upload_id);
    if (record.state === "completed") {
      await this.db.sql`select app.retract_asset(${zone}::text, ${record.key}::text, ${this.tenant}::text)`;
      await this.#files.remove(record.key);
    }
    const gone = await asked<UploadRecord>(
      this.db
        .sql`select app.forget_upload(${upload_id}::uuid, ${actor ?? null}::text, ${reason ?? null}::text, ${this.tenant}::text) as reply`,
    );
    await this.#removeParts(upload_id);
    return gone;
  }

  get #parts(): BlobStore {
    return this.zones.parts(zone, this.tenant);
  }

  get #files(): BlobStore {
    return this.zones.store(zone, this.tenant);
  }

  #get(upload_id: string): Promise<UploadRecord> {
    return asked(
      this.db.sql`select app.get_upload(${upload_id}::uuid, ${this.#keep_s}::float8, ${this.tenant}::text) as reply`,
    );
  }

  async #assertFree(key: string): Promise<void> {
    if ((await this.#files.stat(key)) === null) return;
    throw new Conflict(`bronze:${key} is there already`, {
      hint: 'choose another key, or upload it with "overwrite": true',
    });
  }

  /** Gives the checksum. What is another one is not stored. */
  async #publish(upload: UploadRecord): Promise<string> {
    const { key, media_type, bytes, sha256: wanted } = upload;
    const hash = createHash("sha256");
    const store = this.#parts;
    async function* whole(): AsyncGenerator<Uint8Array> {
      for (let part = 1; part <= partCount(upload); part++) {
        const { pieces, close } = await store.read(partKey(upload.upload_id, part));
        try {
          for await (const piece of exactly(pieces, partOf(upload, part).bytes)) {
            hash.update(piece);
            yield piece;
          }
        } finally {
          await close();
        }
      }
      const found = hash.copy().digest("hex");
      if (wanted !== null && found !== wanted) throw new Altered(found, wanted);
    }
    const { sha256 } = await this.#files.write(key, whole(), { media_type, bytes });
    return sha256;
  }

  async #arrived({ upload_id, state }: UploadRecord): Promise<Map<number, number>> {
    const found = new Map<number, number>();
    if (state === "completed") return found;
    for (let after: string | undefined; ; ) {
      const page = await this.#parts.list(`${upload_id}/`, { after });
      for (const { key, bytes } of page.entries) found.set(Number(key.slice(upload_id.length + 1)), bytes);
      if (page.next === null) return found;
      after = page.next;
    }
  }

  #missing(upload: UploadRecord, arrived: ReadonlyMap<number, number>): number[] {
    if (upload.state === "completed") return [];
    const all = Array.from({ length: partCount(upload) }, (_, at) => at + 1);
    return all.filter((part) => arrived.get(part) !== partOf(upload, part).bytes);
  }

  async #withParts(upload: UploadRecord, arrived: ReadonlyMap<number, number>): Promise<UploadWithParts> {
    const missing = this.#missing(upload, arrived);
    const parts = await Promise.all(
      missing.slice(0, TOLD).map(async (part) => {
        const signed = await this.#parts.signedPut(partKey(upload.upload_id, part), { expires_s: SIGNED_S });
        const { url, headers } = signed ?? { url: `/api/files/${upload.upload_id}/parts/${part}`, headers: {} };
        return { part, ...partOf(upload, part), method: "PUT" as const, url, headers };
      }),
    );
    return { ...upload, part_count: partCount(upload), missing: missing.length, parts };
  }

  async #removeParts(upload_id: string): Promise<void> {
    for (;;) {
      const { entries } = await this.#parts.list(`${upload_id}/`);
      if (entries.length === 0) return;
      for (const { key } of entries) await this.#parts.remove(key);
    }
  }
}

/** Its parts were read whole, and are not the file that was announced. */
class Altered extends BeyondLimit {
  constructor(found: string, wanted: string) {
    super(`the file that has arrived has the SHA-256 ${found}, and ${wanted} was announced`, {
      hint: "it was not taken, and the upload is over: begin again with POST /api/files",
    });
  }
}

/** An empty file has one part, of nothing. */
function partCount({ bytes, part_bytes }: Pick<UploadRecord, "bytes" | "part_bytes">): number {
  return Math.max(1, Math.ceil(bytes / part_bytes));
}

function partOf({ bytes, part_bytes }: UploadRecord, part: number): { offset: number; bytes: number } {
  const offset = (part - 1) * part_bytes;
  return { offset, bytes: Math.min(part_bytes, bytes - offset) };
}

/** In the order of the parts, as text. */
function partKey(upload_id: string, part: number): string {
  return `${upload_id}/${String(part).padStart(5, "0")}`;
}

/** Stores nothing of a source that has another number of bytes. */
async function* exactly(pieces: AsyncIterable<Uint8Array>, bytes: number): AsyncGenerator<Uint8Array> {
  let left = bytes;
  for await (const piece of pieces) {
    left -= piece.byteLength;
    if (left < 0) break;
    yield piece;
  }
  if (left !== 0) {
    throw new BadRequest(left < 0 ? "the part is too long" : `the part ends ${left} bytes early`, {
      hint: `it has ${bytes} bytes: see \`parts\` of GET /api/files/{upload_id}`,
    });
  }
}
