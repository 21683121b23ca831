// Addresses and links of the catalogue, as the caller reaches it. None carries a credential.
import { geo_json, open_api_json, schema_json } from "../../../core/api/stac_records.js";
import type { StacLink } from "../../../geo/stac.js";

export class StacLinks {
  /** `base`: where the service is, without a slash at its end. */
  constructor(readonly base: string) {}

  get root(): string {
    return `${this.base}/stac`;
  }

  collection(id: string): string {
    return `${this.root}/collections/${encodeURIComponent(id)}`;
  }

  items(collection: string): string {
    return `${this.collection(collection)}/items`;
  }

  item(collection: string, id: string): string {
    return `${this.items(collection)}/${encodeURIComponent(id)}`;
  }

  rootLink(): StacLink {
    return { rel: "root", href: this.root, type: "application/json" };
  }

  /** The items that a job made. */
  ofJob(job_id: string): string {
    const query = new URLSearchParams({ filter: `"fanfold:job_id" = '${job_id}'`, "filter-lang": "cql2-text" });
    return `${this.root}/search?${query}`;
  }

  landing(collections: readonly { id: string; title?: string }[], more: boolean): StacLink[] {
    const json = "application/json";
    return [
      { rel: "self", href: this.root, type: json },
      this.rootLink(),
      { rel: "conformance", href: `${this.root}/conformance`, type: json, title: "What it conforms to" },
      { rel: "service-desc", href: `${this.root}/api`, type: open_api_json, title: "The STAC API as OpenAPI 3.0" },
      { rel: "service-doc", href: `${this.base}/api/docs`, type: "text/html", title: "The whole API as a page" },
      { rel: "data", href: `${this.root}/collections`, type: json, title: "Collections" },
      { rel: "search", href: `${this.root}/search`, type: geo_json, method: "GET", title: "Search" },
      { rel: "search", href: `${this.root}/search`, type: geo_json, method: "POST", title: "Search" },
      this.queryables(this.root),
      ...collections.map(({ id, title }) => ({
        rel: "child",
        href: this.collection(id),
        type: json,
        title: title ?? id,
      })),
      // A client that walks the tree must not take the beginning for the whole.
      ...(more ? [{ rel: "children", href: `${this.root}/collections`, type: json, title: "All collections" }] : []),
    ];
  }

  /** `of`: the root or a collection. */
  queryables(of: string): StacLink {
    const rel = "http://www.opengis.net/def/rel/ogc/1.0/queryables";
    return { rel, href: `${of}/queryables`, type: schema_json, title: "What filters may name" };
  }

  ofCollection(id: string): StacLink[] {
    return [
      { rel: "self", href: this.collection(id), type: "application/json" },
      { rel: "parent", href: this.root, type: "application/json" },
      this.rootLink(),
      { rel: "items", href: this.items(id), type: geo_json },
      this.queryables(this.collection(id)),
    ];
  }

  /** As OGC API Tiles and map clients find them. `of`: a collection, or an item of it. */
  tiles(...of: [collection: string, item?: string]): StacLink[] {
    const own = [`${this.base}/tiles`, ...of.map((name) => encodeURIComponent(name as string))].join("/");
    const type = "application/json";
    return [
      { rel: "http://www.opengis.net/def/rel/ogc/1.0/tilesets-map", href: own, type, title: "Map tiles" },
      { rel: "tilejson", href: `${own}/tilejson.json`, type, title: "Map tiles as TileJSON" },
    ];
  }

  ofItem(collection: string, id: string): StacLink[] {
    return [
      { rel: "self", href: this.item(collection, id), type: geo_json },
      { rel: "parent", href: this.collection(collection), type: "application/json" },
      { rel: "collection", href: this.collection(collection), type: "application/json" },
      this.rootLink(),
    ];
  }
}

export interface Page {
  next: string | null;
  previous?: string | null;
}

/** Links of a page that was asked for in an address: the same address with another token. */
export function pageLinks(
  path: string,
  query: Record<string, string | undefined>,
  page: Page,
  type: string,
): StacLink[] {
  const at = (token: string | undefined) => {
    const given = Object.entries({ ...query, token }).filter((pair): pair is [string, string] => pair[1] !== undefined);
    const text = new URLSearchParams(given).toString();
    return text === "" ? path : `${path}?${text}`;
  };
  return [
    { rel: "self", href: at(query.token), type },
    ...(page.next === null ? [] : [{ rel: "next", href: at(page.next), type, method: "GET" }]),
    ...(page.previous ? [{ rel: "prev", href: at(page.previous), type, method: "GET" }] : []),
  ];
}

/** Links of a page that was asked for in a body: the token on top of what was sent. */
export function bodyPageLinks(path: string, page: Page, type: string): StacLink[] {
  const link = (rel: string, token: string) => ({
    rel,
    href: path,
    type,
    method: "POST",
    body: { token },
    merge: true,
  });
  return [
    ...(page.next === null ? [] : [link("next", page.next)]),
    ...(page.previous ? [link("prev", page.previous)] : []),
  ];
}
