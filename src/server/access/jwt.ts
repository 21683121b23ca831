// Tokens of an OpenID provider as credentials: issuer, audience and algorithms are pinned by the operator, the
// provider's keys are fetched and remembered, and a token never makes an operator. A token cannot be taken back before it
// expires, so those of a provider should live for minutes.
import { errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from "jose";
import type { Logger } from "pino";
import type { JwtSettings } from "../../config.js";
import { type Scope, scopes } from "../../core/api/endpoint.js";
import { NotFound, Unauthenticated, Unavailable } from "../../core/errors/errors.js";
import type { Database } from "../../engine/database/database.js";
import { type TenantRecord, Tenants } from "../../engine/verbs/tenants.js";
import type { CredentialKind, Principal } from "./auth.js";
import { openJwks } from "./jwks.js";
import { type Clock, Remembered, steady_clock } from "./remembered.js";

export type { JwtSettings };

const CLOCK_TOLERANCE_S = 60;

export interface JwtOptions {
  now?: Clock;
  log?: Logger;
}

export class JwtAuthenticator implements CredentialKind {
  readonly #tenants: Remembered<TenantRecord>;
  readonly #keys: JWTVerifyGetKey;
  readonly #log: Logger | undefined;

  constructor(
    db: Database,
    private readonly settings: JwtSettings,
    { now = steady_clock, log }: JwtOptions = {},
  ) {
    const tenants = new Tenants(db, "");
    this.#tenants = new Remembered(
      async (tenant_id) => ({ value: await tenants.get(tenant_id), usable_for_s: null }),
      now,
    );
    this.#keys = openJwks(settings, now);
    this.#log = log;
  }

  handles(authorization: string): boolean {
    return tokenOf(authorization) !== null;
  }

  /** A signature is verified without anybody being asked. */
  async vouchesFor(authorization: string): Promise<boolean> {
    const token = tokenOf(authorization);
    if (token === null) return false;
    return this.#verified(token).then(
      () => true,
      () => false,
    );
  }

  async authenticate(authorization: string | undefined): Promise<Principal> {
    const token = authorization === undefined ? null : tokenOf(authorization);
    if (token === null) throw new Unauthenticated("this call needs a token");
    const claims = await this.#verified(token);
    const { tenant_claim, scope_claim, scope_prefix } = this.settings;
    const tenant_id = claimOf(claims, tenant_claim);
    if (typeof tenant_id !== "string" || !/^[a-z0-9][a-z0-9_-]{0,62}$/.test(tenant_id)) {
      throw new Unauthenticated(`the token names no tenant in its claim "${tenant_claim}"`);
    }
    await this.#assertTenant(tenant_id);
    return {
      tenant_id,
      key_id: null,
      operator: false,
      actor: `token:${subjectText(claims.sub)}`,
      scopes: new Set(scopesIn(claimOf(claims, scope_claim), scope_prefix)),
    };
  }

  async #verified(token: string): Promise<JWTPayload> {
    const { issuer, audience, algorithms } = this.settings;
    try {
      const { payload } = await jwtVerify(token, this.#keys, {
        issuer,
        audience: [...audience],
        algorithms: [...algorithms],
        clockTolerance: CLOCK_TOLERANCE_S,
        requiredClaims: ["exp", "sub"],
      });
      return payload;
    } catch (error) {
      throw this.#refusal(error);
    }
  }

  /** What is wrong with a token is told only where its signature is right. */
  #refusal(error: unknown): Error {
    if (error instanceof errors.JWTExpired)
      return new Unauthenticated("the token has expired", { hint: "get a new one" });
    if (error instanceof errors.JOSEError && !isProviders(error)) return new Unauthenticated("the token is not valid");
    this.#log?.warn({ err: error }, "the keys to verify tokens with cannot be had");
    return new Unavailable("tokens cannot be verified right now", { hint: "try again" });
  }

  async #assertTenant(tenant_id: string): Promise<void> {
    try {
      await this.#tenants.find(tenant_id);
    } catch (error) {
      if (error instanceof NotFound) throw new Unauthenticated("the token's tenant does not exist here");
      throw error;
    }
  }
}

/** Our inability, not the token's fault. */
function isProviders({ code }: errors.JOSEError): boolean {
  return ["ERR_JWKS_TIMEOUT", "ERR_JWKS_INVALID", "ERR_JWK_INVALID", "ERR_JOSE_GENERIC"].includes(code);
}

/** Three parts of base64url; a key of ours has no dots. */
function tokenOf(authorization: string): string | null {
  return /^Bearer +([\w-]+\.[\w-]+\.[\w-]*) *$/i.exec(authorization)?.[1] ?? null;
}

function claimOf(claims: JWTPayload, name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : undefined;
}

/** As OAuth writes them, with blanks between, or as a list. Those without our prefix are not meant for us. */
function scopesIn(claim: unknown, prefix: string): Scope[] {
  const words = typeof claim === "string" ? claim.split(/\s+/) : Array.isArray(claim) ? claim : [];
  return scopes.filter((scope) => words.includes(prefix + scope));
}

function subjectText(sub: string | undefined): string {
  return (sub ?? "").replaceAll(/[^\x20-\x7e]/g, "?").slice(0, 120);
}
