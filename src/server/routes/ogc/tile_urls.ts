// Signed addresses of a layer's tiles, for map clients that send no headers: good for every tile of that layer, and for nothing else.
import type { FastifyRequest } from "fastify";
import { Unauthenticated } from "../../../core/errors/errors.js";
import { isSignedQuery, type SignedQuery, signedQueryOf, signQuery } from "../../files/signed_query.js";
import type { Service } from "../../service.js";
import type { OgcCall } from "./ogc_call.js";

const purpose = "tile url";

/** Null without a secret key. */
export function signedTiles({ call }: OgcCall, layer: string): SignedQuery | null {
  const { engine, service } = call;
  return signQuery(engine.sealer, purpose, engine.tenant, layer, service.signing);
}

export function tenantOfTiles(request: FastifyRequest, service: Service): string | null {
  const query = request.query as Record<string, unknown>;
  // A caller with a key acts for the key's tenant. A cookie is sent by itself, and does not count before a signature.
  if (query.signature === undefined || request.headers.authorization !== undefined) return null;
  const { layer_id = "" } = request.params as { layer_id?: string };
  const signed = signedQueryOf(query);
  if (signed !== null && isSignedQuery(service.engine.sealer, purpose, layer_id, signed)) return signed.tenant;
  throw new Unauthenticated("this address is not signed for these tiles, or no longer good", {
    hint: "ask for the TileJSON again: its addresses are signed afresh; or send an API key with the scope read",
  });
}
