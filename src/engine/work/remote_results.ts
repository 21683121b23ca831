// What the stages before came to, for workers over HTTP. Results that were spilled are sent within a page as far as it has room; larger ones
// are read by an address of their own.

import { largest_inline_spill } from "../../core/api/work/limits.js";
import type { StoredResult } from "../../core/api/work.js";
import { NotFound } from "../../core/errors/errors.js";
import type { Ref, Store } from "../../core/places/store.js";
import type { Queryable } from "../database/database.js";
import { worker_commands as commands } from "./commands.js";
import { placeOf } from "./remote_task.js";
import type { StoredItem } from "./task_commands.js";
import type { TenantSession } from "./tenant_session.js";

/** The most bytes of spilled results in one page, besides the others. */
const PAGE_BYTES = 8 * 1024 * 1024;

export class RemoteResults {
  constructor(
    private readonly session: TenantSession,
    private readonly store: Store,
  ) {}

  async page(
    worker_id: string,
    { stage_id, from, to = null, limit }: { stage_id: number; from: number; to?: number | null; limit: number },
  ): Promise<{ items: StoredResult[]; next: number | null }> {
    await this.session.run((db) => known(db, worker_id));
    const page = await this.session.run((db) => commands.read_results(db, { stage_id, from, to, limit }));
    const items: StoredResult[] = [];
    let bytes = 0;
    for (const item of page.items) {
      const size = item.spill?.bytes ?? 0;
      if (size <= largest_inline_spill) bytes += size;
      if (bytes > PAGE_BYTES && items.length > 0) return { items, next: item.ordinal };
      items.push(await this.#sent(worker_id, stage_id, item));
    }
    return { items, next: page.next };
  }

  async predecessor(
    worker_id: string,
    task_id: string,
  ): Promise<(StoredResult & { status: string; error: unknown }) | null> {
    await this.session.run((db) => known(db, worker_id));
    const found = await this.session.run((db) => commands.predecessor(db, placeOf(task_id)));
    if (found === null) return null;
    const sent = await this.#sent(worker_id, found.stage_id, found);
    return { ...sent, status: found.status, error: found.error ?? null };
  }

  /** The file of one result. */
  async spilled(worker_id: string, { stage_id, ordinal }: { stage_id: number; ordinal: number }): Promise<Ref> {
    await this.session.run((db) => known(db, worker_id));
    const request = { stage_id, from: ordinal, to: ordinal + 1, limit: 1 };
    const { items } = await this.session.run((db) => commands.read_results(db, request));
    const spill = items[0]?.spill ?? null;
    if (spill !== null) return spill;
    throw new NotFound(`task ${ordinal} of stage ${stage_id} has no result in a file`, {
      hint: "read it with its page of results",
    });
  }

  async #sent(worker_id: string, stage_id: number, item: StoredItem): Promise<StoredResult> {
    const { ordinal, index, result, spill, next_stage_params } = item;
    const facts = { ordinal, index, next_stage_params: next_stage_params ?? null };
    if (spill === null) return { ...facts, result: result ?? null, left_out: null };
    if (spill.bytes > largest_inline_spill) {
      const url = `/api/workers/${worker_id}/results/spilled?stage_id=${stage_id}&ordinal=${ordinal}`;
      const reason = `larger than ${largest_inline_spill} bytes`;
      return { ...facts, result: null, left_out: { bytes: spill.bytes, reason, url } };
    }
    try {
      const value: unknown = JSON.parse((await this.store.get(spill)).toString("utf8"));
      return { ...facts, result: value, left_out: null };
    } catch {
      const reason = "its file cannot be read";
      return { ...facts, result: null, left_out: { bytes: spill.bytes, reason, url: null } };
    }
  }
}

/** What a worker registered for; an error unless it is live and of this tenant. */
export async function known(db: Queryable, worker_id: string): Promise<{ types: string[] }> {
  const [row] = await db.sql<{ reply: { types: string[] } }>`
    select app.known_worker(${worker_id}::text::uuid) as reply`;
  return (row as { reply: { types: string[] } }).reply;
}
