// The API's document for people: every call with what it takes. Pure.
import { type OgcLinks, with_f } from "../links.js";
import { crumbsOf } from "./feature_pages.js";
import { type Html, html, pageOf } from "./page.js";

interface Described {
  summary: string;
  parameters: { name: string; in: string; description: string; schema: { type?: string; enum?: string[] } }[];
}

export function apiPage(links: OgcLinks, document: { paths: Record<string, unknown> }): Html {
  const calls = Object.entries(document.paths as Record<string, Record<string, Described>>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({
      call: `${method.toUpperCase()} /ogc${path === "/" ? "" : path}`,
      ...described,
    })),
  );
  const body = html`<p>Every call but this one needs an API key: <code>Authorization: Bearer ff_…</code>, or a browser that is signed in.</p>
${calls.map(
  ({ call, summary, parameters }) => html`<h2><code>${call}</code></h2><p>${summary}</p>
<table><tbody>${parameters.map(({ name, in: place, description, schema }) => html`<tr><th>${name}</th><td class="quiet">${place}, ${schema.enum?.join(" | ") ?? schema.type ?? ""}</td><td>${description}</td></tr>`)}</tbody></table>`,
)}`;
  return pageOf("The API", crumbsOf(links).slice(0, 1), with_f(`${links.root}/api`, "json"), body);
}
