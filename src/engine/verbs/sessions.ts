// Sessions of browsers and links that sign in once: made here, so that no token is ever sent to the database.
import { randomBytes } from "node:crypto";
import { linkCode, sessionToken, tokenHash } from "../../core/values/session_token.js";
import type { Queryable } from "../database/database.js";
import { asked } from "./reply.js";

export interface SessionRecord {
  tenant_id: string;
  key_id: string;
  created_at: string;
  /** As things stand: use moves it, up to seven days after it began. */
  expires_at: string;
  usable_for_s: number;
}

/** `token` is in no other answer. */
export type OpenedSession = SessionRecord & { token: string };

/** A key that was shown, or that a caller who has the database at hand names. */
export interface KeyOfTenant {
  tenant_id: string;
  key_id: string;
}

export async function openSession(db: Queryable, key: KeyOfTenant): Promise<OpenedSession> {
  const token = sessionToken(randomBytes(32));
  return { ...(await open(db, key, token, "session")), token };
}

/**
 * A code that signs in once, within ten minutes: for the address <service>/sign-in#code=<code>. Behind the # it is sent to nobody: no
 * proxy writes it down, and no call names it as its Referer.
 */
export async function createSignInLink(
  db: Queryable,
  key: KeyOfTenant,
): Promise<{ code: string; key_id: string; expires_at: string }> {
  const code = linkCode(randomBytes(32));
  const { key_id, expires_at } = await open(db, key, code, "link");
  return { code, key_id, expires_at };
}

function open(db: Queryable, { tenant_id, key_id }: KeyOfTenant, secret: string, kind: "session" | "link") {
  const request = { tenant: tenant_id, key_id, token_hash: tokenHash(secret), kind };
  return asked<SessionRecord>(db.sql`select app.open_session(${JSON.stringify(request)}::text::json) as reply`);
}

/** null: there is no such link any more. */
export async function takeSignInLink(db: Queryable, code: string): Promise<OpenedSession | null> {
  const token = sessionToken(randomBytes(32));
  const request = { code_hash: tokenHash(code), token_hash: tokenHash(token) };
  const session = await asked<SessionRecord | null>(
    db.sql`select app.use_sign_in_link(${JSON.stringify(request)}::text::json) as reply`,
  );
  return session === null ? null : { ...session, token };
}

export function findSession(db: Queryable, token_hash: string): Promise<SessionRecord | null> {
  return asked(db.sql`select app.find_session(${token_hash}::text) as reply`);
}

/** These have just been used; the database writes it down once a minute at most. */
export function touchSessions(db: Queryable, token_hashes: readonly string[]): Promise<number> {
  return asked(db.sql`select app.touch_sessions(${JSON.stringify(token_hashes)}::text::json) as reply`);
}

/** false: there was none. */
export async function endSession(db: Queryable, token: string): Promise<boolean> {
  const hash = tokenHash(token);
  const ended = await asked<boolean>(db.sql`select app.end_session(${hash}::text) as reply`);
  for (const listener of listeners.get(db) ?? []) listener(hash);
  return ended;
}

type Listener = (token_hash: string) => void;
const listeners = new WeakMap<Queryable, Set<Listener>>();

/** Tells the code that remembers sessions that one was ended through this connection pool; returns how to stop that. */
export function onSessionEnd(db: Queryable, listener: Listener): () => void {
  const known = listeners.get(db) ?? new Set();
  listeners.set(db, known.add(listener));
  return () => void known.delete(listener);
}
