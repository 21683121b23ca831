import { tenants_api } from "../../core/api/tenants.js";
import { routes } from "../http/route.js";
import { mayOf } from "./keys.js";

export const tenantsRoutes = () =>
  routes(tenants_api, {
    async create({ engine, body: { tenant_id, name, actor: person }, actor, reply }) {
      const tenant = await engine.tenants.create(tenant_id, { name, actor: actor(person) });
      if (!tenant.created) reply.status(200);
      return tenant;
    },
    create_key: ({ engine, params, body: { actor: person, ...given }, principal, actor }) =>
      engine.forTenant(params.tenant_id).keys.create({ ...given, actor: actor(person), may: mayOf(principal) }),
  });
