// The pages of features: a map and a table of one page of them with a filter and ways to go on, and one feature by itself. Pure.
import { type Crs, crs84 } from "../../../../geo/layers/crs.js";
import type { Layer } from "../../../../geo/layers/layer.js";
import type { GeoFeature } from "../items.js";
import type { Query } from "../items_request.js";
import { asked, type OgcLinks, with_f } from "../links.js";
import { type Box, boxOf, featureMap, roomy } from "./feature_map.js";
import { type Crumb, Html, html, pageOf } from "./page.js";

export interface ItemsPage {
  links: OgcLinks;
  layer: Layer;
  features: GeoFeature[];
  query: Query;
  crs: Crs;
  /** Null: not counted. */
  matched: number | null;
  next: string | null;
}

export function itemsPage({ links, layer, features, query, crs, matched, next }: ItemsPage): Html {
  const here = links.items(layer.name);
  const columns = layer.columns.filter(
    ({ name }) => features.length === 0 || Object.hasOwn(features[0]!.properties, name),
  );
  const count =
    matched === null ? `${features.length} on this page` : `${features.length} of ${matched.toLocaleString("en")}`;
  const body = html`<form action="${here}" method="get"><input type="hidden" name="f" value="html">
<input name="filter" placeholder="Filter in CQL2, for instance: name LIKE 'A%' AND population > 1000" value="${query.filter ?? ""}" aria-label="Filter">
<input name="bbox" placeholder="west,south,east,north" value="${query.bbox ?? ""}" aria-label="Box">
<select name="limit" aria-label="Features of a page">${["10", "50", "100"].map((one) => html`<option${new Html(one === (query.limit ?? "10") ? " selected" : "")}>${one}</option>`)}</select>
<button>Show</button></form>
${mapOf({ links, layer, features, query, crs })}
<p class="moves">${count} ${next === null ? null : html`<a href="${next}" rel="next">Next page</a>`}
${query.token === undefined ? null : html`<a href="${asked(here, query, { token: undefined })}">First page</a>`}</p>
<div class="wide"><table><thead><tr><th>id</th>${columns.map(({ name, title }) => html`<th title="${title ?? ""}"><a href="${sortedBy(here, query, name)}">${name}</a></th>`)}</tr></thead>
<tbody>${features.map((feature) => html`<tr><td><a href="${with_f(links.item(layer.name, feature.id), "html")}">${feature.id}</a></td>${columns.map(({ name }) => cell(feature.properties[name]))}</tr>`)}</tbody></table></div>`;
  const as_json = with_f(asked(here, query, { f: undefined }), "json");
  return pageOf("Features", [...crumbsOf(links), crumb(links, layer)], as_json, body);
}

function sortedBy(here: string, query: Query, name: string): string {
  return asked(here, query, { token: undefined, sortby: query.sortby === name ? `-${name}` : name });
}

/** Positions are drawn in degrees with longitude first; a page in another system has its table only. */
function mapOf({ links, layer, features, query, crs }: Omit<ItemsPage, "matched" | "next">): Html | null {
  if (layer.geometry_column === null || crs.uri !== crs84.uri || query.skipGeometry === "true") return null;
  const given = query["bbox-crs"] === undefined ? query.bbox?.split(",").map(Number) : undefined;
  const asked_box = given?.length === 4 && given[0]! < given[2]! && given[1]! < given[3]! ? (given as Box) : null;
  const box = asked_box ?? boxOf(features) ?? (layer.extent === null ? null : roomy(layer.extent));
  if (box === null) return html`<p class="quiet">Nothing here has a place.</p>`;
  const go = (title: string, [west, south, east, north]: Box) => {
    const within = [Math.max(west, -180), Math.max(south, -90), Math.min(east, 180), Math.min(north, 90)];
    const bbox = within.map((one) => Number(one.toFixed(6))).join(",");
    return html`<a href="${asked(links.items(layer.name), query, { bbox, token: undefined, f: "html" })}">${title}</a>`;
  };
  const [west, south, east, north] = box;
  const [w, h] = [(east - west) / 4, (north - south) / 4];
  return html`${featureMap(features, box, ({ id }) => with_f(links.item(layer.name, id), "html"))}
<p class="moves">${go("Closer", [west + w, south + h, east - w, north - h])}${go("Farther", [west - 2 * w, south - 2 * h, east + 2 * w, north + 2 * h])}
${go("West", [west - 2 * w, south, east - 2 * w, north])}${go("East", [west + 2 * w, south, east + 2 * w, north])}${go("North", [west, south + 2 * h, east, north + 2 * h])}${go("South", [west, south - 2 * h, east, north - 2 * h])}
${query.bbox === undefined ? null : html`<a href="${asked(links.items(layer.name), query, { bbox: undefined, token: undefined })}">Everywhere</a>`}</p>`;
}

export function itemPage({
  links,
  layer,
  feature,
  crs,
}: {
  links: OgcLinks;
  layer: Layer;
  feature: GeoFeature;
  crs: Crs;
}): Html {
  const box = crs.uri === crs84.uri ? boxOf([feature]) : null;
  const own = links.item(layer.name, feature.id);
  const body = html`${box === null ? null : featureMap([feature], box, () => with_f(own, "html"))}
<table><tbody>${layer.columns.map(({ name, title }) => html`<tr><th>${title ?? name}</th>${cell(feature.properties[name])}</tr>`)}
<tr><th>geometry</th><td>${feature.geometry?.type ?? "none"}</td></tr></tbody></table>`;
  const items: Crumb = { href: with_f(links.items(layer.name), "html"), title: "Features" };
  return pageOf(String(feature.id), [...crumbsOf(links), crumb(links, layer), items], with_f(own, "json"), body);
}

function cell(value: unknown): Html {
  if (value === null || value === undefined) return html`<td class="quiet">–</td>`;
  if (typeof value === "number") return html`<td class="number">${value}</td>`;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return html`<td>${text.length > 500 ? `${text.slice(0, 500)}…` : text}</td>`;
}

export function crumbsOf(links: OgcLinks): Crumb[] {
  return [
    { href: with_f(links.root, "html"), title: "OGC API" },
    { href: with_f(`${links.root}/collections`, "html"), title: "Collections" },
  ];
}

export function crumb(links: OgcLinks, layer: Layer): Crumb {
  return { href: with_f(links.collection(layer.name), "html"), title: layer.title ?? layer.name };
}
