// The addresses that a request answers with, by what they are. Pure.
import type { Service } from "./records.js";

const kinds: readonly { name: string; text: string }[] = [
  { name: "stac_collection", text: "Collection" },
  { name: "stac_items", text: "Items" },
  { name: "stac_search", text: "Search" },
  { name: "stac_item", text: "Item" },
  { name: "quicklook", text: "Pictures" },
  { name: "asset", text: "Files" },
];

export interface ServiceGroup {
  name: string;
  text: string;
  services: Service[];
}

/** In the order of the table; what stands in none comes last, by its own name. */
export function servicesInGroups(services: readonly Service[]): ServiceGroup[] {
  const names = [...new Set(services.map(({ name }) => name))];
  const place = (name: string) => {
    const at = kinds.findIndex((kind) => kind.name === name);
    return at < 0 ? kinds.length : at;
  };
  return names
    .sort((a, b) => place(a) - place(b) || (a < b ? -1 : 1))
    .map((name) => ({
      name,
      text: kinds.find((kind) => kind.name === name)?.text ?? name.replaceAll("_", " "),
      services: services.filter((one) => one.name === name),
    }));
}

export interface ServicePlace {
  /** Below the address of this service. */
  path: string;
  collection_id: string | null;
  item_id: string | null;
}

/** The path at this very service; null when it lies elsewhere. */
export function servicePlace(href: string, base: string): ServicePlace | null {
  if (!href.startsWith(`${base}/`)) return null;
  const path = href.slice(base.length);
  const found = /^\/stac\/collections\/([^/?#]+)(?:\/items\/([^/?#]+))?$/.exec(path);
  const [collection_id, item_id] = [decoded(found?.[1]), decoded(found?.[2])];
  return { path, collection_id, item_id: collection_id === null ? null : item_id };
}

function decoded(part: string | undefined): string | null {
  if (part === undefined) return null;
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}
