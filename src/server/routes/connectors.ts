import { connectors_api } from "../../core/api/connectors.js";
import { routes } from "../route.js";

export const connectorsRoutes = () =>
  routes(connectors_api, {
    list: async ({ engine, query }) => ({ connectors: await engine.connectors.list(query.connector ?? null) }),
    set: ({ engine, params, body, actor }) =>
      engine.connectors.set(params.connector, params.name, body.config, actor(body.actor)),
    remove: ({ engine, params, actor }) => engine.connectors.remove(params.connector, params.name, actor()),
    hosts: async ({ engine }) => ({ hosts: await engine.connectors.hosts() }),
  });
