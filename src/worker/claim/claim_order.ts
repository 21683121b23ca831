// Where a worker's next claim goes on, so that all get their turns: behind which tenant, with which of its jobs, and whose rows
// it shall not wait for. No I/O.

import { HeldTenants } from "../../engine/upkeep/held_tenants.js";
import type { ClaimReply } from "../../engine/work/commands.js";

/** It is remembered for so many tenants whose job's turn it is. */
const KNOWN_TURNS = 64;

export class ClaimOrder {
  private after_tenant: string | null = null;
  /** By tenant: where the turns of its jobs go on. */
  private readonly turns = new Map<string, number>();
  /** Whose ready rows were locked for longer than a claim waits. */
  private readonly held = new HeldTenants(1_000, 30_000);

  get next() {
    const { after_tenant, turns, held } = this;
    return { after_tenant, turns: Object.fromEntries(turns), no_wait: held.now() };
  }

  note({ claims, after_tenant, turns = {}, held = [] }: ClaimReply): void {
    for (const tenant of held) this.held.add(tenant);
    if (claims.length === 0) return;
    this.after_tenant = after_tenant;
    for (const [tenant_id, turn] of Object.entries(turns)) {
      this.turns.delete(tenant_id);
      this.turns.set(tenant_id, turn);
    }
    keepNewest(this.turns, KNOWN_TURNS);
  }
}

export function keepNewest(known: Map<unknown, unknown>, most: number): void {
  for (const key of known.keys()) {
    if (known.size <= most) return;
    known.delete(key);
  }
}
