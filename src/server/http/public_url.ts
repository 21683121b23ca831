// Where this service is, as its callers see it: what the operator says, else how the call came. Links in answers begin with it.
import type { FastifyRequest } from "fastify";
import type { TrustedProxies } from "../../core/values/setting_values.js";

export interface PublicPlace {
  /** Without a slash at its end; undefined: as the call came. */
  public_url?: string | undefined;
  trust_proxy?: TrustedProxies | undefined;
}

/** Without a slash at its end. What a caller may make up is never more than an address. */
export function publicUrl(request: FastifyRequest, { public_url, trust_proxy = 0 }: PublicPlace): string {
  if (public_url !== undefined) return public_url;
  const { protocol, host } = request;
  // Fastify has looked at X-Forwarded-Host and -Proto already, where they come from a proxy that is trusted.
  const scheme = protocol === "https" ? "https" : "http";
  return `${scheme}://${isHost(host) ? host : ownAddress(request)}${trust_proxy === 0 ? "" : prefixOf(request)}`;
}

/** For a link that signs in: its secret goes wherever it leads, so that not the caller says where, but the operator, a proxy that is
 * trusted, or the address the call came to. */
export function signInUrl(request: FastifyRequest, place: PublicPlace): string {
  const { public_url, trust_proxy = 0 } = place;
  return public_url !== undefined || trust_proxy !== 0 ? publicUrl(request, place) : `http://${ownAddress(request)}`;
}

/** Its path: "" at the root of its host, else with a slash before and none after. */
export function basePath(request: FastifyRequest, place: PublicPlace): string {
  return new URL(publicUrl(request, place)).pathname.replace(/\/+$/, "");
}

function isHost(host: string | undefined): host is string {
  return /^[a-z0-9.-]{1,253}(:\d{1,5})?$|^\[[0-9a-f:.]{2,45}\](:\d{1,5})?$/i.test(host ?? "");
}

function ownAddress({ socket }: FastifyRequest): string {
  const { localAddress = "127.0.0.1", localPort = 80 } = socket;
  return `${localAddress.includes(":") ? `[${localAddress}]` : localAddress}:${localPort}`;
}

/** The path that a proxy takes off before it hands the call on; of the last proxy, as they add themselves at the end. */
function prefixOf({ headers }: FastifyRequest): string {
  const given =
    String(headers["x-forwarded-prefix"] ?? "")
      .split(",")
      .at(-1)
      ?.trim() ?? "";
  const prefix = given.replace(/\/+$/, "");
  return /^(\/[A-Za-z0-9._~-]{1,100}){1,10}$/.test(prefix) && !/\/\.{1,2}(\/|$)/.test(prefix) ? prefix : "";
}
