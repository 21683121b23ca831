// Saved views: filters of the jobs list under a name, shared by all of a tenant.
import type { Queryable } from "./database.js";
import { asked } from "./reply.js";

export interface ViewRecord {
  name: string;
  /** The filter, as it is typed. */
  query: string;
  created_at: string;
  created_by: string;
  updated_at: string;
  updated_by: string;
}

export class Views {
  constructor(
    private readonly db: Queryable,
    private readonly tenant: string,
  ) {}

  /** By name. */
  list(): Promise<ViewRecord[]> {
    return asked(this.db.sql`select app.list_views(${this.tenant}::text) as reply`);
  }

  /** New, or in place of what has this name. */
  put(name: string, query: string, { actor = null }: { actor?: string | null } = {}): Promise<ViewRecord> {
    return asked(this.db.sql`select app.put_view(
      ${name}::text, ${query}::text, ${this.tenant}::text, ${actor}::text) as reply`);
  }

  delete(name: string, { actor = null }: { actor?: string | null } = {}): Promise<ViewRecord> {
    return asked(this.db.sql`select app.delete_view(${name}::text, ${this.tenant}::text, ${actor}::text) as reply`);
  }
}
