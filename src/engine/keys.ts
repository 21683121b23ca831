// API keys: made here, so that the secret is never sent to the database, and looked up for the server.
import { randomBytes } from "node:crypto";
import { keyText, makeKey, secretHash } from "../core/api_key.js";
import type { Queryable } from "./database.js";
import { asked } from "./reply.js";

export interface KeyRecord {
  key_id: string;
  tenant_id: string;
  env: string;
  name: string;
  scopes: string[];
  operator: boolean;
  created_at: string;
  created_by: string;
  expires_at: string | null;
  last_used_at: string | null;
  revoked_at: string | null;
}

/** `key` is the whole key; it is in no other answer. */
export type CreatedKey = KeyRecord & { key: string };

/** What the server must know to let a caller in. */
export interface FoundKey {
  key_id: string;
  tenant_id: string;
  env: string;
  scopes: string[];
  operator: boolean;
  secret_hash: string;
  expires_in_s: number | null;
  usable: boolean;
}

export interface NewKey {
  name: string;
  scopes: readonly string[];
  env?: string;
  operator?: boolean;
  expires_at?: Date | string | null;
  actor?: string;
}

export class Keys {
  constructor(
    private readonly db: Queryable,
    private readonly tenant: string,
  ) {}

  async create({ env = "live", expires_at = null, ...given }: NewKey): Promise<CreatedKey> {
    const made = makeKey(env, randomBytes(40));
    const at = expires_at instanceof Date ? expires_at.toISOString() : expires_at;
    const request = {
      ...given,
      ...{ env, expires_at: at, tenant: this.tenant },
      ...{ key_id: made.key_id, secret_hash: secretHash(made.secret) },
    };
    const record = await asked<KeyRecord>(
      this.db.sql`select app.create_key(${JSON.stringify(request)}::text::json) as reply`,
    );
    return { ...record, key: keyText(made) };
  }
}

export function findKey(db: Queryable, key_id: string): Promise<FoundKey | null> {
  return asked(db.sql`select app.find_key(${key_id}::text) as reply`);
}
