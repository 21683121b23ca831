// Ids that are safe in a URL, a file name and a catalogue. Pure.
import { createHash } from "node:crypto";

const longest = 200;

/** The same for the same text: letters, digits, `.`, `_` and `-` only, at most 200. */
export function stacId(text: string): string {
  const plain = text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/-{2,}/g, "-")
    .replace(/^[.-]+|[.-]+$/g, "");
  if (plain === "") return `item-${digest(text)}`;
  return plain.length <= longest ? plain : `${plain.slice(0, longest - 13)}-${digest(text)}`;
}

/** An id for each name, in order; where two names would get the same, both get a piece of their checksum. */
export function stacIds(names: readonly string[]): string[] {
  const ids = names.map(stacId);
  const seen = new Map<string, Set<string>>();
  // An id that differs in case only is the same file on some disks.
  ids.forEach((id, i) => {
    const key = id.toLowerCase();
    seen.set(key, (seen.get(key) ?? new Set()).add(names[i]!));
  });
  return ids.map((id, i) =>
    seen.get(id.toLowerCase())!.size > 1 ? `${id.slice(0, longest - 13)}-${digest(names[i]!)}` : id,
  );
}

/** The last part of a key without its ending: `dem/Scene 1.tif` → `Scene 1`. */
export function baseName(key: string): string {
  const last = key.split(/[/\\]/).findLast((part) => part !== "") ?? "";
  return withoutEnding(last);
}

/** As rasters are called. */
export function withoutEnding(name: string): string {
  return name.replace(/\.(tiff?|cog|gtiff|nc4?|cdf|gri?b2?|h5|hdf5?|he5|zarr|jp2|j2k|img|vrt)$/i, "");
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}

/** A SHA-256 as STAC's file extension writes it: a multihash. */
export function multihash(sha256: string): string {
  return `1220${sha256.toLowerCase()}`;
}

/** A source as it may be published: without credentials, signatures and fragments. */
export function publicSource(source: string): string {
  const match = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)([^?#]*)/i.exec(source);
  if (!match) return source;
  const [, scheme, authority = "", path] = match;
  return `${scheme}${authority.slice(authority.lastIndexOf("@") + 1)}${path}`;
}
