// What a call is known by: its Authorization header, or else the cookie of a browser's session. A browser sends a cookie whoever
// asks it to, so with a cookie the call must also be one of our own page's: this is where a forged one ends.
import type { FastifyReply, FastifyRequest } from "fastify";
import { Forbidden } from "../../core/errors/errors.js";
import { isSessionToken } from "../../core/values/session_token.js";
import { sessionAuthorization } from "./sessions.js";

/** Sent by the dashboard with each call that changes something; another origin's page cannot add it without being asked about. */
export const own_header = "x-fanfold-request";

export interface OwnPlace {
  /** Without a slash at its end; undefined: as the call came. */
  public_url?: string | undefined;
}

/** The header wins. Throws Forbidden where a cookie is sent by what is not our page. */
export function authorizationOf(request: FastifyRequest, place: OwnPlace): string | undefined {
  const { authorization } = request.headers;
  if (authorization !== undefined) return authorization;
  const token = sessionTokenOf(request);
  if (token === null) return undefined;
  assertOwnPage(request, place);
  if (!isReading(request) && request.headers[own_header] !== "1") {
    throw new Forbidden("a call by cookie that changes something must say that a page of this service sends it", {
      hint: `send the header ${own_header}: 1, or a key as: Authorization: Bearer ff_…`,
    });
  }
  return sessionAuthorization(token);
}

function isReading({ method }: FastifyRequest): boolean {
  return method === "GET" || method === "HEAD";
}

/** What the browser says of where the call comes from, as far as it says anything. */
export function assertOwnPage(request: FastifyRequest, place: OwnPlace): void {
  const site = request.headers["sec-fetch-site"];
  if (site !== undefined) {
    // "none": typed into the address bar, or a bookmark; nothing changes that way.
    if (site === "same-origin" || (site === "none" && isReading(request))) return;
    throw refused(`the browser says that it comes from elsewhere (${String(site).slice(0, 20)})`);
  }
  const { origin } = request.headers;
  if (origin === undefined || isOwnOrigin(origin, request, place)) return;
  throw refused("its Origin is not where this service is");
}

function refused(why: string): Forbidden {
  return new Forbidden(`the session's cookie was not taken: ${why}`, {
    hint: "use the dashboard's own address, or set FANFOLD_PUBLIC_URL to it; programs send a key",
  });
}

/** By host and port. The scheme is the proxy's where one ends TLS, and SameSite looks at it already. */
function isOwnOrigin(origin: string, request: FastifyRequest, { public_url }: OwnPlace): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, host } = new URL(origin);
  if (protocol !== "https:" && protocol !== "http:") return false;
  const own = [hostOf(`${protocol}//${request.host}`), public_url === undefined ? null : hostOf(public_url)];
  return own.includes(host);
}

/** Without the port where it is the usual one. */
function hostOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).host : null;
}

/** Two services on two ports of one machine share their cookies' names; so each has its own. */
function cookieName({ host }: FastifyRequest): string {
  const port = /:(\d{1,5})$/.exec(host ?? "")?.[1];
  return port === undefined ? "fanfold_session" : `fanfold_session_${port}`;
}

/** A browser takes a cookie of such a name from this very host only, over TLS: a neighbour under the same domain can plant none. */
const guard = "__Host-";

/** null: there is none, or it is none of ours. One that was planted beside our own does not count. */
export function sessionTokenOf(request: FastifyRequest): string | null {
  const name = cookieName(request);
  let found: string | null = null;
  for (const pair of (request.headers.cookie ?? "").split(";")) {
    const [key, value = ""] = pair.split("=", 2).map((part) => part.trim());
    if (!isSessionToken(value)) continue;
    if (key === guard + name) return value;
    if (key === name) found ??= value;
  }
  return found;
}

/** As the server bounds it: what is left in a browser longer than that opens nothing. */
const LASTS_S = 7 * 86_400;

/** `token` null takes it back. `base_path`: where the service is on its host, without a slash at its end. */
export function setSessionCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  token: string | null,
  base_path: string,
): void {
  // Anything else could say more than a path.
  const path = /^[\w.~%/-]+$/.test(base_path) ? base_path : "/";
  const is_over_tls = isOverTls(request);
  const attributes = [`Path=${path}`, `Max-Age=${token === null ? 0 : LASTS_S}`, "HttpOnly", "SameSite=Strict"];
  if (is_over_tls) attributes.push("Secure");
  const name = is_over_tls && path === "/" ? guard + cookieName(request) : cookieName(request);
  reply.header("set-cookie", [`${name}=${token ?? ""}`, ...attributes].join("; "));
}

/** The page's own Origin knows also where a proxy says nothing of TLS. */
function isOverTls({ protocol, headers }: FastifyRequest): boolean {
  return protocol === "https" || (headers.origin ?? "").startsWith("https://");
}
