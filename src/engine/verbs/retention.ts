// How long history is kept, and taking it away.
import type { BodyIn, ReplyOf } from "../../core/api/endpoint.js";
import { retention_api } from "../../core/api/retention.js";
import { asked } from "./reply.js";
import { Noun } from "./verb.js";

export type RetentionRecord = ReplyOf<typeof retention_api.own>;
export type RetentionChange = BodyIn<typeof retention_api.change>["rules"][number];

export class RetentionRules extends Noun {
  get(): Promise<RetentionRecord> {
    return this.call(retention_api.own, {});
  }

  /** Changes the rules of this tenant, or of everybody. Only the server's role may. */
  change(rules: readonly RetentionChange[], options: { everybody?: boolean; actor?: string | null } = {}) {
    const { everybody = false, actor = null } = options;
    const request = JSON.stringify({ tenant: everybody ? null : this.tenant, rules, actor });
    return asked<RetentionRecord>(this.db.sql`select app.change_retention(${request}::text::json) as reply`);
  }
}
