// Tenants whose rows somebody's open transaction holds. What serves all tenants on one connection waits for such a one once, briefly,
// and then leaves it alone: twice as long each time, so that a tenant that goes on holding costs the others next to nothing.

export class HeldTenants {
  private readonly rests = new Map<string, { until: number; ms: number }>();

  constructor(
    private readonly shortest_ms = 4_000,
    private readonly longest_ms = 60_000,
  ) {}

  add(tenant: string, now = performance.now()): void {
    const before = this.rests.get(tenant);
    const ms = before === undefined ? this.shortest_ms : Math.min(2 * before.ms, this.longest_ms);
    this.rests.set(tenant, { until: now + ms, ms });
  }

  has(tenant: string, now = performance.now()): boolean {
    return (this.rests.get(tenant)?.until ?? 0) > now;
  }

  /** Those to be left alone now. Who has given no cause for as long as the longest rest starts anew. */
  now(now = performance.now()): string[] {
    if (this.rests.size === 0) return [];
    for (const [tenant, { until }] of this.rests) if (until + this.longest_ms <= now) this.rests.delete(tenant);
    return Array.from(this.rests.keys()).filter((tenant) => this.has(tenant, now));
  }
}
