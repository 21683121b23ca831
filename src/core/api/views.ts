// Saved views: filters of the jobs list under a name, shared by all of a tenant. Pure.
import { z } from "zod";
import { filter_limits, parseJobFilter } from "../shown/job_filter.js";
import { endpointsOf } from "./endpoint.js";
import { shownName, time } from "./fields.js";

const view_name = shownName(60)
  .describe("The view's name")
  .meta({ examples: ["Failed today"] });

const view = z
  .object({
    name: z.string(),
    query: z.string().describe("The filter, as it is typed"),
    created_at: time,
    created_by: z.string(),
    updated_at: time,
    updated_by: z.string(),
  })
  .meta({ id: "View" });

/** What was saved before names were looked at can still be deleted. */
const any_name = z.string().min(1).max(60).describe("The view's name");

const endpoint = endpointsOf({ tag: "views", scope: "operate", params: { view_name } });

export const views_api = {
  list: endpoint("GET /api/views", {
    sql: { name: "list_views", list: "views" },
    summary: "The saved views of the jobs list, by name",
    scope: "read",
    reply: z.object({ views: z.array(view) }),
  }),
  put: endpoint("PUT /api/views/{view_name}", {
    sql: { name: "put_view", named: { view_name: "name" } },
    summary: "Save a view, or replace it",
    body: z.strictObject({
      query: z
        .string()
        .max(filter_limits.text)
        .meta({ examples: ["status:failed created:>-1d"] })
        .superRefine((text, context) => {
          for (const { from, problem, fix } of parseJobFilter(text).problems)
            context.addIssue({ code: "custom", message: `at character ${from + 1}, ${problem}. ${fix}` });
        })
        .describe("The filter, such as status:failed created:>-1d"),
    }),
    reply: view,
    errors: [422],
    repeatable: true,
  }),
  delete: endpoint("DELETE /api/views/{view_name}", {
    sql: { name: "delete_view", named: { view_name: "name" } },
    summary: "Delete a view",
    params: z.strictObject({ view_name: any_name }),
    reply: view,
  }),
};
