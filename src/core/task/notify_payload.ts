// The NOTIFY payload for a task type: a hash, because every login of the database can LISTEN. db/functions/claim/wake.sql makes the
// same one. Pure.
import { createHash } from "node:crypto";

export function notifyPayload(task_type: string): string {
  return createHash("sha256").update(task_type, "utf8").digest("hex").slice(0, 12);
}

/** How long a worker that hears no hints waits before the next look, in milliseconds: 100 to 200. `chance` is from 0 to 1. */
export function pollDelayMs(chance: number): number {
  return 100 + 100 * chance;
}
