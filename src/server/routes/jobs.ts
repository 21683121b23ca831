import { jobs_api } from "../../core/api/jobs.js";
import { routes } from "../route.js";

export const jobsRoutes = () =>
  routes(jobs_api, {
    async submit({ engine, params, body: { parameters, ...options }, reply, traceparent }) {
      const submitted = await engine.submit(params.job_type, parameters, { ...options, traceparent });
      if (!submitted.created) reply.status(200);
      return submitted;
    },
    async list({ engine, query: { limit, cursor } }) {
      const { jobs, next } = await engine.jobs({ limit, cursor: cursor ?? null });
      return { jobs: jobs.map((job) => ({ ...job })), next };
    },
  });
