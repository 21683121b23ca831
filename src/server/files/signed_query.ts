// What makes an address good for anybody until it expires: the tenant it acts for, until when, and a signature over both and whatever the
// address names. A signature of one purpose is none for another.
import type { Sealer } from "../../engine/sealing.js";

/** Signed addresses change once in a while and not at each call, so that a client that keeps what it fetched finds it again. */
const STEP_S = 3_600;
export const default_expires_s = 12 * 3_600;

export interface SignedUrlOptions {
  /** It is good for at least as long, and an hour more at most. */
  expires_s?: number;
  now_ms?: number;
}

export interface SignedQuery {
  expires: string;
  tenant: string;
  signature: string;
}

/** `named`: what the address is of, without a line break. Null without a secret key: nothing can be signed then. */
export function signQuery(
  sealer: Sealer,
  purpose: string,
  tenant: string,
  named: string,
  { expires_s = default_expires_s, now_ms = Date.now() }: SignedUrlOptions = {},
): SignedQuery | null {
  const expires = String(Math.ceil((now_ms / 1000 + expires_s) / STEP_S) * STEP_S);
  const signature = sealer.sign(signedText(tenant, named, expires), purpose);
  return signature === null ? null : { expires, tenant, signature };
}

/** Was it signed here for this, and is it still good? */
export function isSignedQuery(
  sealer: Sealer,
  purpose: string,
  named: string,
  { expires, tenant, signature }: SignedQuery,
  now_ms = Date.now(),
): boolean {
  const is_signed = sealer.isSigned(signedText(tenant, named, expires), purpose, signature);
  return is_signed && /^\d{1,12}$/.test(expires) && Number(expires) * 1000 > now_ms;
}

/** Reads an address that has a signature at all; null where a part of it could not be one. */
export function signedQueryOf(query: Record<string, unknown>): SignedQuery | null {
  const { expires, tenant, signature } = query;
  const is_text = [expires, tenant, signature].every((one) => typeof one === "string" && one.length <= 200);
  return is_text ? ({ expires, tenant, signature } as SignedQuery) : null;
}

/** No part of it can hold a line break. */
function signedText(tenant: string, named: string, expires: string): string {
  return [tenant, named, expires].join("\n");
}
