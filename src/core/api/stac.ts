// The STAC API 1.0 with its extensions: sort, fields, filter (CQL2), query and transactions. What is in a search is checked by
// the route that answers, for GET and POST alike. Pure.
import { z } from "zod";
import { endpointsOf } from "./endpoint.js";
import { record } from "./fields.js";
import {
  geo_json,
  merge_patch_json,
  open_api_json,
  schema_json,
  stac_collection,
  stac_collections,
  stac_item,
  stac_items,
  stac_landing,
  stac_page,
  stac_queryables,
} from "./stac_records.js";

export const max_items_of_page = 1000;
/** The most items of one POST: what is more comes with a job. */
export const max_items_of_call = 1000;
const items_body_limit = 16 * 1024 * 1024;

const etag = { ETag: "Changes when the answer does; send it as If-None-Match, or as If-Match with a change" };
const conditional = z.object({
  "if-none-match": z.string().optional().describe("An ETag: 304 when the answer is still the same"),
});
const guarded = z.object({
  "if-match": z.string().optional().describe("An ETag: 412 when what is there is not that any more"),
});
const unchanged = { 304: { description: "It is what If-None-Match names", headers: etag } };

const collection_id = z.string().min(1).max(255).describe("The collection's id");
const item_id = z.string().min(1).max(255).describe("The item's id");

const text = (most: number, description: string, ...examples: string[]) =>
  z.string().max(most).optional().describe(description).meta({ examples });
const limit = text(
  30,
  `Items of a page, 1 to ${max_items_of_page}; 10 when left out, more is taken for the most`,
  "10",
);
const token = text(4000, "As a `next` or `prev` link has it, unchanged");
const paged = {
  limit,
  token: z
    .string()
    .max(4000)
    .optional()
    .describe(token.description ?? ""),
};

const only_crs84 = "Only longitude and latitude, by the URI of OGC CRS84; so it is when left out";

/** Texts in an address; objects and arrays in a body. */
const in_address = {
  bbox: text(
    500,
    "west,south,east,north in degrees, or with heights: six numbers; west > east crosses the antimeridian",
    "-180,-90,180,90",
    "5.9,45.8,10.5,47.8",
  ),
  datetime: text(
    200,
    "An RFC 3339 instant, or an interval: start/end, with .. for an open end",
    "2024-01-01T00:00:00Z/..",
    "2024-05-06T07:08:09Z",
  ),
  ...paged,
  sortby: text(1000, "Fields with commas between, each after + (ascending) or -", "-properties.datetime", "id"),
  fields: text(4000, "Fields with commas between; one after - is left out", "id,properties.datetime", "-geometry"),
  filter: text(12_000, "CQL2, in the language of `filter-lang`", "id IS NOT NULL", "collection = 'dem'"),
  "filter-lang": z.enum(["cql2-text", "cql2-json"]).optional().describe("cql2-text when left out"),
  "filter-crs": z.string().max(200).optional().describe(only_crs84),
};

const geometry = z
  .looseObject({ type: z.string().max(50) })
  .describe("A GeoJSON geometry in longitude and latitude")
  .meta({ examples: [{ type: "Point", coordinates: [8.5, 47.4] }] });

const search_body = z
  .strictObject({
    bbox: z
      .array(z.number())
      .max(20)
      .nullable()
      .optional()
      .describe("west, south, east, north in degrees; or six numbers with heights")
      .meta({ examples: [[5.9, 45.8, 10.5, 47.8]] }),
    intersects: geometry.nullable().optional(),
    datetime: z
      .string()
      .max(200)
      .nullable()
      .optional()
      .describe(in_address.datetime.description ?? "")
      .meta({
        examples: ["2024-01-01T00:00:00Z/.."],
      }),
    ids: z.array(z.string().max(255)).max(10_000).nullable().optional(),
    collections: z.array(z.string().max(255)).max(1000).nullable().optional(),
    limit: z
      .int()
      .min(1)
      .nullable()
      .optional()
      .describe(limit.description ?? ""),
    token: z
      .string()
      .max(4000)
      .nullable()
      .optional()
      .describe(paged.token.description ?? ""),
    sortby: z
      .array(z.strictObject({ field: z.string().min(1).max(255), direction: z.enum(["asc", "desc"]).default("asc") }))
      .max(10)
      .nullable()
      .optional()
      .meta({ examples: [[{ field: "properties.datetime", direction: "desc" }]] }),
    fields: z
      .union([
        z.strictObject({
          include: z.array(z.string().max(255)).max(200).nullable().optional(),
          exclude: z.array(z.string().max(255)).max(200).nullable().optional(),
        }),
        z.array(z.string().max(255)).max(200),
      ])
      .nullable()
      .optional()
      .meta({ examples: [{ include: ["id", "properties.datetime"], exclude: ["geometry"] }] }),
    filter: z
      .union([record, z.string().max(100_000), z.boolean()])
      .nullable()
      .optional()
      .describe("CQL2; JSON unless `filter-lang` is cql2-text")
      .meta({ examples: [{ op: "=", args: [{ property: "collection" }, "dem"] }] }),
    "filter-lang": z.enum(["cql2-text", "cql2-json"]).nullable().optional(),
    "filter-crs": z.string().max(200).nullable().optional().describe(only_crs84),
    query: z
      .record(z.string().max(255), record)
      .nullable()
      .optional()
      .describe("The query extension: properties, each with operators (eq, neq, lt, lte, gt, gte, in, startsWith, …)")
      .meta({ examples: [{ gsd: { lte: 30 } }] }),
  })
  .meta({ id: "StacSearch" });

const searched = z.strictObject({
  ids: text(12_000, "Items, by id, with commas between", "scene-1,scene-2"),
  collections: text(12_000, "Collections, by id, with commas between", "dem"),
  intersects: text(12_000, "A GeoJSON geometry", '{"type":"Point","coordinates":[8.5,47.4]}'),
  query: text(12_000, "The query extension, in JSON: properties, each with operators", '{"gsd":{"lte":30}}'),
  ...in_address,
});

const written_item = record.describe("A STAC item, whole").meta({
  examples: [
    {
      type: "Feature",
      stac_version: "1.1.0",
      id: "scene-1",
      geometry: null,
      properties: { datetime: "2024-05-06T07:08:09Z" },
      links: [],
      assets: {},
    },
  ],
});
const written_collection = record.describe("A STAC collection, whole").meta({
  examples: [
    {
      type: "Collection",
      stac_version: "1.1.0",
      id: "dem",
      description: "Heights",
      license: "CC-BY-4.0",
      links: [],
      extent: { spatial: { bbox: [[-180, -90, 180, 90]] }, temporal: { interval: [[null, null]] } },
    },
  ],
});

const read = { other_answers: unchanged, headers: conditional, errors: [404] } as const;
const change = { scope: "operate", errors: [404, 409, 412] } as const;

const endpoint = endpointsOf({ tag: "stac", scope: "read", params: { collection_id, item_id } });

export const stac_api = {
  landing: endpoint("GET /stac", {
    ...read,
    summary: "The catalogue: what it can do, and where its parts are",
    description: "STAC API 1.0. What it can do is in `conformsTo`; every other call is found by `links`.",
    reply: stac_landing,
  }),
  conformance: endpoint("GET /stac/conformance", {
    ...read,
    summary: "What the catalogue conforms to",
    reply: z.looseObject({ conformsTo: z.array(z.string()) }),
  }),
  api: endpoint("GET /stac/api", {
    scope: null,
    summary: "The STAC part of this API as an OpenAPI 3.0 document",
    description: "For programs that read OpenAPI 3.0; the whole is /api/openapi.json.",
    reply: z.looseObject({ openapi: z.string() }),
    media_type: open_api_json,
  }),
  queryables: endpoint("GET /stac/queryables", {
    ...read,
    summary: "What filters may name in all collections, as JSON Schema",
    reply: stac_queryables,
    media_type: schema_json,
  }),
  collections: endpoint("GET /stac/collections", {
    ...read,
    summary: "The collections, page by page",
    query: z.strictObject(paged),
    reply: stac_collections,
  }),
  collection: endpoint("GET /stac/collections/{collection_id}", {
    ...read,
    summary: "One collection",
    reply: stac_collection,
  }),
  collection_queryables: endpoint("GET /stac/collections/{collection_id}/queryables", {
    ...read,
    summary: "What filters may name in this collection, as JSON Schema",
    reply: stac_queryables,
    media_type: schema_json,
  }),
  items: endpoint("GET /stac/collections/{collection_id}/items", {
    ...read,
    summary: "The items of a collection, page by page",
    query: searched,
    reply: stac_page,
    media_type: geo_json,
  }),
  item: endpoint("GET /stac/collections/{collection_id}/items/{item_id}", {
    ...read,
    summary: "One item",
    reply: stac_item,
    media_type: geo_json,
  }),
  search: endpoint("GET /stac/search", {
    ...read,
    summary: "Search items",
    query: searched,
    reply: stac_page,
    media_type: geo_json,
  }),
  search_post: endpoint("POST /stac/search", {
    errors: [404],
    repeatable: true,
    summary: "Search items, with the search in the body",
    description: "Its `next` and `prev` links are followed by POST: the link's `body` on top of what was sent.",
    body: search_body.optional(),
    reply: stac_page,
    media_type: geo_json,
  }),
  make_collection: endpoint("POST /stac/collections", {
    ...change,
    status: 201,
    summary: "Make a collection",
    body: written_collection,
    other_answers: {},
    reply: stac_collection,
  }),
  put_collection: endpoint("PUT /stac/collections/{collection_id}", {
    ...change,
    summary: "Replace a collection; its items stay",
    headers: guarded,
    body: written_collection,
    reply: stac_collection,
  }),
  remove_collection: endpoint("DELETE /stac/collections/{collection_id}", {
    ...change,
    status: 204,
    summary: "Remove a collection and its items from the catalogue",
    description: "Files stay where they are: unpublish_raster removes catalogue, files and records together.",
    headers: guarded,
    reply: z.void(),
  }),
  make_items: endpoint("POST /stac/collections/{collection_id}/items", {
    ...change,
    status: 201,
    summary: `Add an item, or a FeatureCollection of up to ${max_items_of_call}`,
    description: "All of them or none. An id that is there already is 409.",
    body: written_item,
    body_types: [geo_json],
    body_limit: items_body_limit,
    reply: z.union([stac_item, stac_items]),
    media_type: geo_json,
  }),
  put_item: endpoint("PUT /stac/collections/{collection_id}/items/{item_id}", {
    ...change,
    summary: "Replace an item",
    headers: guarded,
    body: written_item,
    body_types: [geo_json],
    reply: stac_item,
    media_type: geo_json,
  }),
  patch_item: endpoint("PATCH /stac/collections/{collection_id}/items/{item_id}", {
    ...change,
    summary: "Change parts of an item",
    description: "By JSON Merge Patch (RFC 7396): a field replaces that of the item, null removes it.",
    headers: guarded,
    body: record.meta({ examples: [{ properties: { gsd: 10 } }] }),
    body_types: [merge_patch_json, geo_json],
    reply: stac_item,
    media_type: geo_json,
  }),
  remove_item: endpoint("DELETE /stac/collections/{collection_id}/items/{item_id}", {
    ...change,
    status: 204,
    summary: "Remove an item from the catalogue",
    description: "Its files stay where they are: unpublish_raster removes catalogue, files and records together.",
    headers: guarded,
    reply: z.void(),
  }),
};
