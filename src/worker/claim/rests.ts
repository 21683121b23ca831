// While tenants share a worker, nothing more is claimed of a tenant for twice as long as the claim of its tasks took: large tasks of one
// tenant leave most of the database's time to others. For those others the worker looks all the same, after a moment. No I/O.

const LONGEST_REST_MS = 200;
/** A claim of few small tasks takes no longer. */
const SHORT_CLAIM_MS = 5;
export const LOOK_AGAIN_MS = 20;

export class Rests {
  /** Whose tasks the last claim brought. */
  readonly brought = new Set<string>();
  /** By tenant: until when nothing of it is claimed. */
  private readonly until = new Map<string, number>();

  /** What a claim that began then has brought was work for the database. Returns how long to wait before the next claim of anything. */
  note(began: number, now: number): number {
    const rest = Math.min(2 * (now - began - SHORT_CLAIM_MS), LONGEST_REST_MS);
    if (rest > 0) for (const tenant of this.brought) this.until.set(tenant, now + rest);
    return Math.min(now - began, LOOK_AGAIN_MS);
  }

  /** Tenants of which nothing is claimed now. */
  now(now: number): string[] {
    for (const [tenant, until] of this.until) if (until <= now) this.until.delete(tenant);
    return [...this.until.keys()];
  }

  clear(): void {
    this.until.clear();
  }
}
