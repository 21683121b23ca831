// OGC API Features and Tiles over the vector layers of the caller's tenant. What an address asks for is judged by the route that answers, all
// problems at once. The document that clients of OGC's read is served at /ogc/api. Pure.
import { z } from "zod";
import { endpointsOf } from "../endpoint.js";
import { geo_json, open_api_json, schema_json } from "../stac_records.js";

export const most_features_of_page = 10_000;
export const default_features_of_page = 10;
export const mvt_type = "application/vnd.mapbox-vector-tile";

const etag = { ETag: "Changes with the layer's version; send it as If-None-Match" };
const read = {
  other_answers: { 304: { description: "It is what If-None-Match names", headers: etag } },
  headers: z.object({
    "if-none-match": z.string().optional().describe("An ETag: 304 when the answer is still the same"),
  }),
  errors: [404],
} as const;

const text = (most: number, description: string) => z.string().max(most).optional().describe(description);
const f = text(20, "json or html; when left out, as the header Accept asks for");
const formats = z.strictObject({ f });

const chosen = {
  filter: text(12_000, "CQL2, in the language of `filter-lang`"),
  "filter-lang": text(20, "cql2-text (when left out) or cql2-json"),
  "filter-crs": text(200, "The CRS of geometries in the filter; CRS84 when left out"),
  datetime: text(200, "An RFC 3339 instant, or an interval: start/end, with .. for an open end"),
  properties: text(8_000, "Names with commas between: only these properties"),
};

/** Loose: what is not known is told together with whatever else is wrong. */
const items = z.looseObject({
  limit: text(30, `Features of a page, 1 to ${most_features_of_page}; more is taken for the most`),
  bbox: text(500, "Four numbers, or six with heights; in CRS84 west,south,east,north"),
  "bbox-crs": text(200, "The CRS of the box; CRS84 when left out"),
  crs: text(200, "The CRS of the answer; CRS84 when left out. The collection lists those there are"),
  ...chosen,
  sortby: text(1_000, "Names with commas between, each after + (ascending) or -"),
  skipGeometry: text(5, "true: features without their geometry"),
  resultType: text(10, "hits: only how many there are"),
  token: text(8_000, "As a `next` link has it, unchanged"),
  f,
});

const signed = {
  expires: text(20, "Part of a signed address"),
  tenant: text(200, "Part of a signed address"),
  signature: text(200, "Part of a signed address"),
};

const loose = z.looseObject({ links: z.array(z.unknown()).optional() });
const endpoint = endpointsOf({
  tag: "ogc",
  scope: "read",
  params: {
    layer_id: z.string().min(1).max(128).describe("The layer's name"),
    feature_id: z.string().min(1).max(40).describe("The feature's key"),
    set_id: z.string().min(1).max(60).describe("WebMercatorQuad or WorldCRS84Quad"),
    zoom: z.string().min(1).max(20).describe("Tile matrix: the zoom"),
    row: z.string().min(1).max(20).describe("Tile row, from the north"),
    column: z.string().min(1).max(20).describe("Tile column, from the west"),
  },
});

export const ogc_api = {
  landing: endpoint("GET /ogc", {
    ...read,
    summary: "OGC API: what there is, and where",
    description: "Features and vector tiles of the tenant's layers. JSON, or HTML for browsers.",
    query: formats,
    reply: loose,
  }),
  conformance: endpoint("GET /ogc/conformance", {
    ...read,
    summary: "What the OGC API conforms to",
    query: formats,
    reply: z.looseObject({ conformsTo: z.array(z.string()) }),
  }),
  api: endpoint("GET /ogc/api", {
    scope: null,
    summary: "The OGC API as an OpenAPI 3.0 document",
    query: formats,
    reply: z.looseObject({ openapi: z.string() }),
    media_type: open_api_json,
  }),
  collections: endpoint("GET /ogc/collections", {
    ...read,
    summary: "The layers, page by page",
    query: z.strictObject({ limit: text(30, "Collections of a page"), token: text(200, "As a `next` link has it"), f }),
    reply: loose,
  }),
  collection: endpoint("GET /ogc/collections/{layer_id}", {
    ...read,
    summary: "One layer",
    query: formats,
    reply: loose,
  }),
  queryables: endpoint("GET /ogc/collections/{layer_id}/queryables", {
    ...read,
    summary: "What filters may name, as JSON Schema",
    query: formats,
    reply: z.looseObject({}),
    media_type: schema_json,
  }),
  items: endpoint("GET /ogc/collections/{layer_id}/items", {
    ...read,
    summary: "Features of a layer, page by page",
    query: items,
    reply: z.unknown(),
    media_type: geo_json,
    errors: [404, 409],
  }),
  item: endpoint("GET /ogc/collections/{layer_id}/items/{feature_id}", {
    ...read,
    summary: "One feature",
    query: z.looseObject({ crs: items.shape.crs, f }),
    reply: z.unknown(),
    media_type: geo_json,
  }),
  tilesets: endpoint("GET /ogc/collections/{layer_id}/tiles", {
    ...read,
    summary: "How a layer is cut into vector tiles",
    query: formats,
    reply: loose,
  }),
  tileset: endpoint("GET /ogc/collections/{layer_id}/tiles/{set_id}", {
    ...read,
    summary: "One tileset of a layer; f=tilejson as TileJSON, with tile addresses that need no key",
    query: z.strictObject({ f, ...signed }),
    reply: loose,
  }),
  tile: endpoint("GET /ogc/collections/{layer_id}/tiles/{set_id}/{zoom}/{row}/{column}", {
    ...read,
    summary: "One vector tile",
    description:
      "204 where no feature is in it. Needs a key, or an address that was signed here, as the TileJSON has it.",
    query: z.looseObject({ ...chosen, f, v: text(20, "The layer's version: then it may be kept"), ...signed }),
    reply: z.unknown(),
    media_type: mvt_type,
    other_answers: { ...read.other_answers, 204: { description: "No feature is in this tile", headers: etag } },
  }),
  tile_matrix_sets: endpoint("GET /ogc/tileMatrixSets", {
    ...read,
    summary: "The ways in which the world is cut into tiles",
    query: formats,
    reply: loose,
  }),
  tile_matrix_set: endpoint("GET /ogc/tileMatrixSets/{set_id}", {
    ...read,
    summary: "One of them",
    query: formats,
    reply: z.looseObject({}),
  }),
};
