// The API's own description, made of the routes there are; made once.
import { package_version } from "../../config.js";
import { documents_api } from "../../core/api/documents.js";
import type { Endpoint } from "../../core/api/endpoint.js";
import { openApi } from "../../core/api/openapi.js";
import { docsPage } from "../docs_page.js";
import { type Route, routes } from "../route.js";

/** Locked down: the page runs nothing, loads nothing and is framed nowhere; its style is in itself. */
const policy =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export function documentsRoutes(others: readonly Route[]): Route[] {
  const endpoints: Endpoint[] = [...others.map(({ endpoint }) => endpoint), ...Object.values(documents_api)];
  let document: { openapi: string } | undefined;
  let page: string | undefined;
  const described = () => {
    document ??= openApi(endpoints, { version: package_version }) as { openapi: string };
    return document;
  };
  return routes(documents_api, {
    openapi: async () => described(),
    async docs({ reply }) {
      reply.headers({ "content-security-policy": policy, "x-frame-options": "DENY", "referrer-policy": "no-referrer" });
      page ??= docsPage(endpoints, described());
      return page;
    },
  });
}
