// What a tenant may use at most, and what it uses at present.
import type { z } from "zod";
import type { ReplyOf } from "../../core/api/endpoint.js";
import { type limit_values, limits_api } from "../../core/api/limits.js";
import { asked } from "./reply.js";
import { Noun } from "./verb.js";

/** null: no limit. */
export type LimitValues = z.output<typeof limit_values>;
export type LimitsRecord = ReplyOf<typeof limits_api.own>;

export const limit_names = [
  "concurrent_tasks",
  "queued_tasks",
  "submits_per_s",
  "submit_burst",
  "fan_out",
  "submit_bytes",
  "plan_bytes",
] as const satisfies readonly (keyof LimitValues)[];

export class Limits extends Noun {
  get(): Promise<LimitsRecord> {
    return this.call(limits_api.own, {});
  }

  /** Sets what is named; what is left out stays. Only the server's role may. */
  change(limits: Partial<LimitValues>, actor: string | null = null): Promise<LimitValues & { tenant_id: string }> {
    const request = JSON.stringify({ tenant: this.tenant, limits, actor });
    return asked(this.db.sql`select app.change_limits(${request}::text::json) as reply`);
  }

  /** After a refusal, which leaves nothing behind: counts what is queued, for the next caller. At most now and then. */
  async countAgain(): Promise<void> {
    await asked(this.db.sql`select app.count_usage(${this.tenant}::text) as reply`);
  }
}
