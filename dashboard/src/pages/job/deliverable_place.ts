// Where a deliverable lies: an address on the web, a file of this service, a collection or an item of the catalogue, or a place that only says where. Pure.

export type DeliverablePlace =
  | { kind: "web"; href: string }
  /** A file that this service gives out, by its path below the page's address. */
  | { kind: "file"; path: string }
  | { kind: "collection"; collection_id: string; item_id: string | undefined }
  | { kind: "text" };

export function placeOf(location: string): DeliverablePlace {
  const stac = /^\/stac\/collections\/([^/?#]+)(?:\/items(?:\/([^/?#]+))?)?\/?$/.exec(location);
  if (stac !== null) {
    const [, collection = "", item] = stac;
    const [collection_id, item_id] = [decoded(collection), item === undefined ? undefined : decoded(item)];
    if (collection_id !== null && item_id !== null) return { kind: "collection", collection_id, item_id };
    return { kind: "text" };
  }
  if (/^\/api\/tasks\/\d+-\d+\/asset$/.test(location)) return { kind: "file", path: location };
  const zoned = /^(bronze|silver|gold):([^?#]*[^/?#])$/.exec(location);
  if (zoned !== null) {
    const [, zone = "", key = ""] = zoned;
    const steps = key.split("/");
    // A browser would walk these itself, and end up elsewhere.
    if (steps.some((step) => step === "" || step === "." || step === ".." || !step.isWellFormed()))
      return { kind: "text" };
    return { kind: "file", path: `/assets/${zone}/${steps.map(encodeURIComponent).join("/")}` };
  }
  // Only what says so itself: a location is a text of the job's, and a browser would take much for an address.
  if (!/^https?:\/\//i.test(location)) return { kind: "text" };
  try {
    const { protocol, href } = new URL(location);
    return protocol === "http:" || protocol === "https:" ? { kind: "web", href } : { kind: "text" };
  } catch {
    return { kind: "text" };
  }
}

function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}
