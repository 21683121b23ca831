// Hands tasks back at no cost to them. Whatever the database says, they are not this worker's any more: the first heartbeat that does
// not name a claim gives it to others.
import type { ReleaseItem } from "../../engine/work/commands.js";
import type { Courier } from "../finish/courier.js";
import type { Registration } from "../life/registration.js";

export class HandBack {
  constructor(
    private readonly parts: Registration,
    private readonly courier: Courier,
    private readonly lock_ms: number,
  ) {}

  /** Resolves when the database has taken or refused them, or the lease has ended. */
  async send(items: ReleaseItem[]): Promise<void> {
    const { holdings } = this.parts;
    if ((await this.sendOnce(items)) === "held") {
      for (const part of this.byTenant(items)) await this.sendOnce(part);
    }
    for (const { c, o } of items) {
      const claim = holdings.claims.get(c);
      if (claim !== undefined) holdings.settle(claim, o.length);
    }
  }

  private async sendOnce(items: ReleaseItem[]): Promise<"held" | "over"> {
    const { parts } = this;
    const request = { worker_id: parts.worker_id, items, lock_ms: this.lock_ms };
    const answer = await this.courier.persist("hand-back", 0, () => parts.commands.release(parts.db, request));
    if (answer === "held") return "held";
    if (answer !== null && "reply" in answer) parts.stats.released += answer.reply.released;
    else if (answer !== null) parts.log.error({ err: answer.refusal }, "the database refused a hand-back");
    return "over";
  }

  /** Where one tenant's rows are held, the others' tasks go back all the same. */
  private byTenant(items: ReleaseItem[]): ReleaseItem[][] {
    const parts = new Map<string, ReleaseItem[]>();
    for (const item of items) {
      const tenant = this.parts.holdings.claims.get(item.c)?.stage.tenant_id ?? "";
      const part = parts.get(tenant) ?? [];
      part.push(item);
      parts.set(tenant, part);
    }
    return parts.size > 1 ? [...parts.values()] : [];
  }
}
