// The files that a job delivered, looked at one by one: whether each is there, has its size and, where somebody asks for it, its checksum.
import { StorageError } from "../../core/errors/errors.js";
import { formatZoneRef } from "../../core/places/zones.js";
import { checksum } from "../../storage/blob_store.js";
import type { Zones } from "../../storage/zones.js";
import type { Queryable } from "../database/database.js";
import type { AssetRecord } from "./assets.js";
import { asked } from "./reply.js";

/** How many files are looked at side by side: a bucket answers each in some tens of milliseconds. */
const AT_ONCE = 16;

export interface FileLook {
  zones: Zones;
  tenant: string;
  /** Reads every byte. */
  checksum?: boolean | undefined;
}

export interface LookedAt {
  record: AssetRecord;
  /** null: it is there and is what was recorded. */
  problem: string | null;
}

/** Page by page; what a later run of a task has replaced is left out. */
export async function* deliveredFiles(db: Queryable, job_id: string, look: FileLook): AsyncGenerator<LookedAt[]> {
  for (let after: string | null = null; ; ) {
    const page: AssetRecord[] = await asked<AssetRecord[]>(
      db.sql`select app.delivered_files(${job_id}::text, ${look.tenant}::text, ${after}::text::json) as reply`,
    );
    if (page.length === 0) return;
    for (let at = 0; at < page.length; at += AT_ONCE) {
      const some = page.slice(at, at + AT_ONCE);
      yield await Promise.all(some.map(async (record) => ({ record, problem: await fileProblem(record, look) })));
    }
    const { zone, key } = page.at(-1)!;
    after = JSON.stringify([zone, key]);
  }
}

/** What is wrong with one recorded file, as a sentence without a place of this machine. */
export async function fileProblem(record: AssetRecord, { zones, tenant, checksum: read }: FileLook) {
  const name = formatZoneRef(record);
  const store = zones.store(record.zone, tenant);
  try {
    const found = await store.stat(record.key);
    if (found === null) return `${name} is not there`;
    if (found.bytes !== record.bytes) return `${name} has ${found.bytes} bytes, not ${record.bytes}`;
    if (!read) return null;
    const { sha256 } = await checksum(store, record.key);
    return sha256 === record.sha256 ? null : `${name} is another file of the same size: its sha256 is ${sha256}`;
  } catch (error) {
    if (error instanceof StorageError) return `${name} cannot be looked at: ${error.message}`;
    throw error;
  }
}
