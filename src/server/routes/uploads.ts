// Files that clients bring into bronze.
import { uploads_api } from "../../core/api/files/uploads.js";
import { routes } from "../http/route.js";

export const uploadsRoutes = () =>
  routes(uploads_api, {
    begin: ({ engine, body: { actor: person, ...wanted }, actor }) =>
      engine.uploads.begin({ ...wanted, actor: actor(person) }),
    get: ({ engine, params }) => engine.uploads.look(params.upload_id),
    complete: ({ engine, params, body, actor }) => engine.uploads.complete(params.upload_id, actor(body.actor)),
    remove: ({ engine, params, query, actor }) =>
      engine.uploads.remove(params.upload_id, { actor: actor(query.actor), reason: query.reason }),
  });
