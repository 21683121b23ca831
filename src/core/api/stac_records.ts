// What the STAC API serves: links, items, collections and pages of them, as loose as STAC leaves them. Pure.
import { z } from "zod";
import { record } from "./fields.js";

export const geo_json = "application/geo+json";
export const schema_json = "application/schema+json";
export const open_api_json = "application/vnd.oai.openapi+json;version=3.0";
export const merge_patch_json = "application/merge-patch+json";

export const stac_link = z
  .looseObject({
    rel: z.string(),
    href: z.string(),
    type: z.string().optional(),
    title: z.string().optional(),
    method: z.enum(["GET", "POST"]).optional().describe("How to follow it; GET where it does not say"),
    body: record.optional().describe("What to send with POST"),
    merge: z.boolean().optional().describe("Send `body` on top of the body that was sent before"),
  })
  .meta({ id: "StacLink" });

const links = z.array(stac_link);

export const stac_item = z
  .looseObject({
    type: z.literal("Feature"),
    stac_version: z.string(),
    stac_extensions: z.array(z.string()).optional(),
    id: z.string(),
    collection: z.string(),
    geometry: record.nullable().describe("GeoJSON, in longitude and latitude"),
    bbox: z.array(z.number()).optional(),
    properties: record,
    links,
    assets: z.record(z.string(), record),
  })
  .meta({ id: "StacItem" });

/** With `fields`, an item is what was asked for. */
export const stac_part = z
  .looseObject({
    type: z.literal("Feature").optional(),
    id: z.string().optional(),
    links: links.optional(),
  })
  .meta({ id: "StacItemPart", description: "An item, or the part of it that `fields` asks for" });

export const stac_page = z
  .looseObject({
    type: z.literal("FeatureCollection"),
    features: z.array(stac_part),
    links,
    numberReturned: z.int(),
    numberMatched: z.int().optional().describe("Only where counting costs little"),
  })
  .meta({ id: "StacItemPage" });

export const stac_items = z
  .looseObject({ type: z.literal("FeatureCollection"), features: z.array(stac_item), links })
  .meta({ id: "StacItems" });

export const stac_collection = z
  .looseObject({
    type: z.literal("Collection"),
    stac_version: z.string(),
    stac_extensions: z.array(z.string()).optional(),
    id: z.string(),
    title: z.string().optional(),
    description: z.string(),
    license: z.string(),
    extent: z.looseObject({
      spatial: z.looseObject({ bbox: z.array(z.array(z.number())) }),
      temporal: z.looseObject({ interval: z.array(z.array(z.string().nullable())) }),
    }),
    links,
  })
  .meta({ id: "StacCollection" });

export const stac_collections = z
  .looseObject({ collections: z.array(stac_collection), links, numberReturned: z.int() })
  .meta({ id: "StacCollections" });

export const stac_landing = z
  .looseObject({
    type: z.literal("Catalog"),
    stac_version: z.string(),
    id: z.string(),
    title: z.string(),
    description: z.string(),
    conformsTo: z.array(z.string()),
    links,
  })
  .meta({ id: "StacLanding" });

export const stac_queryables = z
  .looseObject({
    $schema: z.string(),
    $id: z.string(),
    type: z.literal("object"),
    title: z.string(),
    properties: record,
    additionalProperties: z.boolean(),
  })
  .meta({ id: "StacQueryables" });
