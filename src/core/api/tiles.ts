// Raster tiles of the COGs that items of the catalogue name, and of whole collections. What an address asks for is judged by the route that
// answers, all problems at once. Pure.
import { z } from "zod";
import { endpointsOf } from "./endpoint.js";

const etag = { ETag: "Changes with the item and with what was asked for; send it as If-None-Match" };
const other_answers = { 304: { description: "It is what If-None-Match names", headers: etag } };
const headers = z.object({
  "if-none-match": z.string().optional().describe("An ETag: 304 when the answer is still the same"),
});

const text = (most: number, description: string) => z.string().max(most).optional().describe(description);

const look = {
  bands: text(100, "One band, or three for red, green and blue, counted from 1: 4 or 3,2,1"),
  rescale: text(
    400,
    "The values that become dark and bright: low,high for all bands, or a pair for each; default: by statistics",
  ),
  colormap: text(40, "Colours for one band, such as viridis; with _r at its end the other way round"),
  colors: text(6_000, "Colours for single values of one band: 1:00ff00,2:ff0000; other values are transparent"),
  nodata: text(40, "The value that means no data, in place of the file's own; nan for not-a-number"),
  resampling: text(20, "nearest or bilinear; default: nearest for classes, else bilinear"),
  asset: text(200, "Which asset of the item; default: its COG"),
  size: text(4, "Pixels a side of a tile: 256 (default) or 512"),
};
const signed = {
  expires: text(20, "Part of a signed address"),
  tenant: text(200, "Part of a signed address"),
  signature: text(200, "Part of a signed address"),
};
const chosen = {
  datetime: text(200, "Only items of this RFC 3339 instant or interval"),
  filter: text(12_000, "Only items that this CQL2 lets through, in the language of `filter-lang`"),
  "filter-lang": text(20, "cql2-text (when left out) or cql2-json"),
  ids: text(4_000, "Only these items, with commas between"),
  sortby: text(1_000, "Which item is on top: names with commas between, each after + or -; default: the newest"),
};

/** Loose: what is not known is told together with whatever else is wrong. */
const item_query = z.looseObject({
  ...look,
  ...signed,
  format: text(4, "The format of the tiles: png (default) or webp"),
});
const mosaic_query = z.looseObject({ ...item_query.shape, ...chosen });

const endpoint = endpointsOf({
  tag: "tiles",
  scope: "read",
  errors: [404, 409, 422],
  params: {
    collection_id: z.string().min(1).max(300).describe("The collection"),
    item_id: z.string().min(1).max(300).describe("The item"),
    zoom: z.string().min(1).max(20).describe("The zoom, from 0"),
    column: z.string().min(1).max(20).describe("x: the tile's column, from the west"),
    file: z.string().min(1).max(30).describe("y.png or y.webp: the tile's row, from the north, and its format"),
  },
});
const tile = {
  reply: z.unknown(),
  media_type: "image/png",
  headers,
  other_answers: {
    ...other_answers,
    204: { description: "There is nothing to see in this tile", headers: etag },
  },
} as const;
const record = { reply: z.looseObject({}), headers, other_answers } as const;

export const tiles_api = {
  item_tilesets: endpoint("GET /tiles/{collection_id}/{item_id}", {
    ...record,
    summary: "How an item's raster is cut into tiles, as OGC API Tiles describes it",
    query: item_query,
  }),
  item_tilejson: endpoint("GET /tiles/{collection_id}/{item_id}/tilejson.json", {
    ...record,
    summary: "TileJSON of an item's raster, with tile addresses that need no key",
    query: item_query,
  }),
  item_tile: endpoint("GET /tiles/{collection_id}/{item_id}/{zoom}/{column}/{file}", {
    ...tile,
    summary: "One tile of an item's raster, in Web Mercator",
    description:
      "From the COG's overviews, read by ranges where it lies. 204 where nothing of it is in the tile. Needs a key, or an address that " +
      "was signed here, as the TileJSON has it.",
    query: item_query,
  }),
  mosaic_tilesets: endpoint("GET /tiles/{collection_id}", {
    ...record,
    summary: "How a collection's rasters, laid together, are cut into tiles",
    query: mosaic_query,
  }),
  mosaic_tilejson: endpoint("GET /tiles/{collection_id}/tilejson.json", {
    ...record,
    summary: "TileJSON of a collection's rasters, laid together, or of those that a search finds",
    query: mosaic_query,
  }),
  mosaic_tile: endpoint("GET /tiles/{collection_id}/{zoom}/{column}/{file}", {
    ...tile,
    summary: "One tile of a collection's rasters, laid together, in Web Mercator",
    description: "The first item that has data at a pixel is on top: the newest, unless `sortby` says otherwise.",
    query: mosaic_query,
  }),
};
