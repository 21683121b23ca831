import { groups_api } from "../../core/api/groups.js";
import { routes } from "../http/route.js";

export const groupsRoutes = () =>
  routes(groups_api, {
    async create({ engine, params, body: { name = null, expected = null, actor: person }, reply, actor }) {
      const { created, group } = await engine.groups.create({ ...params, name, expected, actor: actor(person) });
      if (created) reply.status(201);
      return group;
    },
    cancel: ({ engine, params, body: { reason = null, dry_run, actor: person }, actor }) =>
      engine.groups.cancel(params.group_id, { reason, dry_run, actor: actor(person) }),
  });
