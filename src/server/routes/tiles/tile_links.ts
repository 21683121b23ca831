// Addresses of raster tiles: with the look that was asked for, and, for map clients that send no headers, signed: good for every tile of that item,
// or of that collection, and for nothing else.
import type { FastifyRequest } from "fastify";
import { Unauthenticated } from "../../../core/errors/errors.js";
import type { Engine } from "../../../engine/engine.js";
import { isSignedQuery, signedQueryOf, signQuery } from "../../files/signed_query.js";
import type { Service } from "../../service.js";
import { choice_names, look_names, type Query } from "./request.js";

const purpose = "raster tile url";

export interface Tiled {
  collection: string;
  /** Without one, all of the collection. */
  item?: string | undefined;
}

export function tilesPath({ collection, item }: Tiled): string {
  const parts = item === undefined ? [collection] : [collection, item];
  return `/tiles/${parts.map(encodeURIComponent).join("/")}`;
}

/** What an address says of the look and of the choice, and nothing else of it. */
export function keptQuery(query: Query): Record<string, string> {
  const names: readonly string[] = [...look_names, ...choice_names];
  return Object.fromEntries(
    Object.entries(query).filter((pair): pair is [string, string] => names.includes(pair[0]) && pair[1] !== undefined),
  );
}

/** As XYZ templates have it. `more`: the names of a map's own places for zoom, column and row. */
export function tileTemplate(
  base: string,
  tiled: Tiled,
  format: string,
  query: Record<string, string>,
  [z, x, y]: readonly string[],
) {
  const asked = new URLSearchParams(query).toString();
  return `${base}${tilesPath(tiled)}/{${z}}/{${x}}/{${y}}.${format}${asked === "" ? "" : `?${asked}`}`;
}

/** Nothing without a secret key: then the addresses take an API key. */
export function signatureOf(engine: Engine, tiled: Tiled, service: Service): Record<string, string> {
  return { ...signQuery(engine.sealer, purpose, engine.tenant, tilesPath(tiled), service.signing) };
}

export function tenantOfRasterTiles(request: FastifyRequest, service: Service): string | null {
  const query = request.query as Record<string, unknown>;
  // A caller with a key acts for the key's tenant. A cookie is sent by itself, and does not count before a signature.
  if (query.signature === undefined || request.headers.authorization !== undefined) return null;
  const { collection_id = "", item_id } = request.params as { collection_id?: string; item_id?: string };
  const signed = signedQueryOf(query);
  const named = tilesPath({ collection: collection_id, item: item_id });
  if (signed !== null && isSignedQuery(service.engine.sealer, purpose, named, signed)) return signed.tenant;
  throw new Unauthenticated("this address is not signed for these tiles, or no longer good", {
    hint: "ask for the TileJSON again: its addresses are signed afresh; or send an API key with the scope read",
  });
}
