// A finish that the database did not take, cut into parts: halves, for finding the outcome it cannot store, or a part for each
// tenant, for finding the one whose rows are held. Pure.
import { FinishBatch } from "./finish_batch.js";

export function halves(batch: FinishBatch): [FinishBatch, FinishBatch] {
  const parts: [FinishBatch, FinishBatch] = [new FinishBatch(), new FinishBatch()];
  const middle = Math.ceil(batch.size / 2);
  batch.deal((_, at) => parts[at < middle ? 0 : 1]);
  return parts;
}

export function byTenant(batch: FinishBatch): Map<string, FinishBatch> {
  const parts = new Map<string, FinishBatch>();
  batch.deal(({ stage: { tenant_id } }) => {
    const part = parts.get(tenant_id) ?? new FinishBatch();
    parts.set(tenant_id, part);
    return part;
  });
  return parts;
}

/** The only outcome of a batch as a failure that holds nothing of it; null when that has been tried. */
export function asStorable(batch: FinishBatch, cause: string): FinishBatch | null {
  const storable = new FinishBatch();
  const done = batch.first_done;
  if (done !== undefined) {
    const message = `the database cannot store this result: ${cause}`;
    storable.addFailed(done.holder, { ...done.place, category: "contract", code: "unstorable_result", message });
    return storable;
  }
  const { holder, item } = batch.failures[0]!;
  const { c, o, d, code } = item;
  if (code === "unstorable_failure") return null;
  const message = "the database cannot store what this attempt failed with";
  storable.addFailed(holder, { c, o, d, category: "contract", code: "unstorable_failure", message });
  return storable;
}
