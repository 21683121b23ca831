// Ids for the items of sources: from the file's name, or from the whole path below a prefix where names alone would be the same. Pure.
import { baseName, stacId, stacIds, withoutEnding } from "../../../geo/stac_ids.js";

export interface NamedSource {
  item_id: string;
  source: string;
}

/** The item's id for one source: zone:key, or a URL. */
export function itemIdOf(source: string): string {
  return stacId(baseName(source.replace(/[?#].*$/, "").replace(/^[a-z]+:(?!\/\/)/, "")));
}

/** `path` is the name below the prefix: folders are part of the id, so that a/x.tif and b/x.tif are two. */
export function nameSources(sources: readonly { source: string; path: string }[]): NamedSource[] {
  const plain = sources.map(({ path }) => path.replace(/[?#].*$/, ""));
  const names = plain.map(withoutEnding);
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  // x.nc and x.tif are two, too.
  const ids = stacIds(names.map((name, at) => (counts.get(name) === 1 ? name : plain[at]!)));
  return sources.map(({ source }, position) => ({ item_id: ids[position]!, source }));
}
