// The zones for workers over HTTP. A file of a task lies under a key of its attempt, as it does for a worker on the database; here the server makes
// the key, and the bytes go to the store's own address or, where it cannot sign one, through the server. Nothing is remembered between
// the calls: the key itself proves whose it is.
import { randomBytes, randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NewFile, NewSpill, UploadQuery, UploadTarget } from "../../core/api/work/files.js";
import { largest_signed_upload, largest_spill, part_bytes } from "../../core/api/work/limits.js";
import { BadRequest, isFanfoldError, NotFound, StorageError, TooLarge, Unavailable } from "../../core/errors/errors.js";
import type { Problem } from "../../core/errors/problems.js";
import { type Store, tenantPrefix } from "../../core/places/store.js";
import { type BlobPage, type BlobStat, formatZoneRef, type ZoneName, type ZoneRef } from "../../core/places/zones.js";
import { type Arrived, type ArrivingFiles, openArrivingFiles } from "../../storage/arriving_files.js";
import { attemptOf, attemptToken } from "../../storage/attempt_token.js";
import { type BlobStore, piecesOfFile } from "../../storage/blob_store.js";
import { keySegments, readableProblem } from "../../storage/keys.js";
import { blobsOf } from "../../storage/open_blobs.js";
import type { Zones } from "../../storage/zones.js";
import type { Database } from "../database/database.js";
import { deploymentOf } from "../verbs/assets.js";
import { known } from "./remote_results.js";
import { placeOf } from "./remote_task.js";
import type { TenantSession } from "./tenant_session.js";

/** How long a store's own address is good: to begin to write. */
const SIGNED_S = 3600;

export interface HeldAttempt {
  task_id: string;
  claim_id: number;
  attempt: number;
}

export interface FilePart {
  offset: number;
  bytes: number;
  pieces: AsyncIterable<Uint8Array>;
}

/** What a store says, as the caller is to hear it: a key that cannot be is the caller's, a store that is away will be back. */
async function told<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    const { message, hint, reason } = error;
    const details = { cause: error, ...(hint === null ? {} : { hint }) };
    if (reason === "bad_key") throw new BadRequest(message, details);
    if (reason === "missing") throw new NotFound(message, details);
    throw new Unavailable("the store of the zone does not answer as it should", { cause: error, hint: "try again" });
  }
}

export class RemoteFiles {
  constructor(
    private readonly db: Database,
    private readonly session: TenantSession,
    private readonly store: Store,
    private readonly zones: Zones,
  ) {}

  /** Where the bytes of a new file go. */
  async begin(worker_id: string, given: NewFile | NewSpill): Promise<UploadTarget> {
    await this.assertHeld(worker_id, given);
    if ("spill" in given) return this.#beginSpill(worker_id, given);
    const { zone, media_type, bytes } = given;
    const key = await this.#newKey(given);
    const blobs = this.zones.store(zone, this.session.tenant);
    const facts = { zone, key, ref: formatZoneRef({ zone, key }), href: blobs.href(key) };
    const signed = await told(() => blobs.signedPut(key, { expires_s: SIGNED_S, media_type }));
    if (signed === null) return { ...facts, upload: this.#toServer(worker_id, given, { zone, key, media_type }) };
    if (bytes > largest_signed_upload) {
      throw new TooLarge(
        `a file of ${bytes} bytes cannot be put into a bucket in one go; ${largest_signed_upload} can`,
        {
          hint: "split it, or run the handler in a worker on the database, which sends it in parts",
        },
      );
    }
    const { url, headers } = signed;
    const upload = { method: "PUT" as const, url, headers, resumable: false, part_bytes: null, expires_s: SIGNED_S };
    return { ...facts, upload };
  }

  async #newKey({ task_id, attempt, zone, prefix, name }: NewFile): Promise<string> {
    const clean = prefix.replace(/\/$/, "");
    const problems: Problem[] = [];
    for (const [path, text] of [
      ["body.prefix", clean],
      ["body.name", name],
    ] as const) {
      try {
        if (path === "body.name" && text.includes("/")) throw new BadRequest("it has a / in it");
        keySegments(text);
      } catch (error) {
        if (!isFanfoldError(error)) throw error;
        problems.push({ path, problem: error.title, fix: error.hint ?? "Give the last part of the key only." });
      }
    }
    if (problems.length > 0) throw new BadRequest("the file has a name that no key can have", { problems });
    const place = { deployment: await deploymentOf(this.db), tenant_id: this.session.tenant, zone, prefix: clean };
    const token = attemptToken(place, { ...placeOf(task_id), attempt }, randomBytes(6).toString("hex"));
    return `${clean}/${token}/${name}`;
  }

  #beginSpill(worker_id: string, given: NewSpill): UploadTarget {
    const { task_id, claim_id, attempt, bytes } = given;
    if (bytes > largest_spill) {
      throw new TooLarge(`a result of ${bytes} bytes is too large; the limit is ${largest_spill}`, {
        hint: "put the data into a zone and return a reference",
      });
    }
    const { stage_id, ordinal } = placeOf(task_id);
    // As spilled() of src/worker/finish names it: the sweep knows it by this.
    const execution = `${attempt}-${claim_id}-${worker_id}-${randomUUID()}`;
    const key = `${tenantPrefix(this.session.tenant)}results/${stage_id}/${ordinal}/${execution}.json`;
    return { zone: null, key, ref: null, href: null, upload: this.#toServer(worker_id, given, { key }) };
  }

  /** Everything that has been announced stands in the address. */
  #toServer(
    worker_id: string,
    { task_id, claim_id, attempt, bytes, sha256 }: NewFile | NewSpill,
    place: { zone?: ZoneName; key: string; media_type?: string },
  ): UploadTarget["upload"] {
    const query = new URLSearchParams({ task_id, claim_id: String(claim_id), attempt: String(attempt) });
    for (const [name, value] of Object.entries({ ...place, bytes: String(bytes), sha256 })) {
      if (value !== undefined) query.append(name, value);
    }
    return {
      method: "PUT",
      url: `/api/workers/${worker_id}/files/upload?${query}`,
      headers: { "content-type": "application/octet-stream" },
      resumable: true,
      part_bytes,
      expires_s: null,
    };
  }

  arrived(worker_id: string, target: UploadQuery): Promise<Arrived> {
    return told(() => this.#arrived(worker_id, target));
  }

  async #arrived(worker_id: string, target: UploadQuery): Promise<Arrived> {
    await this.#assertOwn(worker_id, target);
    if ((await this.#stored(target)) === target.bytes) return { received: target.bytes, complete: true, sha256: null };
    const received = await this.#arriving(target).received(target.key);
    return { received, complete: false, sha256: null };
  }

  /** One part, or all of it. Sent again after it was complete, it is complete. */
  receive(worker_id: string, target: UploadQuery, part: FilePart): Promise<Arrived> {
    return told(() => this.#receive(worker_id, target, part));
  }

  async #receive(worker_id: string, target: UploadQuery, { offset, bytes, pieces }: FilePart): Promise<Arrived> {
    await this.#assertOwn(worker_id, target);
    const { key, bytes: total, sha256 } = target;
    if ((await this.#stored(target)) === total) return { received: total, complete: true, sha256: null };
    return this.#arriving(target).add(key, { offset, bytes, total, sha256, pieces });
  }

  async #stored({ zone, key, bytes }: UploadQuery): Promise<number | null> {
    const blobs = zone === undefined ? this.#spills() : this.#blobs(zone);
    const found = (await blobs?.stat(key)) ?? null;
    return found?.bytes === bytes ? bytes : null;
  }

  #blobs(zone: ZoneName): BlobStore {
    return this.zones.store(zone, this.session.tenant);
  }

  /** Large results, as files. */
  #spills(): BlobStore | null {
    return blobsOf(this.store);
  }

  /** Beside where the file is to lie, if that is a folder; else on this machine, until it is whole and goes to its store. */
  #arriving({ zone, media_type }: Pick<UploadQuery, "zone" | "media_type">): ArrivingFiles {
    const beside = (zone === undefined ? this.#spills() : this.#blobs(zone))?.arriving;
    if (beside !== undefined) return beside;
    return openArrivingFiles(join(tmpdir(), "fanfold-arriving", this.session.tenant), async (key, half) => {
      const pieces = piecesOfFile(half);
      if (zone === undefined) await this.store.putStream(key, pieces);
      else await this.#blobs(zone).write(key, pieces, media_type === undefined ? {} : { media_type });
      await rm(half, { force: true });
    });
  }

  /** The task is held, and the key was made for this attempt of it. */
  async #assertOwn(worker_id: string, target: UploadQuery): Promise<void> {
    await this.assertHeld(worker_id, target);
    const { zone, key } = target;
    const is_own =
      zone === undefined ? this.isSpillOf(worker_id, target, key) : await this.isFileOf(target, { zone, key });
    if (!is_own) throw new BadRequest("this is not the address of a file of this task", { hint: "ask for one first" });
  }

  assertHeld(worker_id: string, { task_id, claim_id, attempt }: HeldAttempt): Promise<unknown> {
    const { stage_id, ordinal } = placeOf(task_id);
    return this.session.run(
      (db) => db.sql`select app.assert_held(${worker_id}::text::uuid, ${claim_id}::bigint, ${stage_id}::bigint,
        ${ordinal}::bigint, ${attempt}::integer)`,
    );
  }

  /** Whether this attempt, and no other, has written the file: the key says so, and proves it. */
  async isFileOf(
    { task_id, attempt }: Pick<HeldAttempt, "task_id" | "attempt">,
    { zone, key }: ZoneRef,
  ): Promise<boolean> {
    // What is held was begun here: nothing is held across a move.
    const makers = { deployments: [await deploymentOf(this.db)], tenant_id: this.session.tenant, zone };
    const maker = attemptOf(makers, key);
    const { stage_id, ordinal } = placeOf(task_id);
    return maker !== null && maker.stage_id === stage_id && maker.ordinal === ordinal && maker.attempt === attempt;
  }

  isSpillOf(worker_id: string, { task_id, claim_id, attempt }: HeldAttempt, key: string): boolean {
    const { stage_id, ordinal } = placeOf(task_id);
    const begin = `${tenantPrefix(this.session.tenant)}results/${stage_id}/${ordinal}/${attempt}-${claim_id}-${worker_id}-`;
    return key.startsWith(begin) && /^[0-9a-f-]{36}\.json$/.test(key.slice(begin.length));
  }

  /** Its size; null: it is not there; undefined: only who reads it finds out. */
  async spilledBytes(key: string): Promise<number | null | undefined> {
    const spills = this.#spills();
    return spills === null ? undefined : ((await spills.stat(key))?.bytes ?? null);
  }

  async list(
    worker_id: string,
    { zone, prefix, after, limit }: { zone: ZoneName; prefix: string; after?: string | undefined; limit: number },
  ): Promise<BlobPage> {
    await this.session.run((db) => known(db, worker_id));
    return told(() => this.#blobs(zone).list(prefix, { after, limit }));
  }

  async stat(worker_id: string, { zone, key }: ZoneRef): Promise<BlobStat | null> {
    await this.session.run((db) => known(db, worker_id));
    return told(() => this.#blobs(zone).stat(key));
  }

  /** The store of the tenant's files, for a worker that is known. */
  async opened(worker_id: string, { zone, key }: ZoneRef): Promise<BlobStore> {
    const problem = readableProblem(key);
    if (problem !== null) throw new BadRequest(`there is no file of this name: ${problem}`);
    await this.session.run((db) => known(db, worker_id));
    return this.#blobs(zone);
  }

  /** Files of an attempt that has failed; what is not of it stays. */
  async discard(task: HeldAttempt, files: readonly ZoneRef[]): Promise<void> {
    for (const file of files) {
      if (await this.isFileOf(task, file)) await this.#blobs(file.zone).remove(file.key);
    }
  }
}
