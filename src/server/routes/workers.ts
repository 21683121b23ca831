import { workers_api } from "../../core/api/workers.js";
import { routes } from "../route.js";

export const workersRoutes = () =>
  routes(workers_api, {
    tasks: ({ engine, params, query: { limit } }) => engine.queries.workerTasks(params.worker_id, limit),
  });
