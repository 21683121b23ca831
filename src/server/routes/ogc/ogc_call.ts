// What every call of the OGC API begins with: whose layers, how the answer is to be told, and the layer it is about.
import { createHash } from "node:crypto";
import { Layers } from "../../../catalog/layers.js";
import { package_version } from "../../../config.js";
import { BadRequest, NotFound } from "../../../core/errors/errors.js";
import { type Problem, quoted, suggestion } from "../../../core/errors/problems.js";
import type { Layer } from "../../../geo/layers/layer.js";
import { holderOf } from "../../access/auth.js";
import { isKnown } from "../../files/byte_range.js";
import type { Call } from "../../http/route.js";
import { OgcLinks } from "./links.js";

export type AnyCall = Pick<Call, "engine" | "principal" | "service" | "request" | "reply" | "signal">;

export interface OgcCall {
  call: AnyCall;
  /** Aborted when the caller is gone; asked for once. */
  signal: AbortSignal;
  layers: Layers;
  links: OgcLinks;
}

export function ogcCallOf(call: AnyCall): OgcCall {
  call.reply.header("vary", "Accept, Authorization, Cookie");
  return {
    call,
    signal: call.signal,
    layers: new Layers(call.engine.tenant),
    links: new OgcLinks(call.service.publicUrl(call.request)),
  };
}

/** What a statement costs is the caller's choice: a tenant has only so many at a time, and strangers have so many of their own. */
export function inTurn<T>({ call, signal }: OgcCall, read: () => Promise<T>): Promise<T> {
  return call.service.long_calls.within(holderOf(call.principal), signal, read);
}

export async function layerOf(ogc: OgcCall, name: string, version: number | null = null): Promise<Layer> {
  const layer = await findLayer(ogc, name, version);
  if (layer !== null) return layer;
  throw noSuchLayer(ogc, name);
}

export function findLayer({ call, layers }: OgcCall, name: string, version: number | null = null) {
  return layers.layer(call.engine.db, name, version);
}

export function noSuchLayer({ links }: OgcCall, name: string): NotFound {
  return new NotFound(`there is no collection ${quoted(name)}`, {
    hint: `${links.root}/collections lists what there is`,
  });
}

/** What `f` says, else what Accept prefers among those two; browsers send text/html first. */
export function formatOf<F extends string>(
  { request }: AnyCall,
  f: string | undefined,
  formats: readonly [F, ...F[]],
  problems?: Problem[],
): F {
  if (f !== undefined) {
    const known = formats.find((one) => one === f);
    if (known !== undefined) return known;
    const problem = { path: "query.f", problem: `${quoted(f)} is no format of this`, fix: suggestion(f, formats) };
    if (problems === undefined) throw new BadRequest("the request is not right", { problems: [problem] });
    problems.push(problem);
    return formats[0];
  }
  const { accept = "" } = request.headers;
  const wanted = accept.split(",").map((one) => one.split(";")[0]!.trim());
  const html_at = wanted.indexOf("text/html");
  const json_at = wanted.findIndex((one) => /\bjson\b|mvt|vector-tile/.test(one));
  const wants_html = html_at >= 0 && (json_at < 0 || html_at < json_at);
  return (wants_html && formats.find((one) => one === "html")) || formats[0];
}

/** Sets the ETag of what a layer's version gives; true, with 304, when the caller has that. `kind`: whatever else the answer is made of. */
export function isUnchanged({ call, links }: OgcCall, { version }: Pick<Layer, "version">, kind: string): boolean {
  const made = createHash("sha256")
    .update([package_version, links.base, kind].join("\n"))
    .digest("base64url")
    .slice(0, 8);
  const etag = `"v${version}.${made}"`;
  call.reply.header("etag", etag);
  if (!call.reply.hasHeader("cache-control")) call.reply.header("cache-control", "private, no-cache");
  if (!isKnown(call.request.headers["if-none-match"], etag)) return false;
  call.reply.status(304);
  return true;
}
