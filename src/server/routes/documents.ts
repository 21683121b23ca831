// The API's own description, made of the routes there are; made once.

import type { FastifyRequest } from "fastify";
import { package_version } from "../../config.js";
import { documents_api } from "../../core/api/documents.js";
import type { Endpoint } from "../../core/api/endpoint.js";
import { upload_parts_api } from "../../core/api/files/uploads.js";
import { zone_files_api } from "../../core/api/files/zone_files.js";
import { openApi } from "../../core/api/openapi.js";
import { upload_api } from "../../core/api/work/files.js";
import { type Route, routes } from "../http/route.js";
import { docsPage, own_address } from "../pages/docs_page.js";

/** Locked down: the page runs nothing, loads nothing and is framed nowhere; its style is in itself. */
const policy =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export function documentsRoutes(others: readonly Route[]): Route[] {
  const described_elsewhere = [zone_files_api, upload_parts_api, upload_api, documents_api].flatMap((api): Endpoint[] =>
    Object.values(api),
  );
  const endpoints: Endpoint[] = [...others.map(({ endpoint }) => endpoint), ...described_elsewhere];
  let document: { openapi: string } | undefined;
  let page: string | undefined;
  const described = () => {
    document ??= openApi(endpoints, { version: package_version }) as { openapi: string };
    return document;
  };
  return routes(documents_api, {
    openapi: async () => described(),
    async docs({ reply, request }) {
      reply.headers({ "content-security-policy": policy, "x-frame-options": "DENY", "referrer-policy": "no-referrer" });
      page ??= docsPage(endpoints, described());
      return page.replaceAll(own_address, addressOf(request));
    },
  });
}

/** As the reader reached it, so that the example runs as it stands; only what can be nothing but an address. */
function addressOf({ host, protocol, headers }: FastifyRequest): string {
  if (!/^[a-z0-9.-]{1,253}(:\d{1,5})?$|^\[[0-9a-f:.]{2,45}\](:\d{1,5})?$/i.test(host ?? ""))
    return "http://localhost:8080";
  return `${headers["x-forwarded-proto"] === "https" ? "https" : protocol}://${host}`;
}
