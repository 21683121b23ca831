// A result that is too large for the database goes to storage, and the finish names the file.
import { randomUUID } from "node:crypto";
import { type Store, tenantPrefix } from "../../core/places/store.js";
import type { Attempt } from "../run/attempt.js";

/** From this many bytes of JSON on, a result goes to storage and the database keeps a reference. */
export const SPILL_BYTES = 1024 * 1024;

export interface Spill {
  store: Store;
  worker_id: string;
}

export function isLarge(json: string): boolean {
  // A UTF-16 unit is at most three bytes: most results need not be measured.
  return json.length * 3 >= SPILL_BYTES && Buffer.byteLength(json) >= SPILL_BYTES;
}

/**
 * Written before the finish that names it, under a key of this execution: a zombie can never overwrite what was accepted.
 * Attempt, claim and worker are not enough: a server crash may forget a claim, and give its number to the same worker again.
 */
export async function spilled(json: string, { claim, ordinal }: Attempt, { store, worker_id }: Spill): Promise<string> {
  const { tenant_id, stage_id } = claim.stage;
  const execution = `${claim.attempt}-${claim.claim_id}-${worker_id}-${randomUUID()}`;
  const key = `${tenantPrefix(tenant_id)}results/${stage_id}/${ordinal}/${execution}.json`;
  return JSON.stringify(await store.put(key, json));
}
