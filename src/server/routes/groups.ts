import { groups_api } from "../../core/api/groups.js";
import type { GroupRecord } from "../../engine/groups.js";
import { withCalls } from "../http_calls.js";
import { routes } from "../route.js";

const told = (group: GroupRecord) => ({ ...group, hint: withCalls(group.hint) });

export const groupsRoutes = () =>
  routes(groups_api, {
    async list({ engine, query: { status, limit, cursor } }) {
      const { groups, next } = await engine.groups.list({ status: status ?? null, limit, cursor: cursor ?? null });
      return { groups: groups.map(told), next };
    },
    async create({ engine, params, body: { name = null, expected = null, actor: person }, reply, actor }) {
      const { created, group } = await engine.groups.create({ ...params, name, expected, actor: actor(person) });
      if (created) reply.status(201);
      return told(group);
    },
    get: async ({ engine, params }) => told(await engine.groups.get(params.group_id)),
    async seal({ engine, params, body, actor }) {
      const { changed, group } = await engine.groups.seal(params.group_id, { actor: actor(body.actor) });
      return { changed, group: told(group) };
    },
    cancel: ({ engine, params, body: { reason = null, dry_run, actor: person }, actor }) =>
      engine.groups.cancel(params.group_id, { reason, dry_run, actor: actor(person) }),
  });
