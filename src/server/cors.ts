// Pages of other origins that may read the catalogue and its files: those the operator names. Credentials are sent as headers by
// whoever has them; cookies there are none.
import type { FastifyInstance } from "fastify";

const open_to_pages = /^\/(stac|assets)(?:[/?]|$)/;
const exposed = "ETag, Location, Retry-After, X-Request-Id, Content-Range, Accept-Ranges, Content-Length";
const sent = "authorization, content-type, if-match, if-none-match, if-modified-since, if-range, range";
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
    const headers = {
      "access-control-allow-origin": all ? "*" : origin,
      "access-control-expose-headers": exposed,
      "cross-origin-resource-policy": "cross-origin",
    };
    reply.headers(headers);
    // Some answers are written past the framework: they carry it too.
    for (const [name, value] of Object.entries(headers)) reply.raw.setHeader(name, value);
    reply.raw.setHeader("vary", "Origin");
    if (request.method !== "OPTIONS" || request.headers["access-control-request-method"] === undefined) return;
    reply.headers({
      "access-control-allow-methods": methods,
      "access-control-allow-headers": sent,
      "access-control-max-age": "600",
    });
    return reply.status(204).send();
  });
}
