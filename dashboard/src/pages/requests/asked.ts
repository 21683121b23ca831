// The filter of the list as it is asked for, and how far a request is in a few words. Pure.

import type { QueryIn } from "../../../../src/core/api/endpoint.js";
import type { requests_api } from "../../../../src/core/api/platform/requests.js";
import type { RequestSummary } from "./records.js";

/** As they stand in the address. */
export const no_filters = { text: "", status: "", data_type: "", dataset: "", client: "" };
export const filters = Object.keys(no_filters) as (keyof typeof no_filters)[];

const known = new Set(["pending", "processing", "completed", "partial_success", "failed", "cancelled"]);

/** What is not given is not asked for; a status that nobody knows, as somebody may have written into the address, is left out. */
export function asked(query: typeof no_filters): Partial<QueryIn<typeof requests_api.list>> {
  const status = query.status.split(",").filter((one) => known.has(one));
  return {
    ...(query.text.trim() === "" ? {} : { text: query.text.trim().slice(0, 200) }),
    ...(status.length === 0 ? {} : { status: status.join() }),
    ...(query.data_type === "" ? {} : { data_type: query.data_type }),
    ...(query.dataset === "" ? {} : { dataset_id: query.dataset }),
    ...(query.client === "" ? {} : { client_id: query.client }),
  };
}

const ended = new Set(["completed", "partial_success", "failed", "skipped", "cancelled"]);

/** "1 of 3 jobs ended", or what the request says of its failure. */
export function standing({ status, jobs, error }: Pick<RequestSummary, "status" | "jobs" | "error">): string {
  const message = typeof error?.message === "string" ? error.message : "";
  if (message !== "" && status !== "completed") return message.length > 120 ? `${message.slice(0, 119)}…` : message;
  const done = jobs.filter((job) => ended.has(job.status)).length;
  return done === jobs.length ? "" : `${done} of ${jobs.length === 1 ? "1 job" : `${jobs.length} jobs`} ended`;
}
