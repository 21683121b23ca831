// Who calls: the tenant and what the caller may do come from the credential and from nothing else. A key is remembered for at
// most five seconds, so that a revoked one is refused as quickly by every process, and at once by the one that revoked it.
import { performance } from "node:perf_hooks";
import type { Logger } from "pino";
import { type Scope, scopes } from "../core/api/endpoint.js";
import { isSecretOf, type KeyParts, readKey } from "../core/api_key.js";
import { Forbidden, Unauthenticated } from "../core/errors.js";
import type { Database } from "../engine/database.js";
import { type FoundKey, findKey, onKeyChange, touchKeys } from "../engine/keys.js";

export interface Principal {
  tenant_id: string;
  /** Who it is in events: key:<id> or the subject of a token. */
  actor: string;
  key_id: string | null;
  scopes: ReadonlySet<string>;
  operator: boolean;
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
}

export interface KeyAuthenticatorOptions {
  /** Milliseconds of a clock that never goes back. */
  now?: () => number;
  log?: Logger;
}

const REMEMBERED_MS = 5_000;
const TOUCHED_MS = 60_000;
const KNOWN_MS = 3_600_000;
const MOST_REMEMBERED = 10_000;
const hint = "send a key as: Authorization: Bearer ff_…; make one with: fanfold keys create";

interface Remembered {
  key: FoundKey;
  principal: Principal;
  /** From when on the database is asked again. */
  until: number;
}

export class KeyAuthenticator implements CredentialKind {
  readonly #remembered = new Map<string, Remembered>();
  readonly #finding = new Map<string, Promise<Remembered | null>>();
  /** When a key was last let in, and when that was last written down. */
  readonly #used = new Map<string, { at: number; written_at: number }>();
  readonly #to_write = new Set<string>();
  #writing: Promise<void> | null = null;
  readonly #now: () => number;
  readonly #log: Logger | undefined;
  readonly #stop_listening: () => void;

  constructor(
    private readonly db: Database,
    { now = () => performance.now(), log }: KeyAuthenticatorOptions = {},
  ) {
    this.#now = now;
    this.#log = log;
    this.#stop_listening = onKeyChange(db, (key_id) => this.forget(key_id));
  }

  handles(authorization: string): boolean {
    return keyOf(authorization) !== null;
  }

  vouchesFor(authorization: string): boolean {
    const used = this.#used.get(keyOf(authorization)?.key_id ?? "");
    return used !== undefined && this.#now() - used.at < KNOWN_MS;
  }

  async authenticate(authorization: string | undefined): Promise<Principal> {
    if (authorization === undefined) throw new Unauthenticated("this call needs an API key", { hint });
    const parts = keyOf(authorization);
    const found = parts === null ? null : await this.#find(parts.key_id);
    // One answer for all that can be wrong with a key: what is wrong would help only whoever guesses.
    if (parts === null || found === null || !isKeyOf(parts, found.key)) {
      throw new Unauthenticated("the API key is not valid", { hint });
    }
    this.#noteUse(found.key.key_id);
    return found.principal;
  }

  /** Asks the database at the next call with this key. */
  forget(key_id: string): void {
    this.#remembered.delete(key_id);
    // One that is being looked up may have been read before the change: nobody joins it, and its answer is not kept.
    this.#finding.delete(key_id);
  }

  async close(): Promise<void> {
    this.#stop_listening();
    await this.#writing;
  }

  async #find(key_id: string): Promise<Remembered | null> {
    const known = this.#remembered.get(key_id);
    if (known !== undefined && this.#now() < known.until) return known;
    const started = this.#finding.get(key_id);
    if (started !== undefined) return started;
    const finding = this.#ask(key_id);
    this.#finding.set(key_id, finding);
    try {
      const found = await finding;
      // Only keys that exist: whoever makes ids up does not fill the memory.
      if (found !== null && this.#finding.get(key_id) === finding) {
        if (this.#remembered.size >= MOST_REMEMBERED) this.#remembered.clear();
        this.#remembered.set(key_id, found);
      }
      return found;
    } finally {
      if (this.#finding.get(key_id) === finding) this.#finding.delete(key_id);
    }
  }

  async #ask(key_id: string): Promise<Remembered | null> {
    // Counted from before the question, because the answer may be as old as that.
    const asked_at = this.#now();
    const key = await findKey(this.db, key_id);
    if (key === null) return null;
    const lasts_ms = key.usable_for_s === null ? REMEMBERED_MS : Math.max(0, key.usable_for_s * 1000);
    const { tenant_id, operator } = key;
    const principal = { tenant_id, key_id, operator, actor: `key:${key_id}`, scopes: new Set(key.scopes) };
    return { key, principal, until: asked_at + Math.min(REMEMBERED_MS, lasts_ms) };
  }

  /** Written down beside the call and never waited for: at most once a minute and key. */
  #noteUse(key_id: string): void {
    const now = this.#now();
    const used = this.#used.get(key_id);
    if (used !== undefined) used.at = now;
    if (used !== undefined && now - used.written_at < TOUCHED_MS) return;
    if (this.#used.size >= MOST_REMEMBERED) this.#used.clear();
    this.#used.set(key_id, { at: now, written_at: now });
    this.#to_write.add(key_id);
    this.#writing ??= this.#write().finally(() => {
      this.#writing = null;
    });
  }

  async #write(): Promise<void> {
    while (this.#to_write.size > 0) {
      const key_ids = [...this.#to_write];
      this.#to_write.clear();
      try {
        await touchKeys(this.db, key_ids);
      } catch (error) {
        this.#log?.debug({ err: error }, "when keys were last used could not be written down");
      }
    }
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
    throw new Forbidden("this call is for whoever runs the service", {
      hint: "use a key made with: fanfold keys create --operator",
    });
  }
  if (!principal.scopes.has(scope)) {
    const has = scopes.filter((one) => principal.scopes.has(one));
    throw new Forbidden(`this credential is not allowed to ${scope}`, {
      hint: `use one with the scope ${scope}; this one has ${has.length === 0 ? "none" : has.join(", ")}`,
    });
  }
}
