// Ids for the items of sources: from the file's name, or from the whole path below a prefix where names alone would be the same. Pure.
import { baseName, stacId, stacIds } from "../../../geo/stac_ids.js";

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
  const ids = stacIds(sources.map(({ path }) => path.replace(/[?#].*$/, "").replace(/\.(tiff?|cog|gtiff)$/i, "")));
  return sources.map(({ source }, position) => ({ item_id: ids[position]!, source }));
}
