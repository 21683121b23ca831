import { limits_api } from "../../core/api/limits.js";
import { routes } from "../http/route.js";

export const limitsRoutes = () =>
  routes(limits_api, {
    async change({ engine, params, body: { actor: person, ...limits }, actor }) {
      const theirs = engine.forTenant(params.tenant_id).limits;
      await theirs.change(limits, actor(person));
      return theirs.get();
    },
  });
