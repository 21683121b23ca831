// Saved views of the jobs list.
import { views_api } from "../../core/api/views.js";
import { routes } from "../route.js";

export const viewsRoutes = () =>
  routes(views_api, {
    list: async ({ engine }) => ({ views: await engine.views.list() }),
    put: ({ engine, params, body, actor }) => engine.views.put(params.view_name, body.query, { actor: actor() }),
    delete: ({ engine, params, actor }) => engine.views.delete(params.view_name, { actor: actor() }),
  });
