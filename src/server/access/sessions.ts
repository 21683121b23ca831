// A browser's session as a credential: the cookie's token leads to a key, and the key says what may be done now. What ends the key
// ends the session with it.
import type { Logger } from "pino";
import { Unauthenticated } from "../../core/errors/errors.js";
import { isSessionToken, tokenHash } from "../../core/values/session_token.js";
import type { Database } from "../../engine/database/database.js";
import { findSession, onSessionEnd, type SessionRecord, touchSessions } from "../../engine/verbs/sessions.js";
import type { CredentialKind, KeyAuthenticator, Principal } from "./auth.js";
import { FailedSignIns } from "./failed_sign_ins.js";
import { LastUsed } from "./last_used.js";
import { type Clock, Remembered, steady_clock } from "./remembered.js";

const scheme = "Session ";
const hint = "sign in again, with a key or a link: fanfold dashboard";

/** How a session is named where credentials are looked at; no header of a browser's ever is. */
export function sessionAuthorization(token: string): string {
  return scheme + token;
}

export class SessionAuthenticator implements CredentialKind {
  /**
   * Nobody guesses 256 bits, but every open tab comes back with what has ended: that must not keep its owner from signing in. Still
   * a bound, for the database is asked about each.
   */
  readonly attempts = new FailedSignIns({ burst: 300, per_s: 5 });
  readonly #sessions: Remembered<SessionRecord>;
  readonly #last_used: LastUsed;
  readonly #stop_listening: () => void;

  constructor(
    db: Database,
    private readonly keys: Pick<KeyAuthenticator, "principalOf">,
    { now = steady_clock, log }: { now?: Clock; log?: Logger | undefined } = {},
  ) {
    this.#sessions = new Remembered(async (hash) => {
      const found = await findSession(db, hash);
      return found === null ? null : { value: found, usable_for_s: found.usable_for_s };
    }, now);
    this.#last_used = new LastUsed((hashes) => touchSessions(db, hashes), now, log);
    this.#stop_listening = onSessionEnd(db, (hash) => this.#sessions.forget(hash));
  }

  handles(authorization: string): boolean {
    return hashOf(authorization) !== null;
  }

  vouchesFor(authorization: string): boolean {
    return this.#last_used.lately(hashOf(authorization) ?? "");
  }

  async authenticate(authorization: string | undefined): Promise<Principal> {
    const hash = hashOf(authorization ?? "");
    const session = hash === null ? null : await this.#sessions.find(hash);
    if (hash === null || session === null) throw new Unauthenticated("the session has ended", { hint });
    const principal = await this.keys.principalOf(session.key_id);
    if (principal === null || principal.tenant_id !== session.tenant_id) {
      throw new Unauthenticated("the key of this session has ended", { hint });
    }
    this.#last_used.note(hash);
    return { ...principal, session: { expires_at: session.expires_at } };
  }

  async close(): Promise<void> {
    this.#stop_listening();
    await this.#last_used.close();
  }
}

function hashOf(authorization: string): string | null {
  const token = authorization.startsWith(scheme) ? authorization.slice(scheme.length) : "";
  return isSessionToken(token) ? tokenHash(token) : null;
}
