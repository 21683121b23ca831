import { queues_api } from "../../core/api/queues.js";
import { Forbidden } from "../../core/errors/errors.js";
import { callVerb } from "../../engine/verbs/verb.js";
import { routes } from "../http/route.js";

export const queuesRoutes = () =>
  routes(queues_api, {
    demand: ({ engine, query, principal }) => {
      if (query.everybody && !principal.operator)
        throw new Forbidden("only an operator's key measures the work of all tenants");
      return callVerb(engine, queues_api.demand, query);
    },
  });
