// Platform requests: submitted, looked at by any id, listed, cancelled, resubmitted; and the recipes they go by.
import { recipes_api } from "../../core/api/platform/recipes.js";
import { requests_api } from "../../core/api/platform/requests.js";
import type { SubmittedRequest } from "../../engine/verbs/requests.js";
import { type Call, routes } from "../http/route.js";
import { type FoundItem, servicesOf } from "../jobs/services.js";
import { searchOfAddress } from "./stac/search_request.js";
import { servedItem } from "./stac/served.js";
import { stacCallOf } from "./stac/stac_call.js";

export const requestsRoutes = () => [
  ...routes(requests_api, {
    async submit({ engine, query, body, reply, traceparent, actor }) {
      if (query.dry_run === true) {
        reply.status(200);
        // Which of the two it is, the status does not tell: `dry_run` does.
        return (await engine.requests.dryRun(body)) as unknown as SubmittedRequest;
      }
      const submitted = await engine.requests.submit(body, { traceparent, actor: actor() });
      if (!isOpen(submitted.status)) reply.status(200);
      return submitted;
    },
    status: (call) => answered(call, call.params.request_id),
    status_of_resource: (call) => answered(call, `${call.params.dataset_id}/${call.params.resource_id}`),
    status_of_version: (call) =>
      answered(call, `${call.params.dataset_id}/${call.params.resource_id}/${call.params.version_id}`),
    resubmit: ({ engine, params, body: { mode, reason, actor: person }, actor }) =>
      engine.requests.resubmit(params.request_id, { mode, reason, actor: actor(person) }),
  }),
  ...routes(recipes_api, {
    list: async ({ engine }) => ({ recipes: (await engine.recipes.list()).map(shown) }),
    get: async ({ engine, params }) => shown(await engine.recipes.get(params.data_type)),
    async save({ engine, params, body, actor, reply }) {
      const { created, recipe, changed } = await engine.recipes.save(params.data_type, body, { actor: actor() });
      if (created) reply.status(201);
      return { changed, recipe: shown(recipe) };
    },
    // A recipe in code is not removed, and only the server knows those.
    remove: ({ engine, params, body: { reason, actor: person }, actor }) =>
      engine.recipes.remove(params.data_type, { reason, actor: actor(person) }),
  }),
];

function shown<R extends { accepts: unknown; jobs: readonly object[] }>(recipe: R) {
  return { ...recipe, jobs: recipe.jobs.map((job) => ({ ...job })) } as never;
}

const isOpen = (status: string) => status === "pending" || status === "processing";

type Asked = Call<typeof requests_api.status>;

/** The one answer. While it is under way, 202 and when to ask again; at its end with the services it made. */
async function answered(call: Omit<Asked, "params">, id: string) {
  const { engine, query, reply, service, request: asked } = call;
  const request = await engine.requests.get(id);
  if (isOpen(request.status)) {
    if (query.status_code !== false) reply.status(202).header("retry-after", String(request.ask_again_s ?? 2));
  } else if (request.result_data !== null) {
    const has_catalog = (await service.catalogs.of(engine)) !== null;
    const itemsOf = has_catalog ? (job_id: string, limit: number) => itemsOfJob(call, job_id, limit) : null;
    request.result_data.services = await servicesOf(request, service.publicUrl(asked), itemsOf);
  }
  if (query.detail !== "full") return request;
  const details = [];
  for (const { job_id } of request.jobs) if (job_id !== null) details.push({ ...(await engine.status(job_id)) });
  return { ...request, details };
}

async function itemsOfJob(call: Omit<Asked, "params">, job_id: string, limit: number): Promise<FoundItem[]> {
  const stac = await stacCallOf(call as never);
  const filter = { filter: `"fanfold:job_id" = '${job_id}'`, "filter-lang": "cql2-text", limit: String(limit) };
  const { items } = await stac.catalog.search(stac.db, searchOfAddress(filter as never));
  return items.map((item) => servedItem(item, stac) as unknown as FoundItem);
}
