import { connectors_api } from "../../core/api/connectors.js";
import type { Registry } from "../../core/declare/registry.js";
import { quoted, suggestion } from "../../core/errors/problems.js";
import { connector_prefix } from "../../core/places/connector_config.js";
import { routes } from "../http/route.js";

/** Workers may know more than this process: it is kept all the same. */
function unknownConnector(connector: string, { handlers }: Registry): string[] {
  const known = [...handlers.keys()]
    .filter((type) => type.startsWith(connector_prefix))
    .map((type) => type.slice(connector_prefix.length));
  if (known.includes(connector)) return [];
  return [`this service knows no connector ${quoted(connector)}. ${suggestion(connector, known)}`];
}

export const connectorsRoutes = () =>
  routes(connectors_api, {
    async set({ engine, params, body, actor }) {
      const written = await engine.connectors.set(params.connector, params.name, body.config, actor(body.actor));
      return { ...written, warnings: unknownConnector(params.connector, engine.registry) };
    },
  });
