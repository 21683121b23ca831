// A page of the OGC API for people: plain HTML with its style in itself. It runs nothing and loads nothing, since what it shows is anybody's
// text.
import type { FastifyReply } from "fastify";
import { OtherAnswer } from "../../../http/route.js";
import { html as html_type } from "../links.js";

const policy =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/** Text that is HTML already; anything else is escaped where it is put in. */
export class Html {
  constructor(readonly text: string) {}
}

type Part = string | number | null | undefined | Html | readonly Part[];

/** html`<b>${anything}</b>`: what is put in is text, unless it is Html. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(strings.reduce((before, after, number) => before + textOf(parts[number - 1]) + after));
}

function textOf(part: Part): string {
  if (part === null || part === undefined) return "";
  if (part instanceof Html) return part.text;
  if (typeof part === "object") return part.map(textOf).join("");
  return String(part)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

export function sendHtml(reply: FastifyReply, page: Html): OtherAnswer {
  reply.headers({
    "content-security-policy": policy,
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
  });
  return new OtherAnswer(`${html_type}; charset=utf-8`, `<!doctype html>\n${page.text}`);
}

export interface Crumb {
  href: string;
  title: string;
}

export function pageOf(title: string, crumbs: readonly Crumb[], as_json: string, body: Html): Html {
  return html`<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – Fanfold</title><style>${new Html(style)}</style></head><body>
<header><nav aria-label="Where this is">${crumbs.map(({ href, title: name }) => html`<a href="${href}">${name}</a> / `)}<b>${title}</b></nav>
<a href="${as_json}">JSON</a></header>
<main><h1>${title}</h1>
${body}</main></body></html>`;
}

const style = `
:root{color-scheme:light dark;--line:#8886;--sea:#8aa2b722;--fill:#2f6fde55;--edge:#2f6fde}
body{font:15px/1.5 system-ui,sans-serif;margin:0}
header{display:flex;justify-content:space-between;gap:1rem;padding:.6rem 1.2rem;border-bottom:1px solid var(--line)}
main{padding:.5rem 1.2rem 3rem;max-width:80rem;margin:auto}
h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:1.6rem}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.25rem .6rem;border-bottom:1px solid var(--line);vertical-align:top}
td{max-width:28rem;overflow-wrap:anywhere}.wide{overflow-x:auto}
.number{text-align:right;font-variant-numeric:tabular-nums}.quiet{opacity:.7}
svg{width:100%;height:auto;max-height:60vh;background:var(--sea);border:1px solid var(--line)}
svg .feature{fill:var(--fill);stroke:var(--edge);stroke-width:1.6;stroke-linecap:round;vector-effect:non-scaling-stroke}
svg .line{fill:none}svg a:hover .feature{stroke-width:3}
svg .grid{stroke:var(--line);stroke-width:.6;vector-effect:non-scaling-stroke}svg text{font-size:10px;fill:currentColor;opacity:.6}
form{display:flex;flex-wrap:wrap;gap:.5rem;margin:.8rem 0}input,select,button{font:inherit;padding:.2rem .4rem}input[name=filter]{flex:1;min-width:16rem}
.moves a{margin-right:.8rem}`;
