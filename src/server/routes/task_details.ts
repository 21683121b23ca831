// A task looked at closely, and a job over time.
import { task_details_api } from "../../core/api/task_details.js";
import { timeline_api } from "../../core/api/timeline.js";
import { NotFound } from "../../core/errors/errors.js";
import { isReadableBy } from "../../core/places/store.js";
import { slowestPath } from "../../core/shown/timeline.js";
import { asText, routes } from "../http/route.js";
import { sendFile } from "./assets.js";

export const taskDetailsRoutes = () => [
  ...routes(task_details_api, {
    logs: async ({ engine, params, query: { q, limit, ...query } }) =>
      asText(await engine.task_details.logs(params.task_id, { ...query, text: q, rows: limit })),
    async value({ engine, params, query, request, reply, principal }) {
      const found = await engine.task_details.value(params.task_id, query.of);
      const name = `task-${params.task_id}-${query.of}.json`;
      if ("text" in found) {
        reply.header("content-disposition", `attachment; filename="${name}"`);
        return asText(found.text);
      }
      if (!isReadableBy(found.ref, principal.tenant_id)) throw new NotFound("this task's result is not there");
      return sendFile(engine, { name, media_type: "application/json", ref: found.ref }, request, reply);
    },
  }),
  ...routes(timeline_api, {
    async of_job({ engine, params, query: { limit, ...query }, principal }) {
      const timeline = await engine.task_details.timeline(params.job_id, { ...query, most: limit }, principal.operator);
      const stages = timeline.stages.toSorted((a, b) => a.number - b.number);
      const path = slowestPath(stages, timeline.now).map((step) => ({ ...step, status: step.status as "completed" }));
      return { ...timeline, stages, path };
    },
  }),
];
