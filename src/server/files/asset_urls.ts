// The addresses of files in zones: /assets/<zone>/<key>, and signed ones that anybody may read until they expire. The signature is
// over everything that says which file it is, so that it opens no other.
import { formatZoneRef, type ZoneName, type ZoneRef } from "../../core/places/zones.js";
import type { Engine } from "../../engine/engine.js";
import type { Sealer } from "../../engine/sealing.js";
import { readableProblem } from "../../storage/keys.js";

const purpose = "asset url";
/** Signed addresses change once in a while and not at each call, so that whoever keeps what it fetched finds it again. */
const STEP_S = 3_600;
export const default_expires_s = 12 * 3_600;

/** `base`: http://host:port, or "" for an address on this server. */
export function assetUrl(base: string, { zone, key }: ZoneRef): string {
  return `${base}/assets/${zone}/${key.split("/").map(encodeURIComponent).join("/")}`;
}

export interface SignedUrlOptions {
  /** It is good for at least as long, and an hour more at most. */
  expires_s?: number;
  now_ms?: number;
}

/** Without a secret key nothing can be signed: then it is the plain address, which takes an API key. */
export function signedAssetUrl(
  sealer: Sealer,
  base: string,
  tenant_id: string,
  ref: ZoneRef,
  { expires_s = default_expires_s, now_ms = Date.now() }: SignedUrlOptions = {},
): string {
  const expires = Math.ceil((now_ms / 1000 + expires_s) / STEP_S) * STEP_S;
  const signature = sealer.sign(signedText(tenant_id, ref, String(expires)), purpose);
  if (signature === null) return assetUrl(base, ref);
  return `${assetUrl(base, ref)}?${new URLSearchParams({ expires: String(expires), tenant: tenant_id, signature })}`;
}

/** For catalogues: what an item says of a file of this tenant's in our zones, as an address here; anything else as it is. */
export function assetAddress(engine: Engine, base: string, options: SignedUrlOptions = {}): (href: string) => string {
  return (href) => {
    const ref = engine.zones.refOf(href, engine.tenant);
    // What stands in an item is anybody's: what could be no key, a line break in it, is not signed.
    return ref === null || readableProblem(ref.key) !== null
      ? href
      : signedAssetUrl(engine.sealer, base, engine.tenant, ref, options);
  };
}

export interface SignedQuery {
  expires: string;
  tenant: string;
  signature: string;
}

/** Was this address made here, and is it still good? */
export function isSignedFor(sealer: Sealer, ref: ZoneRef, query: SignedQuery, now_ms = Date.now()): boolean {
  const { expires, tenant, signature } = query;
  const is_signed = sealer.isSigned(signedText(tenant, ref, expires), purpose, signature);
  return is_signed && /^\d{1,12}$/.test(expires) && Number(expires) * 1000 > now_ms;
}

/** No part of it can hold a line break. */
function signedText(tenant_id: string, ref: { zone: ZoneName; key: string }, expires: string): string {
  return [tenant_id, formatZoneRef(ref), expires].join("\n");
}
