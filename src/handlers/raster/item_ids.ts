// Names for items, from names of files. An id is part of keys and URLs, so it keeps letters, digits, . _ and - only; files whose
// names come to the same id are told apart by a piece of their hash, whichever order they are listed in. Pure.
import { createHash } from "node:crypto";

/** Room for `-x1234-y1234` behind it. */
const longest = 110;

export function itemIdOf(path: string): string {
  const bare = path.replace(/^.*:\/\/[^/]*\//, "").replace(/[?#].*$/, "");
  const name = bare.replace(/\.(tiff?|cog|gtiff)$/i, "").replace(/\.(tiff?|cog|gtiff)$/i, "");
  const plain = name
    .normalize("NFKD")
    .replace(/\p{Mark}+/gu, "")
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/^[^A-Za-z0-9]+|[-.]+$/g, "");
  if (plain === "") return `raster-${shortHash(path)}`;
  return plain.length <= longest ? plain : `${plain.slice(0, longest - 9)}-${shortHash(path)}`;
}

export interface NamedSource {
  item_id: string;
  source: string;
}

/** `path` is what the id is made of: a key below the prefix rather than the whole. */
export function nameSources(sources: readonly { source: string; path: string }[]): NamedSource[] {
  const ids = sources.map(({ path }) => itemIdOf(path));
  const counts = new Map<string, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  return sources.map(({ source }, position) => {
    const id = ids[position]!;
    return { item_id: counts.get(id) === 1 ? id : `${id.slice(0, longest - 9)}-${shortHash(source)}`, source };
  });
}

function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}
