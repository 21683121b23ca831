// Who calls: the tenant and what the caller may do come from the credential and from nothing else. A revoked key is refused within
// five seconds by every process, and at once by the one that revoked it.
import type { Logger } from "pino";
import { type Scope, scopes } from "../../core/api/endpoint.js";
import { Forbidden, Unauthenticated } from "../../core/errors/errors.js";
import { isSecretOf, type KeyParts, readKey } from "../../core/values/api_key.js";
import type { Database } from "../../engine/database/database.js";
import { type FoundKey, findKey, onKeyChange, touchKeys } from "../../engine/verbs/keys.js";
import type { FailedSignIns } from "./failed_sign_ins.js";
import { LastUsed } from "./last_used.js";
import { type Answered, type Clock, Remembered, steady_clock } from "./remembered.js";

export interface Principal {
  tenant_id: string;
  /** Who it is in events: key:<id> or the subject of a token. */
  actor: string;
  key_id: string | null;
  scopes: ReadonlySet<string>;
  operator: boolean;
  /** Known by a browser's session: a person, who does not do a worker's part. */
  session?: { expires_at: string };
  /** A caller without a credential, who reads the layers that the operator has opened. */
  is_stranger?: true;
}

/** Who holds the place and the turn of a call: strangers have theirs beside those of the tenant they read of. No tenant's name has a blank. */
export function holderOf({ tenant_id, is_stranger }: Principal): string {
  return is_stranger === true ? `${tenant_id} open` : tenant_id;
}

export interface Authenticator {
  /** Throws Unauthenticated, or OverLimit where too many have failed from this address. */
  authenticate(authorization: string | undefined, address?: string): Promise<Principal>;
  /** Waits for what is still being written. */
  close?(): Promise<void>;
}

/** One kind of credential. */
export interface CredentialKind extends Authenticator {
  /** Does it look like one of this kind? */
  handles(authorization: string): boolean;
  /**
   * May it be looked at even where an address is under suspicion? Told without asking the database: it was let in lately, or
   * proves by itself who made it.
   */
  vouchesFor(authorization: string): boolean | Promise<boolean>;
  /** Its failures are counted apart from those of the others. */
  readonly attempts?: FailedSignIns;
}

export interface KeyAuthenticatorOptions {
  now?: Clock;
  log?: Logger;
}

/** What to send instead, and how to come by it. */
export const send_key = {
  hint: "send a key as: Authorization: Bearer ff_…; make one",
  action: { verb: "keys.create" },
} as const;

interface KnownKey {
  key: FoundKey;
  principal: Principal;
}

export class KeyAuthenticator implements CredentialKind {
  readonly #keys: Remembered<KnownKey>;
  readonly #last_used: LastUsed;
  readonly #stop_listening: () => void;

  constructor(
    private readonly db: Database,
    { now = steady_clock, log }: KeyAuthenticatorOptions = {},
  ) {
    this.#keys = new Remembered((key_id) => this.#ask(key_id), now);
    this.#last_used = new LastUsed((key_ids) => touchKeys(db, key_ids), now, log);
    this.#stop_listening = onKeyChange(db, (key_id) => this.forget(key_id));
  }

  handles(authorization: string): boolean {
    return keyOf(authorization) !== null;
  }

  vouchesFor(authorization: string): boolean {
    return this.#last_used.lately(keyOf(authorization)?.key_id ?? "");
  }

  async authenticate(authorization: string | undefined): Promise<Principal> {
    if (authorization === undefined) throw new Unauthenticated("this call needs an API key", send_key);
    const parts = keyOf(authorization);
    const found = parts === null ? null : await this.#keys.find(parts.key_id);
    // One answer for all that can be wrong with a key: what is wrong would help only a caller who guesses.
    if (parts === null || found === null || !isKeyOf(parts, found.key)) {
      throw new Unauthenticated("the API key is not valid", send_key);
    }
    this.#last_used.note(found.key.key_id);
    return found.principal;
  }

  /** For a caller who was let in by this key before, and is known by something else since. null: it may be used no more. */
  async principalOf(key_id: string): Promise<Principal | null> {
    const found = await this.#keys.find(key_id);
    if (found === null || !found.key.usable) return null;
    this.#last_used.note(key_id);
    return found.principal;
  }

  /** Asks the database at the next call with this key. */
  forget(key_id: string): void {
    this.#keys.forget(key_id);
  }

  async close(): Promise<void> {
    this.#stop_listening();
    await this.#last_used.close();
  }

  async #ask(key_id: string): Promise<Answered<KnownKey> | null> {
    const key = await findKey(this.db, key_id);
    if (key === null) return null;
    const { tenant_id, operator, usable_for_s } = key;
    const principal = { tenant_id, key_id, operator, actor: `key:${key_id}`, scopes: new Set(key.scopes) };
    return { value: { key, principal }, usable_for_s };
  }
}

function keyOf(authorization: string): KeyParts | null {
  const [, credential] = /^Bearer +(\S+) *$/i.exec(authorization) ?? [];
  return credential === undefined ? null : readKey(credential);
}

function isKeyOf({ env, secret }: KeyParts, key: FoundKey): boolean {
  // The secret is compared in any case, so that the time tells nothing of the rest.
  const is_secret = isSecretOf(secret, key.secret_hash);
  return is_secret && key.usable && key.env === env;
}

export function assertScope(principal: Principal, scope: Scope, operator: boolean): void {
  if (operator && !principal.operator) {
    throw new Forbidden("this call is for operators of the service", {
      hint: "use an operator's key; with the database at hand one is made",
      action: { verb: "keys.create_operator" },
    });
  }
  if (scope === "work" && principal.session !== undefined) {
    throw new Forbidden("a browser's session does not do a worker's part", {
      hint: "a worker sends a key: Authorization: Bearer ff_…",
    });
  }
  if (!principal.scopes.has(scope)) {
    const has = scopes.filter((one) => principal.scopes.has(one));
    throw new Forbidden(`this credential is not allowed to ${scope}`, {
      hint: `use one with the scope ${scope}; this one has ${has.length === 0 ? "none" : has.join(", ")}`,
    });
  }
}
