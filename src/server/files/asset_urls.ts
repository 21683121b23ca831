// The addresses of files in zones: /assets/<zone>/<key>, and signed ones that anybody may read until they expire. The signature is
// over everything that says which file it is, so that it opens no other.
import { formatZoneRef, type ZoneRef } from "../../core/places/zones.js";
import type { Engine } from "../../engine/engine.js";
import type { Sealer } from "../../engine/sealing.js";
import { readableProblem } from "../../storage/keys.js";
import { isSignedQuery, type SignedQuery, type SignedUrlOptions, signQuery } from "./signed_query.js";

export { default_expires_s, type SignedUrlOptions } from "./signed_query.js";

const purpose = "asset url";

/** `base`: http://host:port, or "" for an address on this server. */
export function assetUrl(base: string, { zone, key }: ZoneRef): string {
  return `${base}/assets/${zone}/${key.split("/").map(encodeURIComponent).join("/")}`;
}

/** Without a secret key nothing can be signed: then it is the plain address, which takes an API key. */
export function signedAssetUrl(
  sealer: Sealer,
  base: string,
  tenant_id: string,
  ref: ZoneRef,
  options: SignedUrlOptions = {},
): string {
  const signed = signQuery(sealer, purpose, tenant_id, formatZoneRef(ref), options);
  return signed === null ? assetUrl(base, ref) : `${assetUrl(base, ref)}?${new URLSearchParams({ ...signed })}`;
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

/** Was this address made here, and is it still good? */
export function isSignedFor(sealer: Sealer, ref: ZoneRef, query: SignedQuery, now_ms = Date.now()): boolean {
  return isSignedQuery(sealer, purpose, formatZoneRef(ref), query, now_ms);
}
