// The dashboard's built files at /, and its page wherever its own addresses lead: under a strict policy, since what it shows is
// anybody's text. Where nothing was built the API's page is there instead.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fastifyStatic from "@fastify/static";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";

export interface DashboardParts {
  /** Where the built files are. */
  folder?: string | undefined;
  basePath(request: FastifyRequest): string;
  log: Logger;
}

/** `dist/` stands beside `src/` in the repository, and holds this file in the package. */
export const dashboard_folder = fileURLToPath(new URL("../../../dist/dashboard", import.meta.url));

/** The first parts of the page's own addresses. */
const pages = `jobs tasks workers queues health schedules webhooks keys limits audit
  submit catalog sign-in groups connectors requests datasets layers`.split(/\s+/);

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "font-src 'self'",
  "base-uri 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

const page_headers = {
  "content-security-policy": policy,
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  // What is looked for stands in the address.
  "referrer-policy": "same-origin",
  // Nothing of a tenant's is in it, but the next sign-in must find the files of the present build.
  "cache-control": "no-store",
};

export function serveDashboard(app: FastifyInstance, parts: DashboardParts): void {
  const { folder = dashboard_folder, basePath, log } = parts;
  const docs = (request: FastifyRequest, reply: FastifyReply) => reply.redirect(`${basePath(request)}/api/docs`, 302);
  app.get("/api", docs);
  const html = readPage(folder);
  if (html === null) {
    log.info({ folder }, "the dashboard was not built, so / leads to the API's page; npm run build makes it");
    app.get("/", docs);
    return;
  }
  serveFiles(app, folder);
  const send = (request: FastifyRequest, reply: FastifyReply) =>
    reply
      .headers(page_headers)
      .type("text/html; charset=utf-8")
      .send(withBase(html, basePath(request)));
  app.get("/", send);
  for (const name of pages) {
    for (const url of [`/${name}`, `/${name}/*`]) {
      app.get(url, (request, reply) => {
        // A caller who wants no page has mistaken the address of a call.
        if (!/\btext\/html\b/.test(request.headers.accept ?? "")) return reply.callNotFound();
        return send(request, reply.header("vary", "accept"));
      });
    }
  }
}

/** Was it built? */
export function hasDashboard(): boolean {
  return existsSync(join(dashboard_folder, "index.html"));
}

function readPage(folder: string): string | null {
  try {
    return readFileSync(join(folder, "index.html"), "utf8");
  } catch {
    return null;
  }
}

function serveFiles(app: FastifyInstance, folder: string): void {
  const setHeaders = (reply: FastifyReply) => void reply.header("cross-origin-resource-policy", "same-origin");
  // Their names change with what is in them.
  void app.register(fastifyStatic, {
    root: join(folder, "ui"),
    prefix: "/ui/",
    index: false,
    preCompressed: true,
    dotfiles: "ignore",
    setHeaders,
    maxAge: "365d",
    immutable: true,
  });
  const others = readdirSync(folder, { withFileTypes: true }).filter(
    (one) => one.isFile() && /^[a-z0-9_-]+\.(svg|png|ico|txt|webmanifest)$/.test(one.name),
  );
  for (const { name } of others) {
    app.get(`/${name}`, (_, reply) => reply.sendFile(name, folder, { maxAge: "1h", immutable: false }));
  }
}

/** Addresses in the page are relative to this one. */
function withBase(html: string, base_path: string): string {
  const href = `${base_path}/`.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
  return html.replace(/<base\b[^>]*>/, () => `<base href="${href}">`);
}

/** First parts of what is served here: a base path that begins so cannot be told from it. */
const own_names = new Set(["api", "stac", "ogc", "tiles", "assets", "metrics", "ui", ...pages]);

/** For a proxy that hands the base path on: takes it off. One that takes it off itself is left alone. */
export function withoutBasePath(public_url: string | undefined): ((request: { url?: string }) => string) | undefined {
  const base = public_url === undefined ? "" : new URL(public_url).pathname.replace(/\/+$/, "");
  if (base === "" || own_names.has(base.split("/")[1] ?? "")) return undefined;
  return ({ url = "/" }) => {
    if (url === base || url.startsWith(`${base}?`)) return `/${url.slice(base.length)}`;
    return url.startsWith(`${base}/`) ? url.slice(base.length) : url;
  };
}
