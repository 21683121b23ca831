// How a worker over HTTP makes the tasks of a stage by code of its own: page after page, and then the word that it is done. Pure.
import { z } from "zod";
import { bulk_body_values, endpointsOf } from "../endpoint.js";
import { largest_plan_page, most_planned } from "./limits.js";
import { claim_id, whole, worker } from "./tasks.js";

/** 409: the planning is no longer held (not_allowed_now), or the worker itself is not known any more (stale_worker). */
const errors = [409];

const planning = {
  task_id: z
    .string()
    .regex(/^\d{1,15}-plan$/, "is not the id of a planning, such as 12-plan")
    .describe("As claim gave it, with kind: plan")
    .meta({ examples: ["12-plan"] }),
  claim_id,
};

const endpoint = endpointsOf({ tag: "work", scope: "work", errors, params: worker.shape });

export const plans_api = {
  plan: endpoint("POST /api/workers/{worker_id}/plan", {
    summary: "One page of the tasks of a stage",
    description:
      "In order; `from` is how many were sent before. The first page is sent even if it is empty: it removes what a planner that died " +
      "has left. The same page again does no harm.",
    body: z.strictObject({
      ...planning,
      from: whole,
      tasks: z
        .array(z.unknown())
        .max(most_planned)
        .describe("{index?, parameters?, metadata?, parent?, bbox?}; the index names the task in its stage"),
    }),
    body_limit: largest_plan_page,
    body_values: bulk_body_values,
    reply: z.object({ inserted: z.int() }),
    repeatable: true,
  }),
  plan_done: endpoint("POST /api/workers/{worker_id}/plan/done", {
    errors: [...errors, 422],
    summary: "The plan is complete: its tasks run now",
    description:
      "Or it is skipped, because its condition does not hold; or the condition holds, and the plan itself is data that the server carries out.",
    body: z
      .strictObject({
        ...planning,
        total: whole.optional().describe("How many tasks were sent"),
        skip: z.boolean().default(false),
        by_data: z.boolean().default(false),
        plan_hash: z.string().max(100).optional().describe("Tells one version of the planner from another"),
      })
      .refine(({ total, skip, by_data }) => Number(total !== undefined) + Number(skip) + Number(by_data) === 1, {
        message: "takes one of total, skip and by_data",
      }),
    reply: z.object({ total: z.int() }),
  }),
};
