// All kinds of credentials behind one door, and the guard before it: a caller who failed too often from one address waits.
import type { Logger } from "pino";
import type { JwtSettings } from "../../config.js";
import { OverLimit, Unauthenticated } from "../../core/errors/errors.js";
import type { Database } from "../../engine/database/database.js";
import { type Authenticator, type CredentialKind, KeyAuthenticator, type Principal, send_key } from "./auth.js";
import { FailedSignIns } from "./failed_sign_ins.js";
import { JwtAuthenticator } from "./jwt.js";
import { SessionAuthenticator } from "./sessions.js";

export interface AuthenticationParts {
  db: Database;
  /** Tokens of an OpenID provider beside the keys; null: keys only. */
  jwt?: JwtSettings | null;
  log?: Logger;
  attempts?: FailedSignIns;
}

export function createAuthentication({ db, jwt = null, log, attempts }: AuthenticationParts): Authenticator {
  const keys = new KeyAuthenticator(db, { log });
  const kinds: CredentialKind[] = [keys, new SessionAuthenticator(db, keys, { log })];
  if (jwt !== null) kinds.push(new JwtAuthenticator(db, jwt, { log }));
  return new Authentication(kinds, attempts);
}

export class Authentication implements Authenticator {
  constructor(
    private readonly kinds: readonly CredentialKind[],
    private readonly attempts = new FailedSignIns(),
  ) {}

  /** Without an address it is one of ours that asks again: that is no attempt. */
  async authenticate(authorization: string | undefined, address?: string): Promise<Principal> {
    // Nothing was tried, so nothing has failed.
    if (authorization === undefined) throw new Unauthenticated("this call needs a credential", send_key);
    const kind = this.kinds.find((one) => one.handles(authorization));
    const attempts = kind?.attempts ?? this.attempts;
    const wait_s = address === undefined ? 0 : attempts.wait(address);
    // Many may share an address, a proxy's for instance: a caller who is known, or proves who they are, is not shut out by others'
    // failures. Only those wait for whom the database would have to be asked about something that may be made up.
    if (wait_s > 0 && (await kind?.vouchesFor(authorization)) !== true) {
      throw new OverLimit("too many calls with wrong credentials came from this address", {
        hint: "check the key, and come back later",
        retry_after_s: wait_s,
      });
    }
    try {
      if (kind === undefined) throw new Unauthenticated("the credential is not valid", send_key);
      return await kind.authenticate(authorization, address);
    } catch (error) {
      if (error instanceof Unauthenticated && address !== undefined) attempts.failed(address);
      throw error;
    }
  }

  async close(): Promise<void> {
    for (const kind of this.kinds) await kind.close?.();
  }
}
