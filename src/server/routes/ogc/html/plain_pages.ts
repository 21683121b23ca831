// The pages of everything but features: links, lists of collections, one collection. Pure.
import type { Layer } from "../../../../geo/layers/layer.js";
import { type Link, type OgcLinks, with_f } from "../links.js";
import { crumb, crumbsOf } from "./feature_pages.js";
import { type Crumb, type Html, html, pageOf } from "./page.js";

/** Whatever has no page made for it: what it says, and where it leads. */
export function recordPage(
  title: string,
  crumbs: readonly Crumb[],
  as_json: string,
  record: Record<string, unknown>,
): Html {
  const { links = [], ...others } = record as { links?: Link[] };
  const rows = Object.entries(others).filter(([, value]) => value !== undefined);
  const body = html`<table><tbody>${rows.map(([name, value]) => html`<tr><th>${name}</th><td>${shown(value)}</td></tr>`)}</tbody></table>
${linkList(links)}`;
  return pageOf(title, crumbs, as_json, body);
}

function shown(value: unknown): Html | string {
  if (Array.isArray(value) && value.every((one) => typeof one === "string"))
    return html`<ul>${value.map((one) => html`<li>${one}</li>`)}</ul>`;
  return typeof value === "object" ? html`<pre>${JSON.stringify(value, null, 2)}</pre>` : String(value);
}

function linkList(links: readonly Link[]): Html {
  const useful = links.filter(({ rel, templated }) => rel !== "self" && templated !== true);
  return html`<h2>Links</h2><ul>${useful.map(({ rel, href, type, title }) => html`<li><a href="${href}">${title ?? rel}</a> <span class="quiet">${type ?? ""}</span></li>`)}</ul>`;
}

export function collectionsPage(links: OgcLinks, layers: readonly Layer[], as_json: string, next: string | null): Html {
  const rows = layers.map(
    (
      layer,
    ) => html`<tr><td><a href="${with_f(links.collection(layer.name), "html")}">${layer.title ?? layer.name}</a></td>
<td>${layer.geometry_type ?? "no geometry"}</td><td class="number">${layer.feature_count.toLocaleString("en")}</td><td>${layer.updated_at}</td>
<td><a href="${with_f(links.items(layer.name), "html")}">Map and table</a></td></tr>`,
  );
  const body = html`${layers.length === 0 ? html`<p>There is no layer yet. A load job makes one.</p>` : null}
<div class="wide"><table><thead><tr><th>Collection</th><th>Geometry</th><th class="number">Features</th><th>Changed</th><th></th></tr></thead><tbody>${rows}</tbody></table></div>
${next === null ? null : html`<p><a href="${with_f(next, "html")}" rel="next">Next page</a></p>`}`;
  return pageOf("Collections", crumbsOf(links).slice(0, 1), as_json, body);
}

export function collectionPage(links: OgcLinks, layer: Layer, as_json: string, record: { links: Link[] }): Html {
  const { extent, srid, time_column } = layer;
  const body = html`${layer.description === null ? null : html`<p>${layer.description}</p>`}
<p><a href="${with_f(links.items(layer.name), "html")}"><b>Map and table of its features</b></a></p>
<table><tbody>
<tr><th>Features</th><td>${layer.feature_count.toLocaleString("en")}</td></tr>
<tr><th>Geometry</th><td>${layer.geometry_type ?? "none"}${srid === null ? "" : `, stored in EPSG:${srid}`}</td></tr>
<tr><th>Extent</th><td>${extent === null ? "none" : extent.join(", ")}</td></tr>
<tr><th>Time</th><td>${time_column ?? "none"}</td></tr>
<tr><th>Version</th><td>${layer.version}, of ${layer.updated_at}</td></tr></tbody></table>
<h2>Properties</h2><table><thead><tr><th>Name</th><th>Type</th><th>In the source</th></tr></thead>
<tbody>${layer.columns.map(({ name, type, source_name }) => html`<tr><td>${name}</td><td>${type}</td><td>${source_name ?? name}</td></tr>`)}</tbody></table>
${linkList(record.links)}`;
  return pageOf(crumb(links, layer).title, crumbsOf(links), as_json, body);
}
