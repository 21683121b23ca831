// What a tenant may use at most, and what it uses at present.
import type { Queryable } from "./database.js";
import { asked } from "./reply.js";

/** null: no limit. */
export interface LimitValues {
  /** Tasks in hand at once. */
  concurrent_tasks: number | null;
  /** Tasks that wait. */
  queued_tasks: number | null;
  /** Jobs and lone tasks submitted per second. */
  submits_per_s: number | null;
  /** How many of them at once after a pause; null: a second's worth. */
  submit_burst: number | null;
  /** Tasks of one stage. */
  fan_out: number | null;
  /** Bytes of parameters in one call. */
  submit_bytes: number | null;
  /** Bytes of the tasks that one plan makes; null: 64 MB. */
  plan_bytes: number | null;
}

export const limit_names = [
  "concurrent_tasks",
  "queued_tasks",
  "submits_per_s",
  "submit_burst",
  "fan_out",
  "submit_bytes",
  "plan_bytes",
] as const satisfies readonly (keyof LimitValues)[];

export interface LimitsRecord {
  tenant_id: string;
  limits: LimitValues;
  usage: { queued_tasks: number; concurrent_tasks: number; submits_left: number | null };
}

export class Limits {
  constructor(
    private readonly db: Queryable,
    private readonly tenant: string,
  ) {}

  get(): Promise<LimitsRecord> {
    return asked(this.db.sql`select app.get_limits(${this.tenant}::text) as reply`);
  }

  /** Sets what is named; what is left out stays. Only the server's role may. */
  change(limits: Partial<LimitValues>, actor: string | null = null): Promise<LimitValues & { tenant_id: string }> {
    const request = JSON.stringify({ tenant: this.tenant, limits, actor });
    return asked(this.db.sql`select app.change_limits(${request}::text::json) as reply`);
  }

  /** After a refusal, which leaves nothing behind: counts what is queued, for whoever comes next. At most now and then. */
  async countAgain(): Promise<void> {
    await asked(this.db.sql`select app.count_usage(${this.tenant}::text) as reply`);
  }
}
