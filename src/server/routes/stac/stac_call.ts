// What every call of the STAC API needs: the tenant's catalogue, a way to ask it, and addresses as the caller sees them.
import type { Catalog } from "../../../catalog/catalog.js";
import { NotFound } from "../../../core/errors/errors.js";
import { quoted } from "../../../core/errors/problems.js";
import type { SqlSession } from "../../../core/task/context.js";
import type { StacCollection, StacItem } from "../../../geo/stac.js";
import { assetAddress } from "../../files/asset_urls.js";
import type { Call } from "../../http/route.js";
import { StacLinks } from "./links.js";
import { toldFor } from "./old_readers.js";
import type { AssetAddress } from "./served.js";

export interface StacCall {
  catalog: Catalog;
  db: SqlSession;
  links: StacLinks;
  address: AssetAddress;
  /** How items are told to this caller. */
  told: (item: StacItem) => StacItem;
}

type Caller = Pick<Call, "engine" | "service" | "request">;

/** Throws NotFound where there is no catalogue. */
export async function stacCallOf({ engine, service, request }: Caller): Promise<StacCall> {
  const catalog = await service.catalogs.of(engine);
  if (catalog === null) {
    throw new NotFound("this service has no catalogue", {
      hint: "the operator turns it on with PostGIS in the database and: fanfold migrate",
    });
  }
  const base = service.publicUrl(request);
  const address = assetAddress(engine, base, service.signing);
  const told = toldFor(request.headers["user-agent"]);
  return { catalog, db: engine.db, links: new StacLinks(base), address, told };
}

export async function collectionOf({ catalog, db }: StacCall, id: string): Promise<StacCollection> {
  const found = await catalog.collection(db, id);
  if (found !== null) return found;
  throw new NotFound(`there is no collection ${quoted(id)}`, { hint: "GET /stac/collections lists them" });
}

export async function itemOf(stac: StacCall, collection: string, id: string): Promise<StacItem> {
  const found = await stac.catalog.item(stac.db, collection, id);
  if (found !== null) return found;
  await collectionOf(stac, collection);
  const hint = `GET /stac/collections/${encodeURIComponent(collection)}/items lists them`;
  throw new NotFound(`there is no item ${quoted(id)} in ${quoted(collection)}`, { hint });
}
