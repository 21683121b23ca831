// The OGC API as an OpenAPI 3.0 document that needs nothing from elsewhere: written by hand, because test suites and clients read parameters,
// styles and the ends of operation ids as OGC's standards have them. A test compares it with what the routes take. Pure.
import { package_version } from "../../../config.js";
import { default_features_of_page, most_features_of_page, mvt_type } from "../../../core/api/ogc/ogc.js";
import { problem_media_type } from "../../../core/api/problem.js";
import { geo_json, open_api_json, schema_json } from "../../../core/api/stac_records.js";
import { crs84 } from "../../../geo/layers/crs.js";
import { tile_matrix_sets } from "../../../geo/layers/tile_matrix_sets.js";
import { json, type OgcLinks } from "./links.js";
import { content, get, inPath, type Json, object, page_text, query, ref, text } from "./openapi_parts.js";
import { processes_paths, processes_schemas } from "./openapi_processes.js";

const list = { type: "array", items: { type: "string" } };
const crs = { type: "string", format: "uri", default: crs84.uri };
const format = (...formats: string[]) =>
  query("f", "The format; when left out, as the header Accept asks for", { type: "string", enum: formats });
const pages = format("json", "html");

const limit = query("limit", "How many at most; more than the maximum is taken for it", {
  type: "integer",
  minimum: 1,
  maximum: most_features_of_page,
  default: default_features_of_page,
});
const token = query("token", "As a `next` link has it, unchanged", text);

const chosen = [
  query("datetime", "An RFC 3339 instant, or an interval: start/end, with .. for an open end", text),
  query("filter", "An expression in CQL2, in the language of `filter-lang`", text),
  query("filter-lang", "The language of `filter`", {
    type: "string",
    enum: ["cql2-text", "cql2-json"],
    default: "cql2-text",
  }),
  query("filter-crs", "Of geometries in `filter`", crs),
  query("properties", "Only these properties", list),
];

const of_items = [
  limit,
  query(
    "bbox",
    "Only features whose geometry intersects this box: west, south, east, north in CRS84, or six numbers with heights",
    {
      type: "array",
      oneOf: [
        { minItems: 4, maxItems: 4 },
        { minItems: 6, maxItems: 6 },
      ],
      minItems: 4,
      maxItems: 6,
      items: { type: "number" },
    },
  ),
  query("bbox-crs", "Of `bbox`", crs),
  query("crs", "Of the answer; which there are, the collection tells", crs),
  ...chosen,
  query("sortby", "Names of properties, each after + (ascending) or -", {
    type: "array",
    minItems: 1,
    items: { type: "string" },
  }),
  query("skipGeometry", "Features without their geometry", { type: "boolean", default: false }),
  query("resultType", "hits: only how many there are", {
    type: "string",
    enum: ["results", "hits"],
    default: "results",
  }),
  token,
  pages,
];

const collection = inPath("collectionId", "A collection's id");
const set = inPath("tileMatrixSetId", "How the world is cut into tiles", {
  type: "string",
  enum: tile_matrix_sets.map(({ id }) => id),
});
const signed = [
  query("expires", "Of a signed address", text),
  query("tenant", "Of a signed address", text),
  query("signature", "Of a signed address", text),
];

const paths: Record<string, Json> = {
  "/": get({
    id: "getLandingPage",
    tag: "Capabilities",
    summary: "What there is, and where",
    parameters: [pages],
    answers: { [json]: ref("landingPage"), ...page_text },
  }),
  "/api": get({
    id: "getApi",
    tag: "Capabilities",
    summary: "This document",
    parameters: [pages],
    answers: { [open_api_json]: { type: "object" }, ...page_text },
  }),
  "/conformance": get({
    id: "getConformanceDeclaration",
    tag: "Capabilities",
    summary: "What it conforms to",
    parameters: [pages],
    answers: { [json]: ref("confClasses"), ...page_text },
  }),
  "/collections": get({
    id: "getCollections",
    tag: "Capabilities",
    summary: "The collections",
    parameters: [
      query("limit", "Collections of a page", { type: "integer", minimum: 1, maximum: 1000, default: 100 }),
      token,
      pages,
    ],
    answers: { [json]: ref("collections"), ...page_text },
  }),
  "/collections/{collectionId}": get({
    id: "describeCollection",
    tag: "Capabilities",
    summary: "One collection",
    parameters: [collection, pages],
    answers: { [json]: ref("collection"), ...page_text },
  }),
  "/collections/{collectionId}/queryables": get({
    id: "getQueryables",
    tag: "Data",
    summary: "What filters may name",
    parameters: [collection, pages],
    answers: { [schema_json]: { type: "object" }, ...page_text },
  }),
  "/collections/{collectionId}/items": get({
    id: "getFeatures",
    tag: "Data",
    summary: "Features of a collection",
    parameters: [collection, ...of_items],
    answers: { [geo_json]: ref("featureCollectionGeoJSON"), ...page_text },
    statuses: {
      "409": {
        description: "The layer was replaced while its pages were read: begin anew",
        content: content({ [problem_media_type]: ref("exception") }),
      },
    },
  }),
  "/collections/{collectionId}/items/{featureId}": get({
    id: "getFeature",
    tag: "Data",
    summary: "One feature",
    parameters: [collection, inPath("featureId", "A feature's id"), query("crs", "Of the answer", crs), pages],
    answers: { [geo_json]: ref("featureGeoJSON"), ...page_text },
  }),
  "/collections/{collectionId}/tiles": get({
    id: "ogc.collection.vector.getTileSetsList",
    tag: "Vector Tiles",
    summary: "The tilesets of a collection",
    parameters: [collection, pages],
    answers: { [json]: ref("tileSets"), ...page_text },
  }),
  "/collections/{collectionId}/tiles/{tileMatrixSetId}": get({
    id: "ogc.collection.vector.getTileSet",
    tag: "Vector Tiles",
    summary: "One tileset of a collection",
    parameters: [collection, set, format("json", "html", "tilejson"), ...signed],
    answers: { [json]: ref("tileSet"), ...page_text },
  }),
  "/collections/{collectionId}/tiles/{tileMatrixSetId}/{tileMatrix}/{tileRow}/{tileCol}": get({
    id: "ogc.collection.vector.getTile",
    tag: "Vector Tiles",
    summary: "One vector tile",
    parameters: [
      collection,
      set,
      inPath("tileMatrix", "The zoom", text),
      inPath("tileRow", "The row, from the north", { type: "integer", minimum: 0 }),
      inPath("tileCol", "The column, from the west", { type: "integer", minimum: 0 }),
      ...chosen,
      format("mvt"),
      query("v", "The layer's version: then it may be kept", text),
      ...signed,
    ],
    answers: { [mvt_type]: { type: "string", format: "binary" } },
    statuses: { "204": { description: "No feature is in this tile" } },
  }),
  "/tileMatrixSets": get({
    id: "getTileMatrixSetsList",
    tag: "Tile Matrix Sets",
    summary: "The ways in which the world is cut into tiles",
    parameters: [pages],
    answers: {
      [json]: {
        type: "object",
        required: ["tileMatrixSets"],
        properties: { tileMatrixSets: { type: "array", items: { type: "object" } } },
      },
      ...page_text,
    },
  }),
  "/tileMatrixSets/{tileMatrixSetId}": get({
    id: "getTileMatrixSet",
    tag: "Tile Matrix Sets",
    summary: "One of them",
    parameters: [set, pages],
    answers: {
      [json]: {
        type: "object",
        required: ["tileMatrices"],
        properties: { tileMatrices: { type: "array", items: { type: "object" } } },
      },
      ...page_text,
    },
  }),
};

const links = { type: "array", items: ref("link") };
const schemas: Record<string, Json> = {
  link: object(["href", "rel"], {
    href: text,
    rel: text,
    type: text,
    title: text,
    templated: { type: "boolean" },
  }),
  exception: object(["code"], {
    code: text,
    description: text,
    title: text,
    detail: text,
    status: { type: "integer" },
  }),
  landingPage: object(["links"], { title: text, description: text, links }),
  confClasses: object(["conformsTo"], { conformsTo: list }),
  extent: {
    type: "object",
    properties: {
      spatial: {
        type: "object",
        properties: {
          bbox: {
            type: "array",
            minItems: 1,
            items: { type: "array", minItems: 4, maxItems: 6, items: { type: "number" } },
          },
          crs: { type: "string" },
        },
      },
    },
  },
  collection: object(["id", "links"], {
    id: text,
    title: text,
    description: text,
    links,
    extent: ref("extent"),
    itemType: { type: "string", default: "feature" },
    crs: { ...list, default: [crs84.uri] },
    storageCrs: text,
  }),
  collections: object(["links", "collections"], { links, collections: { type: "array", items: ref("collection") } }),
  geometryGeoJSON: object(["type"], {
    type: {
      type: "string",
      enum: ["Point", "MultiPoint", "LineString", "MultiLineString", "Polygon", "MultiPolygon", "GeometryCollection"],
    },
    coordinates: { type: "array", items: {} },
    geometries: { type: "array", items: { type: "object" } },
  }),
  featureGeoJSON: object(["type", "geometry", "properties"], {
    type: { type: "string", enum: ["Feature"] },
    id: { oneOf: [{ type: "string" }, { type: "integer" }] },
    geometry: { nullable: true, allOf: [ref("geometryGeoJSON")] },
    properties: { type: "object", nullable: true },
    links,
  }),
  featureCollectionGeoJSON: object(["type", "features"], {
    type: { type: "string", enum: ["FeatureCollection"] },
    features: { type: "array", items: ref("featureGeoJSON") },
    links,
    numberMatched: { type: "integer", minimum: 0, description: "Where nothing is filtered, or with resultType=hits" },
    numberReturned: { type: "integer", minimum: 0 },
  }),
  tileSet: object(["dataType", "crs", "links"], {
    title: text,
    dataType: { type: "string", enum: ["vector"] },
    crs: text,
    tileMatrixSetURI: text,
    layers: { type: "array", items: { type: "object" } },
    boundingBox: { type: "object" },
    links,
  }),
  tileSets: object(["tilesets", "links"], { tilesets: { type: "array", items: ref("tileSet") }, links }),
};

/** As the caller reaches it. */
export function openApiDocument({ root, base }: OgcLinks): Json & { openapi: string; paths: Record<string, Json> } {
  return {
    openapi: "3.0.3",
    info: {
      title: "Fanfold: OGC API Features, Tiles and Processes",
      version: package_version,
      description:
        "The vector layers of a tenant, and its processes and jobs. Every call but this needs an API key: `Authorization: Bearer ff_…`.",
      contact: { name: "Who runs this service", url: base },
      license: { name: "Apache-2.0" },
    },
    servers: [{ url: root, description: "This service" }],
    tags: ["Capabilities", "Data", "Vector Tiles", "Tile Matrix Sets", "Processes", "Jobs"].map((name) => ({ name })),
    security: [{ key: [] }],
    paths: { ...paths, ...processes_paths },
    components: {
      schemas: { ...schemas, ...processes_schemas },
      securitySchemes: {
        key: {
          type: "http",
          scheme: "bearer",
          description: "An API key with the scope read; submit to execute, operate to dismiss",
        },
      },
    },
  };
}
