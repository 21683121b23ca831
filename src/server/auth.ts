// Who calls: the tenant and what the caller may do come from the credential and from nothing else. A key is remembered for at
// most five seconds, so that a revoked one is refused as quickly.
import { performance } from "node:perf_hooks";
import type { Scope } from "../core/api/endpoint.js";
import { isSecretOf, readKey } from "../core/api_key.js";
import { Forbidden, Unauthenticated } from "../core/errors.js";
import type { Database } from "../engine/database.js";
import { type FoundKey, findKey } from "../engine/keys.js";

export interface Principal {
  tenant_id: string;
  /** Who it is in events: key:<id> or the subject of a token. */
  actor: string;
  key_id: string | null;
  scopes: ReadonlySet<string>;
  operator: boolean;
}

export interface Authenticator {
  /** Throws Unauthenticated. */
  authenticate(authorization: string | undefined): Promise<Principal>;
}

const REMEMBERED_MS = 5_000;
const MOST_REMEMBERED = 10_000;
const hint = "send a key as: Authorization: Bearer ff_…; make one with: fanfold keys create";

export class KeyAuthenticator implements Authenticator {
  readonly #remembered = new Map<string, { key: FoundKey | null; at: number }>();

  constructor(private readonly db: Database) {}

  async authenticate(authorization: string | undefined): Promise<Principal> {
    if (authorization === undefined) throw new Unauthenticated("this call needs an API key", { hint });
    const parts = readKey(authorization.replace(/^Bearer +/i, ""));
    const key = parts === null ? null : await this.#find(parts.key_id);
    // One answer for all that can be wrong with a key: what is wrong would help only whoever guesses.
    if (
      parts === null ||
      key === null ||
      !key.usable ||
      key.env !== parts.env ||
      !isSecretOf(parts.secret, key.secret_hash)
    ) {
      throw new Unauthenticated("the API key is not valid", { hint });
    }
    const { key_id, tenant_id, operator } = key;
    return { tenant_id, key_id, operator, actor: `key:${key_id}`, scopes: new Set(key.scopes) };
  }

  async #find(key_id: string): Promise<FoundKey | null> {
    const now = performance.now();
    const known = this.#remembered.get(key_id);
    if (known !== undefined && now - known.at < REMEMBERED_MS) return known.key;
    const key = await findKey(this.db, key_id);
    if (this.#remembered.size >= MOST_REMEMBERED) this.#remembered.clear();
    this.#remembered.set(key_id, { key, at: now });
    return key;
  }
}

export function assertScope(principal: Principal, scope: Scope, operator: boolean): void {
  if (operator && !principal.operator) {
    throw new Forbidden("this call is for whoever runs the service", {
      hint: "use a key made with: fanfold keys create --operator",
    });
  }
  if (!principal.scopes.has(scope)) {
    throw new Forbidden(`this key is not allowed to ${scope}`, {
      hint: `use a key with the scope ${scope}; this one has ${[...principal.scopes].join(", ")}`,
    });
  }
}
