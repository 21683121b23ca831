// GET and HEAD /assets/<zone>/<key>: files of zones, with ranges, for map viewers and GDAL. Only what is recorded and not retracted is
// there; a caller has an API key, or an address that was signed here. What lies in a bucket is not carried through this process:
// the caller is sent there with an address that the store has signed.
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { NotFound, StorageError, Unauthenticated } from "../../core/errors/errors.js";
import { type ZoneName, type ZoneRef, zone_names } from "../../core/places/zones.js";
import type { Engine } from "../../engine/engine.js";
import type { AssetRecord } from "../../engine/verbs/assets.js";
import { readableProblem } from "../../storage/keys.js";
import { type Authenticator, assertScope } from "../access/auth.js";
import { sessionTokenOf } from "../access/credentials.js";
import { leaveWith } from "../http/call_places.js";
import { MethodNotAllowed } from "../http/methods.js";
import type { Service } from "../service.js";
import { isSignedFor } from "./asset_urls.js";
import { type Conditions, conditionsOf, isSameFile, wantedBytes } from "./byte_range.js";
import { signedQueryOf } from "./signed_query.js";

export interface ZoneFilesParts {
  authenticator: Authenticator;
  service: Service;
  engines: { of(tenant: string): Engine };
  cors_origins: readonly string[];
}

/** How long the store's own address is good: to begin to read, not to end. */
const REDIRECT_S = 900;
/** Pictures are smaller, rasters larger. */
const CARRIED_BYTES = 8 * 1024 * 1024;
const path = "/assets/*";
const allowed = ["GET", "HEAD", "OPTIONS"];

export function registerZoneFiles(app: FastifyInstance, parts: ZoneFilesParts): void {
  app.route({
    method: ["GET", "HEAD"],
    url: path,
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      allowOrigin(parts.cors_origins, request, reply);
      const ref = refOf(request);
      const tenant_id = await tenantOf(parts, request, ref);
      const place = parts.service.calls.take(tenant_id);
      leaveWith(reply.raw, place);
      const engine = parts.engines.of(tenant_id);
      const asset = ref === null ? null : await engine.assets.find(ref);
      if (asset === null) throw notThere();
      await send(engine, asset, request, reply);
      return reply;
    },
  });
  app.route({
    method: "OPTIONS",
    url: path,
    handler: async (request, reply) => {
      allowOrigin(parts.cors_origins, request, reply);
      reply.header("allow", allowed.join(", "));
      if (reply.hasHeader("access-control-allow-origin")) {
        reply.headers({
          "access-control-allow-methods": allowed.join(", "),
          "access-control-allow-headers":
            "authorization, range, if-range, if-match, if-none-match, if-modified-since, if-unmodified-since",
          "access-control-max-age": "86400",
        });
      }
      return reply.status(204).send();
    },
  });
  app.route({
    method: ["POST", "PUT", "PATCH", "DELETE"],
    url: path,
    onRequest: async (request, reply) => {
      reply.header("allow", allowed.join(", "));
      throw new MethodNotAllowed(request.method, allowed);
    },
    handler: async () => {},
  });
}

/** null: whatever it is, there is no such file. */
function refOf(request: FastifyRequest): ZoneRef | null {
  const path = (request.params as { "*": string })["*"];
  const slash = path.indexOf("/");
  const [zone, key] = [path.slice(0, slash) as ZoneName, path.slice(slash + 1)];
  return slash > 0 && zone_names.includes(zone) && readableProblem(key) === null ? { zone, key } : null;
}

/** Known before anything is told: not even whether there is such a file. */
async function tenantOf({ authenticator, service }: ZoneFilesParts, request: FastifyRequest, ref: ZoneRef | null) {
  const asked = request.query as Record<string, unknown>;
  if (asked.signature === undefined) {
    const principal = await authenticator.authenticate(service.authorizationOf(request), request.ip);
    assertScope(principal, "read", false);
    return principal.tenant_id;
  }
  const query = signedQueryOf(asked);
  // The tenant's id would be looked for in the database: it must be one that we have signed.
  if (query === null || ref === null || !isSignedFor(service.engine.sealer, ref, query)) {
    throw new Unauthenticated("this address is not signed for this file, or no longer good", {
      hint: "ask for the item again: its links are signed afresh; or send an API key with the scope read",
    });
  }
  return query.tenant;
}

async function send(engine: Engine, asset: AssetRecord, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const etag = `"${asset.sha256}"`;
  const headers = headersOf(asset, etag, request, reply);
  const finish = (status: number, more: Record<string, string | number> = {}) => {
    reply.hijack();
    reply.raw.writeHead(status, { ...headers, ...more });
    reply.raw.end();
  };
  const conditions = conditionsOf(request.headers as Conditions, etag, new Date(asset.created_at).getTime());
  if (conditions === "not_modified") return finish(304);
  if (conditions === "failed") return finish(412, { "content-length": 0 });
  const is_remote = engine.zones.isRemote(asset.zone);
  // Ranges are for GET alone.
  const range = request.method === "GET" ? request.headers.range : undefined;
  const if_range = request.headers["if-range"] as string | undefined;
  const wanted = isSameFile(if_range, etag) ? wantedBytes(range, asset.bytes) : { kind: "whole" as const };
  if (wanted.kind === "unsatisfiable") {
    return finish(416, { "content-range": `bytes */${asset.bytes}`, "content-length": 0 });
  }
  const [from, to] = wanted.kind === "part" ? [wanted.from, wanted.to] : [0, asset.bytes - 1];
  const length = to - from + 1;
  const part: Record<string, string> =
    wanted.kind === "part" ? { "content-range": `bytes ${from}-${to}/${asset.bytes}` } : {};
  const told = { "content-type": asset.media_type, "content-length": length, ...part };
  const status = wanted.kind === "part" ? 206 : 200;
  const store = engine.zones.store(asset.zone, engine.tenant);
  if (request.method === "HEAD") {
    if (!is_remote && (await store.stat(asset.key))?.bytes !== asset.bytes) throw altered(engine, asset);
    return finish(status, told);
  }
  if (is_remote && !isForOwnPage(asset, request)) {
    const url = await store.signedUrl(asset.key, { expires_s: REDIRECT_S, media_type: asset.media_type });
    if (url !== null) return finish(302, { location: url, "content-length": 0, "cache-control": "private, no-store" });
  }
  const reading = await store.read(asset.key, { offset: from, length }).catch((error: unknown) => {
    if (error instanceof StorageError && error.reason !== "unavailable") throw altered(engine, asset, error);
    throw error;
  });
  try {
    if (reading.stat.bytes !== asset.bytes) throw altered(engine, asset);
    reply.hijack();
    reply.raw.writeHead(status, { ...headers, ...told });
    // If it breaks on the way the connection is cut: nobody must take a part for the whole.
    await pipeline(Readable.from(reading.pieces), reply.raw).catch(() => reply.raw.destroy());
  } finally {
    await reading.close();
  }
}

/** The dashboard's policy lets it load nothing from elsewhere, not even where a call leads on: its pictures are carried through. */
function isForOwnPage({ bytes }: AssetRecord, request: FastifyRequest): boolean {
  return bytes <= CARRIED_BYTES && sessionTokenOf(request) !== null;
}

function headersOf(asset: AssetRecord, etag: string, request: FastifyRequest, reply: FastifyReply) {
  const cors = Object.entries(reply.getHeaders()).filter(([name]) => name.startsWith("access-control-"));
  return {
    ...(Object.fromEntries(cors) as Record<string, string>),
    // What a browser keeps is for the person who was signed in, and for none after them.
    vary: [reply.getHeader("vary"), "authorization, cookie"].filter(Boolean).join(", "),
    "accept-ranges": "bytes",
    etag,
    "last-modified": new Date(asset.created_at).toUTCString(),
    // A key of ours is written once; somebody else's file may be recorded again.
    "cache-control": asset.adopted ? "private, max-age=60" : "private, max-age=3600",
    // What a file holds is anybody's: a browser that shows it runs nothing of it.
    "x-content-type-options": "nosniff",
    "content-security-policy": "sandbox; default-src 'none'",
    "cross-origin-resource-policy": reply.hasHeader("access-control-allow-origin") ? "cross-origin" : "same-origin",
    "x-request-id": request.id,
  };
}

function allowOrigin(origins: readonly string[], request: FastifyRequest, reply: FastifyReply): void {
  const { origin } = request.headers;
  if (origins.length === 0) return;
  reply.header("vary", "Origin");
  if (origin === undefined || !(origins.includes("*") || origins.includes(origin))) return;
  reply.headers({
    "access-control-allow-origin": origins.includes("*") ? "*" : origin,
    "access-control-expose-headers": "accept-ranges, content-length, content-range, etag, last-modified",
  });
}

function notThere(): NotFound {
  return new NotFound("there is no such file", {
    hint: "files are named as /assets/<zone>/<key>; see the links of items",
  });
}

/** Recorded, but not what is there: for the log; the caller is told no more than that there is none. */
function altered(engine: Engine, { zone, key, bytes }: AssetRecord, error?: unknown): NotFound {
  engine.log.warn({ zone, key, bytes, tenant_id: engine.tenant, err: error }, "a recorded file is gone or was changed");
  return new NotFound("the file is not there any more, or is not what it was", {
    hint: "run the job again that made it",
  });
}
