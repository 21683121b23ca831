import { tenants_api } from "../../core/api/tenants.js";
import { removeTenant, tenantToRemove } from "../../engine/upkeep/leaving_tenant.js";
import { routes } from "../http/route.js";
import { mayOf } from "./keys.js";

/** Less than the patience of whoever calls. */
const REMOVES_MS = 10_000;

export const tenantsRoutes = () =>
  routes(tenants_api, {
    async create({ engine, body: { tenant_id, name, actor: person }, actor, reply }) {
      const tenant = await engine.tenants.create(tenant_id, { name, actor: actor(person) });
      if (!tenant.created) reply.status(200);
      return tenant;
    },
    async remove({ engine, params: { tenant_id }, body: { actor: person, dry_run, confirm, ...given }, actor }) {
      if (dry_run) return { tenant_id, dry_run, removed: 0, more: true, ...(await tenantToRemove(engine, tenant_id)) };
      const until = performance.now() + REMOVES_MS;
      const done = await removeTenant(engine, {
        ...given,
        tenant_id,
        confirm: confirm ?? "",
        actor: actor(person),
        until: () => performance.now() > until,
      });
      return { ...done, dry_run, jobs: null };
    },
    create_key: ({ engine, params, body: { actor: person, ...given }, principal, actor }) =>
      engine.forTenant(params.tenant_id).keys.create({ ...given, actor: actor(person), may: mayOf(principal) }),
  });
