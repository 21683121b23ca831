// Addresses and links of the OGC API, as the caller reaches it. Only the addresses of tiles may carry a signature.
import { mvt_type } from "../../../core/api/ogc/ogc.js";
import { geo_json, open_api_json, schema_json } from "../../../core/api/stac_records.js";
import type { TileMatrixSet } from "../../../geo/layers/tile_matrix_sets.js";

export interface Link {
  rel: string;
  href: string;
  type?: string;
  title?: string;
  templated?: true;
}

export const json = "application/json";
export const html = "text/html";
export const ogc_rel = "http://www.opengis.net/def/rel/ogc/1.0";

export class OgcLinks {
  /** `base`: where the service is, without a slash at its end. */
  constructor(readonly base: string) {}

  get root(): string {
    return `${this.base}/ogc`;
  }

  collection(id: string): string {
    return `${this.root}/collections/${encodeURIComponent(id)}`;
  }

  items(id: string): string {
    return `${this.collection(id)}/items`;
  }

  item(id: string, feature: string | number): string {
    return `${this.items(id)}/${encodeURIComponent(String(feature))}`;
  }

  tileset(id: string, set: TileMatrixSet): string {
    return `${this.collection(id)}/tiles/${set.id}`;
  }

  /** With the names that the caller's kind of map has for zoom, row and column. */
  tile(id: string, set: TileMatrixSet, [zoom, row, column]: readonly [string, string, string]): string {
    return `${this.tileset(id, set)}/{${zoom}}/{${row}}/{${column}}`;
  }

  set(id: string): string {
    return `${this.root}/tileMatrixSets/${id}`;
  }

  process(id: string): string {
    return `${this.root}/processes/${encodeURIComponent(id)}`;
  }

  job(id: string): string {
    return `${this.root}/jobs/${encodeURIComponent(id)}`;
  }

  output(job_id: string, output_id: string): string {
    return `${this.job(job_id)}/results/${encodeURIComponent(output_id)}`;
  }

  ofProcess(id: string): Link[] {
    return [
      ...this.here(this.process(id), "This process"),
      {
        rel: `${ogc_rel}/execute`,
        href: `${this.process(id)}/execution`,
        type: json,
        title: "POST here to execute it",
      },
      {
        rel: `${ogc_rel}/job-list`,
        href: `${this.root}/jobs?processID=${encodeURIComponent(id)}`,
        type: json,
        title: "Its jobs",
      },
    ];
  }

  landing(): Link[] {
    return [
      ...this.here(this.root, "This page"),
      { rel: "service-desc", href: `${this.root}/api`, type: open_api_json, title: "The API as OpenAPI 3.0" },
      { rel: "service-doc", href: `${this.root}/api?f=html`, type: html, title: "The API as a page" },
      ...this.both("conformance", `${this.root}/conformance`, "What it conforms to"),
      ...this.both(`${ogc_rel}/conformance`, `${this.root}/conformance`, "What it conforms to").slice(0, 1),
      ...this.both("data", `${this.root}/collections`, "The collections"),
      ...this.both(`${ogc_rel}/data`, `${this.root}/collections`, "The collections").slice(0, 1),
      ...this.both(`${ogc_rel}/tiling-schemes`, `${this.root}/tileMatrixSets`, "How the world is cut into tiles"),
      ...this.both(`${ogc_rel}/processes`, `${this.root}/processes`, "What can be executed"),
      ...this.both(`${ogc_rel}/job-list`, `${this.root}/jobs`, "Jobs"),
    ];
  }

  ofCollection(id: string, has_geometry: boolean): Link[] {
    const own = this.collection(id);
    return [
      ...this.here(own, "This collection"),
      { rel: "items", href: `${own}/items`, type: geo_json, title: "Features as GeoJSON" },
      { rel: "items", href: `${own}/items?f=html`, type: html, title: "Features as a map and a table" },
      { rel: `${ogc_rel}/queryables`, href: `${own}/queryables`, type: schema_json, title: "What filters may name" },
      ...(has_geometry ? this.both(`${ogc_rel}/tilesets-vector`, `${own}/tiles`, "Vector tiles") : []),
      { rel: "root", href: this.root, type: json },
      { rel: "parent", href: `${this.root}/collections`, type: json },
    ];
  }

  /** The two ways in which what is asked for is told. `asked`: as it was asked for, without f. */
  here(asked: string, title: string, type = json, shown: "json" | "html" = "json"): Link[] {
    const as_json: Link = { rel: shown === "json" ? "self" : "alternate", href: with_f(asked, "json"), type, title };
    const as_html: Link = {
      rel: shown === "html" ? "self" : "alternate",
      href: with_f(asked, "html"),
      type: html,
      title,
    };
    return shown === "json" ? [as_json, as_html] : [as_html, as_json];
  }

  tileLink(id: string, set: TileMatrixSet): Link {
    const href = `${this.tile(id, set, ["tileMatrix", "tileRow", "tileCol"])}?f=mvt`;
    return { rel: "item", href, type: mvt_type, templated: true, title: "Tiles" };
  }

  schemeLink(set: TileMatrixSet): Link {
    return { rel: `${ogc_rel}/tiling-scheme`, href: this.set(set.id), type: json, title: set.title };
  }

  private both(rel: string, href: string, title: string): Link[] {
    return [
      { rel, href, type: json, title },
      { rel, href: `${href}?f=html`, type: html, title },
    ];
  }
}

export function with_f(address: string, f: string): string {
  return `${address}${address.includes("?") ? "&" : "?"}f=${f}`;
}

/** The same question with some parts changed; undefined leaves one out. */
export function asked(
  path: string,
  query: Record<string, unknown>,
  changed: Record<string, string | undefined>,
): string {
  const given = Object.entries({ ...query, ...changed }).filter(
    (pair): pair is [string, string] => typeof pair[1] === "string",
  );
  const text = new URLSearchParams(given).toString();
  return text === "" ? path : `${path}?${text}`;
}
