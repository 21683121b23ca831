import { groups_api } from "../../core/api/groups.js";
import { routes } from "../route.js";

export const groupsRoutes = () =>
  routes(groups_api, {
    list: ({ engine, query: { status, limit, cursor } }) =>
      engine.groups.list({ status: status ?? null, limit, cursor: cursor ?? null }),
    async create({ engine, params, body: { name = null, expected = null, actor: person }, reply, actor }) {
      const { created, group } = await engine.groups.create({ ...params, name, expected, actor: actor(person) });
      if (created) reply.status(201);
      return group;
    },
    get: ({ engine, params }) => engine.groups.get(params.group_id),
    seal: ({ engine, params, body, actor }) => engine.groups.seal(params.group_id, { actor: actor(body.actor) }),
    async jobs({ engine, params, query: { open = false, limit, cursor } }) {
      const { jobs, next } = await engine.groups.jobs(params.group_id, { open, limit, cursor: cursor ?? null });
      return { jobs: jobs.map((job) => ({ ...job, error: job.error && { ...job.error } })), next };
    },
    cancel: ({ engine, params, body: { reason = null, dry_run, actor: person }, actor }) =>
      engine.groups.cancel(params.group_id, { reason, dry_run, actor: actor(person) }),
  });
