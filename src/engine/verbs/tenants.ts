// Tenants, for an operator of the service: only the server's role may ask.
import type { ReplyOf } from "../../core/api/endpoint.js";
import { tenants_api } from "../../core/api/tenants.js";
import { Noun } from "./verb.js";

export type TenantRecord = ReplyOf<typeof tenants_api.get>;
export type TenantPage = ReplyOf<typeof tenants_api.list>;

export class Tenants extends Noun {
  /** `created` is false for one that was there already; nothing of it is changed. */
  create(tenant_id: string, given: { name?: string | null; actor?: string | null } = {}) {
    return this.call(tenants_api.create, { tenant_id, ...given });
  }

  get(tenant_id: string): Promise<TenantRecord> {
    return this.call(tenants_api.get, { tenant_id });
  }

  /** By id. */
  list(page: { limit?: number; cursor?: string | null } = {}): Promise<TenantPage> {
    return this.call(tenants_api.list, page);
  }

  rename(tenant_id: string, name: string | null, actor: string | null = null): Promise<TenantRecord> {
    return this.call(tenants_api.rename, { tenant_id, name, actor });
  }
}
