// OGC API Features and Tiles at /ogc: the vector layers of the caller's tenant, as clients of OGC's APIs know how to read them. Collections are
// rows of the catalogue of layers: one that a load has just committed is here at once.
import type { Endpoint } from "../../../core/api/endpoint.js";
import { ogc_api } from "../../../core/api/ogc/ogc.js";
import { definitionOf, tile_matrix_sets, tileMatrixSet } from "../../../geo/layers/tile_matrix_sets.js";
import { type Route, routes } from "../../http/route.js";
import { unlessKnown } from "../stac/etag.js";
import { collectionOf, queryablesOf } from "./collection.js";
import { conforms_to } from "./conformance.js";
import { apiPage } from "./html/api_page.js";
import { crumb, crumbsOf } from "./html/feature_pages.js";
import type { Crumb, Html } from "./html/page.js";
import { sendHtml } from "./html/page.js";
import { collectionPage, collectionsPage, recordPage } from "./html/plain_pages.js";
import { answerItem, answerItems } from "./items.js";
import { type Query, readLimit, refuse } from "./items_request.js";
import { asked, with_f } from "./links.js";
import { formatOf, inTurn, layerOf, type OgcCall, ogcCallOf } from "./ogc_call.js";
import { openApiDocument } from "./openapi.js";
import { processesRoutes } from "./processes/index.js";
import { tenantOfTiles } from "./tile_urls.js";
import { noSuchSet, Tiles, tileJson, tilesetList, tilesetOf } from "./tiles.js";
import { type Told, told } from "./told.js";

export function ogcRoutes(): Route[] {
  const tiles = new Tiles();
  const all = routes(ogc_api, {
    async landing(call) {
      const ogc = ogcCallOf(call);
      const title = "Fanfold";
      const answer = {
        title,
        description: "Vector layers as features and as tiles, and processes.",
        links: ogc.links.landing(),
      };
      return told(ogc, call.query.f, answer, () => recordPage(title, [], with_f(ogc.links.root, "json"), answer));
    },
    async conformance(call) {
      const ogc = ogcCallOf(call);
      const answer = { conformsTo: [...conforms_to] };
      return told(ogc, call.query.f, answer, () => page(ogc, "Conformance", "conformance", answer));
    },
    async api(call) {
      const ogc = ogcCallOf(call);
      const document = openApiDocument(ogc.links);
      if (formatOf(call, call.query.f, ["json", "html"]) === "html")
        return sendHtml(call.reply, apiPage(ogc.links, document)) as never;
      return document as never;
    },
    async collections(call) {
      const ogc = ogcCallOf(call);
      const problems: Parameters<typeof readLimit>[1] = [];
      const limit = Math.min(readLimit(call.query.limit, problems, 100), 1000);
      refuse(problems);
      const found = await inTurn(ogc, () =>
        ogc.layers.list(call.engine.db, { limit: limit + 1, after: call.query.token ?? null }),
      );
      const layers = found.slice(0, limit);
      const here = `${ogc.links.root}/collections`;
      const next = found.length > limit ? asked(here, call.query, { token: layers.at(-1)?.name, f: undefined }) : null;
      const as_json = asked(here, call.query, { f: undefined });
      const answer = {
        links: [
          ...ogc.links.here(as_json, "This list"),
          ...(next === null ? [] : [{ rel: "next", href: next, type: "application/json", title: "The next page" }]),
        ],
        collections: layers.map((layer) => collectionOf(layer, ogc.links)),
      };
      return told(ogc, call.query.f, answer, () => collectionsPage(ogc.links, layers, with_f(as_json, "json"), next));
    },
    async collection(call) {
      const ogc = ogcCallOf(call);
      const layer = await layerOf(ogc, call.params.layer_id);
      const answer = collectionOf(layer, ogc.links);
      const as_json = with_f(ogc.links.collection(layer.name), "json");
      return told(ogc, call.query.f, answer, () => collectionPage(ogc.links, layer, as_json, answer));
    },
    async queryables(call) {
      const ogc = ogcCallOf(call);
      const layer = await layerOf(ogc, call.params.layer_id);
      const address = `${ogc.links.collection(layer.name)}/queryables`;
      const answer = queryablesOf(layer, address);
      return told(ogc, call.query.f, answer, () =>
        recordPage("Queryables", [...crumbsOf(ogc.links), crumb(ogc.links, layer)], with_f(address, "json"), answer),
      );
    },
    items: (call) => answerItems(ogcCallOf(call), call.params.layer_id, call.query as Query),
    item: (call) => answerItem(ogcCallOf(call), call.params.layer_id, call.params.feature_id, call.query as Query),
    async tilesets(call) {
      const ogc = ogcCallOf(call);
      const layer = await layerOf(ogc, call.params.layer_id);
      const answer = tilesetList(layer, ogc);
      return told(ogc, call.query.f, answer, () => page(ogc, "Tiles", `collections/${layer.name}/tiles`, answer));
    },
    async tileset(call) {
      const ogc = ogcCallOf(call);
      const format = formatOf(call, call.query.f, ["json", "html", "tilejson"]);
      const layer = await layerOf(ogc, call.params.layer_id);
      const set = tileMatrixSet(call.params.set_id);
      if (set === null || layer.geometry_column === null) throw noSuchSet(call.params.set_id);
      if (format === "tilejson") return unlessKnown(call.request, call.reply, tileJson(layer, set, ogc)) as never;
      const answer = tilesetOf(layer, set, ogc);
      return told(ogc, call.query.f, answer, () =>
        page(ogc, set.title, `collections/${layer.name}/tiles/${set.id}`, answer),
      );
    },
    tile: (call) => tiles.answer(ogcCallOf(call), call.params.layer_id, call.params, call.query as Query),
    async tile_matrix_sets(call) {
      const ogc = ogcCallOf(call);
      const answer = {
        links: ogc.links.here(`${ogc.links.root}/tileMatrixSets`, "This list"),
        tileMatrixSets: tile_matrix_sets.map((set) => ({
          id: set.id,
          title: set.title,
          uri: set.uri,
          crs: set.crs,
          links: ["self", "item"].map((rel) => {
            return { rel, href: ogc.links.set(set.id), type: "application/json", title: "Its definition" };
          }),
        })),
      };
      return told(ogc, call.query.f, answer, () => page(ogc, "Tile matrix sets", "tileMatrixSets", answer));
    },
    async tile_matrix_set(call) {
      const ogc = ogcCallOf(call);
      const set = tileMatrixSet(call.params.set_id);
      if (set === null) throw noSuchSet(call.params.set_id);
      const answer = definitionOf(set);
      return told(ogc, call.query.f, answer, () => page(ogc, set.title, `tileMatrixSets/${set.id}`, answer));
    },
  });
  const signed: readonly Endpoint[] = [ogc_api.tile, ogc_api.tileset] as never;
  const over_layers = all.map((route) => ({
    ...route,
    reads_layers: true,
    ...(signed.includes(route.endpoint) ? { signedTenant: tenantOfTiles } : {}),
  }));
  return [...over_layers, ...processesRoutes()];
}

function page({ links }: OgcCall, title: string, path: string, answer: Told): Html {
  const home: Crumb[] = crumbsOf(links).slice(0, path.startsWith("collections/") ? 2 : 1);
  return recordPage(title, home, with_f(`${links.root}/${path}`, "json"), answer);
}
