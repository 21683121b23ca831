// Items and collections as they are served: with links of this server instead of those that were stored, and with assets that can
// be fetched. What is in a record is its maker's; it stays JSON whatever it says.
import type { StacAsset, StacCollection, StacItem, StacLink } from "../../../geo/stac.js";
import type { StacLinks } from "./links.js";

/** Where an asset can be fetched from; the href as it is when nobody here serves it. */
export type AssetAddress = (href: string) => string;

/** Links of the tree we serve: a stored one would lead elsewhere. */
const own_rels = new Set([
  "self",
  "root",
  "parent",
  "collection",
  "items",
  "item",
  "child",
  "next",
  "prev",
  "queryables",
]);
const queryables_rel = "http://www.opengis.net/def/rel/ogc/1.0/queryables";

export interface Serving {
  links: StacLinks;
  address: AssetAddress;
  /** How items are told to this caller. */
  told: (item: StacItem) => StacItem;
}

export function servedItem(stored: StacItem, { links, address, told }: Serving): StacItem {
  const item = told(stored);
  const { collection, id } = item;
  return {
    ...item,
    links: [...links.ofItem(collection, id), ...tilesOf(item, links, address), ...foreign(item.links, address)],
    assets: servedAssets(item.assets, address),
  };
}

export type ItemPart = Partial<StacItem>;

/** What `fields` left of an item: what is not there is not added, but for the links, which it needs to be found. */
export function servedPart(
  stored: ItemPart,
  serving: Serving,
  fields: { include: string[]; exclude: string[] } | undefined,
): ItemPart {
  if (fields === undefined) return servedItem(stored as StacItem, serving);
  const { links, address, told } = serving;
  const item: ItemPart = told(stored as StacItem);
  const { collection, id } = item;
  const wants_links =
    fields.include.includes("links") || (fields.include.length === 0 && !fields.exclude.includes("links"));
  return {
    ...item,
    ...(wants_links && collection !== undefined && id !== undefined
      ? {
          links: [
            ...links.ofItem(collection, id),
            ...tilesOf(item, links, address),
            ...foreign(item.links ?? [], address),
          ],
        }
      : {}),
    ...(item.assets === undefined ? {} : { assets: servedAssets(item.assets, address) }),
  };
}

export function servedCollection(
  collection: StacCollection,
  { links, address }: Pick<Serving, "links" | "address">,
): StacCollection {
  return {
    ...collection,
    links: [
      ...links.ofCollection(collection.id),
      ...(hasRasters(collection) ? links.tiles(collection.id) : []),
      ...foreign(collection.links, address),
    ],
    ...(collection.assets === undefined ? {} : { assets: servedAssets(collection.assets, address) }),
  };
}

/** Tiles of an item with a raster in one of our zones. */
function tilesOf({ collection, id, assets }: ItemPart, links: StacLinks, address: AssetAddress): StacLink[] {
  const has_raster = Object.values(assets ?? {}).some((asset) => isRaster(asset) && address(asset.href) !== asset.href);
  return has_raster && collection !== undefined && id !== undefined ? links.tiles(collection, id) : [];
}

/** As its summaries tell: only rasters have pixels of a size. */
function hasRasters({ summaries = {}, item_assets = {} }: StacCollection): boolean {
  return "gsd" in summaries || "proj:code" in summaries || Object.values(item_assets ?? {}).some(isRaster);
}

function isRaster(asset: unknown): asset is StacAsset {
  const { type } = (asset ?? {}) as Partial<StacAsset>;
  return typeof type === "string" && /^image\/tiff\b/.test(type);
}

function foreign(links: readonly StacLink[] | undefined, address: AssetAddress): StacLink[] {
  return (links ?? [])
    .filter(({ rel }) => !own_rels.has(rel) && rel !== queryables_rel)
    .map((link) => ({ ...link, href: address(link.href) }));
}

function servedAssets(assets: Record<string, StacAsset> | undefined, address: AssetAddress): Record<string, StacAsset> {
  return Object.fromEntries(
    Object.entries(assets ?? {}).map(([name, asset]) => [
      name,
      typeof asset?.href === "string" ? { ...asset, href: address(asset.href) } : asset,
    ]),
  );
}
