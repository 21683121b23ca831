// What a worker holds of one tenant, and how tenants that share the worker share its slots. No I/O.
import { msPerStart } from "./batch.js";
import type { HeldClaim } from "./held.js";

/** For so long after its last claim a tenant is one of those that share the worker. */
const LATELY_MS = 5000;

/** What this worker holds of one tenant. */
export class HeldOfTenant {
  /** When something of it was last claimed. */
  claimed_at = Number.NEGATIVE_INFINITY;
  /** Tasks that take a slot. */
  running = 0;
  /** Tasks that have not started. */
  queued = 0;
  /** Slots that it may have. */
  most = Number.POSITIVE_INFINITY;
  /** When one of its tasks last started or ended. */
  moved_at = Number.NEGATIVE_INFINITY;
  /** The most that it had at once, running or not, lately. */
  private peak = 0;
  private peak_at = Number.NEGATIVE_INFINITY;
  readonly queue: HeldClaim[] = [];

  /** Slots that it would take if all were free. */
  wanted(now: number): number {
    const { running, queued } = this;
    if (running + queued >= this.peak || now - this.peak_at > LATELY_MS) {
      this.peak = running + queued;
      this.peak_at = now;
    }
    return this.peak;
  }

  /** It has all slots it may have, and what waits, or comes, does not start within `ahead_ms`. */
  isFull(ahead_ms: number, now: number): boolean {
    if (this.running < this.most) return false;
    if (now - this.moved_at >= ahead_ms) return true;
    const each = this.queued > 0 ? msPerStart(this.queue[0]!.pace, this.most) : 0;
    return each === null || this.queued * each > ahead_ms / 2;
  }

  /** The first claim whose next task may start. */
  first(mayStart: (claim: HeldClaim) => boolean): HeldClaim | undefined {
    const { queue } = this;
    for (let at = 0; ; ) {
      const claim = queue[at];
      if (claim === undefined) return undefined;
      if (claim.next >= claim.end) {
        // Let go at once: in a busy queue, which is never empty, the parameters of a whole stage would stay in memory.
        if (at === 0) queue.shift();
        else queue.splice(at, 1);
      } else if (mayStart(claim)) return claim;
      else at++;
    }
  }
}

/**
 * While several tenants share the worker, none of them has its last slots: the next tasks of another start at once instead of waiting
 * until some of the first end. These are as many as another had lately, a quarter of all at least and half of them at most.
 */
export function shareSlots(of: Map<string, HeldOfTenant>, slots: number, now: number): void {
  for (const [tenant_id, { running, queued, claimed_at }] of of) {
    if (running + queued === 0 && now - claimed_at > LATELY_MS) of.delete(tenant_id);
  }
  const tenants = [...of.values()];
  const wanted = tenants.map((tenant) => tenant.wanted(now));
  for (const [at, tenant] of tenants.entries()) {
    const others = Math.max(0, ...wanted.filter((_, other) => other !== at));
    tenant.most = tenants.length > 1 ? slots - kept(slots, others) : slots;
  }
}

/** Slots that are kept for others who have had so many. */
function kept(slots: number, others: number): number {
  return Math.max(Math.floor(slots / 4), Math.min(Math.floor(slots / 2), slots < 4 ? 0 : others));
}
