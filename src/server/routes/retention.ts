import { retention_api } from "../../core/api/retention.js";
import { routes } from "../http/route.js";

export const retentionRoutes = () =>
  routes(retention_api, {
    change: ({ engine, params, body: { rules, actor: person }, actor }) =>
      engine.forTenant(params.tenant_id).retention.change(rules, { actor: actor(person) }),
    change_default: ({ engine, body: { rules, actor: person }, actor }) =>
      engine.retention.change(rules, { everybody: true, actor: actor(person) }),
  });
