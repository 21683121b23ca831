import { tenants_api } from "../../core/api/tenants.js";
import { routes } from "../route.js";
import { mayOf } from "./keys.js";

export const tenantsRoutes = () =>
  routes(tenants_api, {
    list: ({ engine, query: { limit, cursor } }) => engine.tenants.list({ limit, cursor: cursor ?? null }),
    async create({ engine, body: { tenant_id, name, actor: person }, actor, reply }) {
      const tenant = await engine.tenants.create(tenant_id, { name, actor: actor(person) });
      if (!tenant.created) reply.status(200);
      return tenant;
    },
    get: ({ engine, params }) => engine.tenants.get(params.tenant_id),
    rename: ({ engine, params, body, actor }) => engine.tenants.rename(params.tenant_id, body.name, actor(body.actor)),
    create_key: ({ engine, params, body: { actor: person, ...given }, principal, actor }) =>
      engine.forTenant(params.tenant_id).keys.create({ ...given, actor: actor(person), may: mayOf(principal) }),
  });
