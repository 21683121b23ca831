// Records of a static STAC catalogue: the same items with links to the files beside them and to nothing else, all in one folder. Pure.
import { type StacCollection, type StacItem, stac_version } from "../../../geo/stac.js";
import { stacIds } from "../../../geo/stac_ids.js";
import { ref_field } from "../../stac/item_fields.js";

export const root_file = "catalog.json";
export const collection_file = "collection.json";

const json = "application/json";
const geojson = "application/geo+json";

/** A name for the file of each item, in order; ids may be longer than names. */
export function itemFiles(ids: readonly string[]): string[] {
  return stacIds(ids).map((id, at) => `item-${id.length > 150 ? `${id.slice(0, 140)}-${at}` : id}.json`);
}

export function rootRecord({ id, title, description }: Pick<StacCollection, "id" | "title" | "description">) {
  return {
    type: "Catalog",
    stac_version,
    id: `${id}-catalog`,
    ...(title === undefined ? {} : { title }),
    description,
    links: [
      { rel: "root", href: `./${root_file}`, type: json },
      { rel: "child", href: `./${collection_file}`, type: json, ...(title === undefined ? {} : { title }) },
    ],
  };
}

export function collectionRecord(collection: StacCollection, files: readonly string[]): StacCollection {
  return {
    ...collection,
    links: [
      { rel: "root", href: `./${root_file}`, type: json },
      { rel: "parent", href: `./${root_file}`, type: json },
      ...foreign(collection.links),
      ...files.map((file) => ({ rel: "item", href: `./${file}`, type: geojson })),
    ],
  };
}

/** `hrefs`: of assets that lie beside it now, by their keys. */
export function itemRecord(item: StacItem, hrefs: Readonly<Record<string, string>>): StacItem {
  const assets = Object.entries(item.assets).map(([key, { [ref_field]: _, ...asset }]) => {
    return [key, { ...asset, href: hrefs[key] ?? asset.href }];
  });
  return {
    ...item,
    assets: Object.fromEntries(assets),
    links: [
      { rel: "root", href: `./${root_file}`, type: json },
      { rel: "parent", href: `./${collection_file}`, type: json },
      { rel: "collection", href: `./${collection_file}`, type: json },
      ...foreign(item.links),
    ],
  };
}

/** Links that lead to somebody else's: ours would lead back to this service. */
function foreign(links: StacItem["links"]): StacItem["links"] {
  return links.filter(
    ({ rel, href }) => ["derived_from", "license", "via", "about", "cite-as"].includes(rel) && /^https:/.test(href),
  );
}
