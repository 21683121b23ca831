// Tasks: enqueued, listed, looked at, moved.
import { tasks_api } from "../../core/api/tasks.js";
import { BadRequest } from "../../core/errors/errors.js";
import type { Problem } from "../../core/errors/problems.js";
import { asText, routes } from "../http/route.js";
import { explained } from "./operations.js";

/** More of them in one call wait for a turn: of one tenant's only some are with the database. */
const MANY_TASKS = 100;

export const tasksRoutes = () =>
  routes(tasks_api, {
    async enqueue({ engine, service, signal, params, body, request, reply, traceparent }) {
      const { items, parameters, ...options } = body;
      const header = request.headers["idempotency-key"];
      const key = typeof header === "string" ? header : undefined;
      const problems: Problem[] = [];
      if (items !== undefined) {
        const beside = ["parameters", ...Object.keys(options)].filter((name) => Object.hasOwn(body, name));
        for (const name of beside) {
          const fix = "Give it in each of the items, or leave items out.";
          problems.push({ path: `body.${name}`, problem: "stands beside items", fix });
        }
        if (key !== undefined) {
          const fix = "Give each of the items its own idempotency_key.";
          problems.push({ path: "header.idempotency-key", problem: "is for one task", fix });
        }
      } else if (key !== undefined && (key.length === 0 || key.length > 1024)) {
        problems.push({
          path: "header.idempotency-key",
          problem: "must have 1 to 1024 characters",
          fix: "Shorten it.",
        });
      } else if (key !== undefined && options.idempotency_key !== undefined && options.idempotency_key !== key) {
        const fix = "Give one of the two.";
        problems.push({ path: "body.idempotency_key", problem: "differs from the header Idempotency-Key", fix });
      }
      if (problems.length > 0) throw new BadRequest("the request is not right", { problems });
      const one = { parameters: parameters ?? {}, ...options, ...(key === undefined ? {} : { idempotency_key: key }) };
      const enqueue = () => engine.enqueueMany(params.task_type, items ?? [one], { traceparent });
      const turns = (items?.length ?? 1) > MANY_TASKS ? service.long_calls : service.enqueues;
      const enqueued = await turns.within(engine.tenant, signal, enqueue);
      if (enqueued.created === 0) reply.status(200);
      return enqueued;
    },
    async list({ engine, query: { type, ...query } }) {
      const { tasks, next } = await engine.queries.tasks({ ...query, task_type: type });
      return { tasks, next };
    },
    async of_job({ engine, params, query }) {
      const { tasks, next } = await engine.queries.tasks({ ...query, job_id: params.job_id });
      return { tasks, next };
    },
    async with_results({ engine, params, query }) {
      const page = await engine.queries.tasksWithResults({ ...query, job_id: params.job_id });
      return {
        ...page,
        tasks: page.tasks.map((task) => ({ ...task, spill: task.spill === null ? null : { ...task.spill } })),
      };
    },
    get: async ({ engine, params, query, principal }) =>
      asText(await engine.task_details.text(params.task_id, { ...query, machines: principal.operator })),
    why: async ({ engine, params, principal }) => explained(await engine.operate.why(params.task_id), principal),
  });
