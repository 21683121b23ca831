// API keys: made here, so that the secret is never sent to the database, and looked up for the server.
import { randomBytes } from "node:crypto";
import type { ReplyOf, Scope } from "../../core/api/endpoint.js";
import { keys_api } from "../../core/api/keys.js";
import { type KeyParts, keyText, makeKey, secretHash } from "../../core/values/api_key.js";
import type { Queryable } from "../database/database.js";
import { asked } from "./reply.js";
import { Noun } from "./verb.js";

export type KeyRecord = ReplyOf<typeof keys_api.get>;
/** `key` is the whole key; it is in no other answer. */
export type CreatedKey = ReplyOf<typeof keys_api.create>;
/** The old one ends at its `revoked_at`. */
export type RotatedKey = ReplyOf<typeof keys_api.rotate>;
export type KeyPage = ReplyOf<typeof keys_api.list>;

/** What the server must know to let a caller in. */
export interface FoundKey {
  key_id: string;
  tenant_id: string;
  env: string;
  scopes: Scope[];
  operator: boolean;
  secret_hash: string;
  usable: boolean;
  /** null: for ever. */
  usable_for_s: number | null;
}

/** What the caller may do: they hand out no more. Left out where the caller has the database at hand. */
export interface May {
  scopes: readonly string[];
  operator: boolean;
}

export interface KeyVerb {
  actor?: string | null;
  may?: May;
}

export interface NewKey extends KeyVerb {
  name: string;
  scopes: readonly string[];
  env?: string;
  operator?: boolean;
  expires_at?: Date | string | null;
}

export class Keys extends Noun {
  async create({ env = "live", expires_at = null, ...given }: NewKey): Promise<CreatedKey> {
    const made = makeKey(env, randomBytes(40));
    const request = {
      ...given,
      env,
      expires_at: timeText(expires_at),
      tenant: this.tenant,
      key_id: made.key_id,
      secret_hash: secretHash(made.secret),
    };
    return whole(
      await asked<KeyRecord>(this.db.sql`select app.create_key(${JSON.stringify(request)}::text::json) as reply`),
      made,
    );
  }

  get(key_id: string): Promise<KeyRecord> {
    return this.call(keys_api.get, { key_id });
  }

  /** Newest first. */
  list(page: { limit?: number; cursor?: string | null } = {}): Promise<KeyPage> {
    return this.call(keys_api.list, page);
  }

  /** A new key with the same name and rights; the old one ends after the overlap (an hour, if not said). */
  async rotate(
    key_id: string,
    { expires_at = null, ...given }: KeyVerb & { overlap_s?: number; expires_at?: Date | string | null } = {},
  ): Promise<RotatedKey> {
    const made = makeKey("", randomBytes(40));
    const request = {
      ...given,
      key_id,
      expires_at: timeText(expires_at),
      tenant: this.tenant,
      new_key_id: made.key_id,
      secret_hash: secretHash(made.secret),
    };
    const reply = await asked<{ old: KeyRecord; new: KeyRecord }>(
      this.db.sql`select app.rotate_key(${JSON.stringify(request)}::text::json) as reply`,
    );
    tellChange(this.db, key_id);
    return { old: reply.old, new: whole(reply.new, made) };
  }

  /** Ends a key: at once here and for callers who ask the database, within five seconds at every server. */
  async revoke(key_id: string, given: KeyVerb & { reason?: string | null } = {}): Promise<KeyRecord> {
    const request = { ...given, key_id, tenant: this.tenant };
    const revoked = await asked<KeyRecord>(
      this.db.sql`select app.revoke_key(${JSON.stringify(request)}::text::json) as reply`,
    );
    tellChange(this.db, key_id);
    return revoked;
  }
}

function whole(record: KeyRecord, made: KeyParts): CreatedKey {
  return { ...record, key: keyText({ ...made, env: record.env }) };
}

function timeText(at: Date | string | null): string | null {
  return at instanceof Date ? at.toISOString() : at;
}

type Listener = (key_id: string) => void;
const listeners = new WeakMap<Queryable, Set<Listener>>();

/** Tells the code that remembers keys that one was changed through this connection pool; returns how to stop that. */
export function onKeyChange(db: Queryable, listener: Listener): () => void {
  const known = listeners.get(db) ?? new Set();
  listeners.set(db, known.add(listener));
  return () => void known.delete(listener);
}

function tellChange(db: Queryable, key_id: string): void {
  for (const listener of listeners.get(db) ?? []) listener(key_id);
}

export function findKey(db: Queryable, key_id: string): Promise<FoundKey | null> {
  return asked(db.sql`select app.find_key(${key_id}::text) as reply`);
}

/** These keys have just been used; the database writes it down once a minute at most. */
export function touchKeys(db: Queryable, key_ids: readonly string[]): Promise<number> {
  return asked(db.sql`select app.touch_keys(${JSON.stringify(key_ids)}::text::json) as reply`);
}
