// Who did what and when: the events that people and keys caused.
import type { Queryable } from "./database.js";
import type { EventRecord } from "./records.js";
import { asked } from "./reply.js";

export interface DeedRecord extends EventRecord {
  /** The key it was done with, if it was one of this tenant's. */
  key_id: string | null;
  key_name: string | null;
  job_id: string | null;
  job_type: string | null;
  stage: string | null;
}

export interface AuditQuery {
  /** A key (key:…), a token's subject or a login; with the person behind it in brackets, only what was done for them. */
  actor?: string;
  /** One kind, or the beginning of several with its dot, such as `key.`. */
  kind?: string;
  job_id?: string;
  after?: string;
  before?: string;
  /** false: without the submits, of which there may be very many. */
  submits?: boolean;
  limit?: number;
  cursor?: string;
}

export class Audit {
  constructor(
    private readonly db: Queryable,
    private readonly tenant: string,
  ) {}

  /** Newest first. A page looks at a bounded number of events: it may be short, and have a `next` all the same. */
  list({ limit, ...query }: AuditQuery = {}): Promise<{ deeds: DeedRecord[]; next: string | null }> {
    const request = JSON.stringify({ ...query, rows: limit, tenant: this.tenant });
    return asked(this.db.sql`select app.list_audit(${request}::text::json) as reply`);
  }
}
