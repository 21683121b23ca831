// Tenants and their limits, for whoever runs the service: only the server's role may ask.
import type { Queryable } from "./database.js";
import { asked } from "./reply.js";

export interface TenantRecord {
  tenant_id: string;
  name: string | null;
  created_at: string;
}

export interface TenantPage {
  tenants: TenantRecord[];
  next: string | null;
}

export class Tenants {
  constructor(private readonly db: Queryable) {}

  /** `created` is false for one that was there already; nothing of it is changed. */
  create(
    tenant_id: string,
    { name = null, actor = null }: { name?: string | null; actor?: string | null } = {},
  ): Promise<TenantRecord & { created: boolean }> {
    const request = JSON.stringify({ tenant_id, name, actor });
    return asked(this.db.sql`select app.add_tenant(${request}::text::json) as reply`);
  }

  get(tenant_id: string): Promise<TenantRecord> {
    return asked(this.db.sql`select app.get_tenant(${tenant_id}::text) as reply`);
  }

  /** By id. */
  list({ limit = 50, cursor = null }: { limit?: number; cursor?: string | null } = {}): Promise<TenantPage> {
    return asked(this.db.sql`select app.list_tenants(${limit}::integer, ${cursor}::text) as reply`);
  }

  rename(tenant_id: string, name: string | null, actor: string | null = null): Promise<TenantRecord> {
    const request = JSON.stringify({ tenant_id, name, actor });
    return asked(this.db.sql`select app.rename_tenant(${request}::text::json) as reply`);
  }
}
