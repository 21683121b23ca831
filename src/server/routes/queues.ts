import { queues_api } from "../../core/api/queues.js";
import { routes } from "../route.js";

export const queuesRoutes = () =>
  routes(queues_api, {
    list: ({ engine, query: { minutes } }) => engine.queries.queues(minutes),
  });
