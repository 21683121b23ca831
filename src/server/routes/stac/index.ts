// The STAC API at /stac: the catalogue of the caller's tenant, as STAC clients know how to read it.

import type { SearchPage, SearchQuery } from "../../../catalog/catalog.js";
import { queryablesOf } from "../../../catalog/queryables.js";
import { package_version } from "../../../config.js";
import type { Endpoint } from "../../../core/api/endpoint.js";
import { openApi } from "../../../core/api/openapi.js";
import { stac_api } from "../../../core/api/stac.js";
import { geo_json } from "../../../core/api/stac_records.js";
import { BadRequest } from "../../../core/errors/errors.js";
import { quoted } from "../../../core/errors/problems.js";
import { stac_version } from "../../../geo/stac.js";
import { inTurn, type Route, routes } from "../../http/route.js";
import { conforms_to } from "./conformance.js";
import { unlessKnown } from "./etag.js";
import { bodyPageLinks, pageLinks } from "./links.js";
import { pageOfAddress, searchOfAddress, searchOfBody } from "./search_request.js";
import { servedCollection, servedItem, servedPart } from "./served.js";
import { collectionOf, itemOf, type StacCall, stacCallOf } from "./stac_call.js";
import { transactions } from "./transactions.js";

/** Collections that the landing page links to; the others are found at /stac/collections. */
const most_children = 200;

export function stacRoutes(): Route[] {
  let document: { openapi: string } | undefined;
  const all = routes(stac_api, {
    ...transactions,
    async landing(call) {
      const stac = await stacCallOf(call);
      const { collections, next } = await stac.catalog.collections(stac.db, { limit: most_children });
      const answer = {
        type: "Catalog",
        stac_version,
        id: "fanfold",
        title: "Fanfold",
        description: "The catalogue of what Fanfold's jobs have made.",
        conformsTo: [...conforms_to],
        links: stac.links.landing(collections, next !== null),
      };
      return unlessKnown(call.request, call.reply, answer as never) as never;
    },
    async conformance(call) {
      await stacCallOf(call);
      return unlessKnown(call.request, call.reply, { conformsTo: [...conforms_to] }) as never;
    },
    async api() {
      document ??= openApi(Object.values(stac_api) as Endpoint[], {
        version: package_version,
        title: "Fanfold: STAC API",
        openapi: "3.0",
        description:
          "The STAC part of Fanfold's API. Every call but this needs an API key: `Authorization: Bearer ff_…`.",
      }) as { openapi: string };
      return document;
    },
    async queryables(call) {
      const { links } = await stacCallOf(call);
      return unlessKnown(call.request, call.reply, queryablesOf(`${links.root}/queryables`)) as never;
    },
    async collection_queryables(call) {
      const stac = await stacCallOf(call);
      const collection = await collectionOf(stac, call.params.collection_id);
      // What the newest have tells what there is.
      const { items } = await stac.catalog.search(stac.db, { collections: [collection.id], limit: 20 });
      const address = `${stac.links.collection(collection.id)}/queryables`;
      return unlessKnown(call.request, call.reply, queryablesOf(address, { collection, items })) as never;
    },
    async collections(call) {
      const stac = await stacCallOf(call);
      const { collections, next } = await stac.catalog.collections(stac.db, pageOfAddress(call.query));
      const path = `${stac.links.root}/collections`;
      const answer = {
        collections: collections.map((one) => servedCollection(one, stac)),
        links: [
          stac.links.rootLink(),
          { rel: "parent", href: stac.links.root, type: "application/json" },
          ...pageLinks(path, call.query, { next }, "application/json"),
        ],
        numberReturned: collections.length,
      };
      return unlessKnown(call.request, call.reply, answer) as never;
    },
    async collection(call) {
      const stac = await stacCallOf(call);
      const stored = await collectionOf(stac, call.params.collection_id);
      return unlessKnown(call.request, call.reply, servedCollection(stored, stac), stored) as never;
    },
    async items(call) {
      const { collection_id } = call.params;
      const asked = searchOfAddress(call.query);
      const stac = await stacCallOf(call);
      const { id } = await collectionOf(stac, collection_id);
      // Clients that search with one function for all send it along.
      if (asked.collections !== undefined && !asked.collections.includes(id)) throw notOfThis(id);
      const page = await stac.catalog.search(stac.db, { ...asked, collections: [id] });
      const links = [
        { rel: "collection", href: stac.links.collection(id), type: "application/json" },
        ...pageLinks(stac.links.items(id), call.query, page, geo_json),
      ];
      return unlessKnown(call.request, call.reply, pageOf(stac, page, asked, links)) as never;
    },
    async item(call) {
      const stac = await stacCallOf(call);
      const stored = await itemOf(stac, call.params.collection_id, call.params.item_id);
      return unlessKnown(call.request, call.reply, servedItem(stored, stac), stored) as never;
    },
    async search(call) {
      const asked = searchOfAddress(call.query);
      const stac = await stacCallOf(call);
      const page = await stac.catalog.search(stac.db, asked);
      const links = pageLinks(`${stac.links.root}/search`, call.query, page, geo_json);
      return unlessKnown(call.request, call.reply, pageOf(stac, page, asked, links)) as never;
    },
    async search_post(call) {
      const asked = searchOfBody(call.body ?? {});
      const stac = await stacCallOf(call);
      const page = await stac.catalog.search(stac.db, asked);
      return pageOf(stac, page, asked, bodyPageLinks(`${stac.links.root}/search`, page, geo_json)) as never;
    },
  });
  // What a search costs is the caller's choice.
  return all.map((route) => (route.endpoint.scope === null ? route : inTurn(route, "long_calls")));
}

function notOfThis(id: string): BadRequest {
  const fix = "Leave it out, or use /stac/search.";
  const problems = [{ path: "query.collections", problem: `does not have ${quoted(id)}, whose items these are`, fix }];
  return new BadRequest("the search is not right", { problems });
}

function pageOf(stac: StacCall, page: SearchPage, { fields }: SearchQuery, links: unknown[]) {
  return {
    type: "FeatureCollection" as const,
    features: page.items.map((item) => servedPart(item, stac, fields)),
    links: [stac.links.rootLink(), ...links],
    numberReturned: page.items.length,
    ...(page.matched === null ? {} : { numberMatched: page.matched }),
  };
}
