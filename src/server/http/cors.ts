// Pages of other origins that may use the catalogue: those the operator names. Credentials are sent as headers by callers who have them;
// the cookie of a session is never allowed along (no access-control-allow-credentials, whatever the origin). Files under /assets
// answer for themselves.
import type { FastifyInstance } from "fastify";

const open_to_pages = /^\/(?:stac|ogc|tiles)(?:[/?]|$)/;
const exposed = "ETag, Location, Retry-After, X-Request-Id";
const sent = "authorization, content-type, if-match, if-none-match";
const methods = "GET, HEAD, POST, PUT, PATCH, DELETE";

/** `origins`: https://example.org, or * for all; none: no page of another origin reads anything. */
export function allowOrigins(app: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return;
  const all = origins.includes("*");
  const known = new Set(origins);
  app.addHook("onRequest", async (request, reply) => {
    if (!open_to_pages.test(request.url)) return;
    reply.header("vary", "Origin");
    const { origin } = request.headers;
    if (origin === undefined || !(all || known.has(origin))) return;
    reply.headers({
      "access-control-allow-origin": all ? "*" : origin,
      "access-control-expose-headers": exposed,
      "cross-origin-resource-policy": "cross-origin",
    });
    if (request.method !== "OPTIONS" || request.headers["access-control-request-method"] === undefined) return;
    reply.headers({
      "access-control-allow-methods": methods,
      "access-control-allow-headers": sent,
      "access-control-max-age": "600",
    });
    return reply.status(204).send();
  });
}
