// Two tenants with rows of every kind, and how to name one of them: the table that the conformance test asks for ids. Whoever adds
// a path parameter of a new name adds a line here.
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { defineRecipe } from "../../src/core/declare/recipe.js";
import { Permanent } from "../../src/core/errors/errors.js";
import { grid_columns, gridRows, putLayer } from "./ogc/layers.js";
import type { TestService } from "./service.js";
import { collectionOf, itemOf } from "./stac/stac_service.js";

export const world_parts = {
  jobs: [
    defineJob({ type: "greet", stages: [{ name: "say", task: "t.say" }] }),
    defineJob({
      type: "mixed",
      stages: [
        { name: "first", task: "t.say" },
        { name: "second", task: "t.fail" },
      ],
    }),
    defineJob({ type: "gated", stages: [{ name: "ask", task: "t.say", gate: "Really?" }] }),
    defineJob({ type: "never", stages: [{ name: "wait", task: "t.never" }] }),
  ],
  handlers: [
    defineHandler("t.say", {}, (parameters) => ({ said: parameters })),
    defineHandler("t.fail", {}, () => {
      throw new Permanent("it is broken", { code: "broken" });
    }),
    defineHandler("t.never", {}, () => null),
  ],
  recipes: [
    defineRecipe({ data_type: "stuck", jobs: [{ name: "wait", job: "never" }] }),
    defineRecipe({ data_type: "broken", jobs: [{ name: "break", job: "mixed" }] }),
    defineRecipe({ data_type: "asked", jobs: [{ name: "ask", job: "greet", gate: "Really?" }] }),
  ],
};
export const world_types = ["t.say", "t.fail"];

let count = 0;

/** The rows of one tenant; all texts of its own hold its marker. */
export class World {
  constructor(
    readonly service: TestService,
    readonly tenant: string,
    readonly marker: string,
  ) {}

  /** One that is only looked at. */
  #ended: Promise<string> | null = null;

  get engine() {
    return this.service.engine.forTenant(this.tenant);
  }

  async job(type: string, ends = true): Promise<string> {
    const { job_id } = await this.engine.submit(
      type,
      { [this.marker]: ++count, text: this.marker },
      { labels: { owner: this.marker }, correlation_id: this.marker },
    );
    if (ends) await this.engine.wait(job_id);
    return job_id;
  }

  ended(): Promise<string> {
    this.#ended ??= this.job("mixed");
    return this.#ended;
  }

  async task(type = "t.never"): Promise<string> {
    const { task_id } = await this.engine.enqueue(type, { [this.marker]: ++count });
    return task_id;
  }

  async taskOf(job_id: string): Promise<string> {
    return (await this.engine.tasks({ job_id })).tasks.at(-1)!.task_id;
  }

  /** A field of what a call with the tenant's own key answers. */
  async made(method: string, path: string, body: unknown, field: string): Promise<string> {
    const answer = await this.service.call(method, path, { body, key: await this.service.key(this.tenant) });
    const value = answer.body?.[field] as unknown;
    if (typeof value === "string") return value;
    throw new Error(`${method} ${path} answered ${answer.status} without ${field}: ${JSON.stringify(answer.body)}`);
  }

  /** There again when a call has removed it; where there is no catalogue, only a name. */
  async collection(): Promise<string> {
    const body = collectionOf(`${this.marker}-c`);
    await this.service.call("POST", "/stac/collections", { body, key: await this.service.key(this.tenant) });
    return body.id;
  }

  async item(): Promise<string> {
    const body = itemOf(`${this.marker}-${++count}`, await this.collection());
    const key = await this.service.key(this.tenant);
    await this.service.call("POST", `/stac/collections/${body.collection}/items`, { body, key });
    return body.id;
  }

  /** One for all calls: they only read it. Where there is no PostGIS, only a name. */
  layer(): Promise<string> {
    const name = `${this.marker}-layer`;
    this.layer_made ??= this.service.db.sql`select from pg_namespace where nspname = 'geo'`.then(async (found) => {
      if (found.length === 0) return name;
      const { tenant } = this;
      await putLayer(this.service.db, {
        tenant,
        name,
        columns: grid_columns,
        rows: gridRows(20),
        geometry_type: "Point",
      });
      return name;
    });
    return this.layer_made;
  }
  private layer_made: Promise<string> | undefined;

  async blueprint(): Promise<string> {
    const type = `${this.marker}_${++count}`;
    await this.engine.blueprints.save(type, { description: this.marker, stages: [{ name: "say", task: "t.say" }] });
    return type;
  }
}

/** How to get a valid value for a path parameter; asked for anew for each call, since a call may use it up. */
export const ids: Record<string, (world: World) => Promise<string>> = {
  zone: async () => "silver",
  key: async ({ tenant }) => `${tenant}/scene/cog.tif`,
  job_id: (world) => world.ended(),
  task_id: (world) => world.task(),
  job_type: async () => "greet",
  task_type: async () => "t.never",
  stage: async () => "1",
  key_id: async ({ engine }) => (await engine.keys.create({ name: "spare", scopes: ["read"] })).key_id,
  // A third one: whoever changes its limits must not slow the callers.
  tenant_id: async ({ service }) => {
    await service.db.sql`select app.create_tenant('initech')`;
    return "initech";
  },
  endpoint_id: (world) => world.made("POST", "/api/webhooks", { url: `https://example.com/${++count}` }, "endpoint_id"),
  delivery_id: async (world) =>
    world.made("POST", `/api/webhooks/${await ids.endpoint_id!(world)}/ping`, undefined, "delivery_id"),
  group_id: (world) => world.made("PUT", `/api/groups/g${++count}`, {}, "group_id"),
  /** Of a schedule. */
  name: async (world) => {
    const name = `s${++count}`;
    await world.made("PUT", `/api/schedules/${name}`, { cron: "0 0 1 1 *", job_type: "never" }, "name");
    return name;
  },
  view_name: async (world) => {
    const name = `view ${++count}`;
    await world.made("PUT", `/api/views/${encodeURIComponent(name)}`, { query: "is:paused" }, "name");
    return name;
  },
  collection_id: (world) => world.collection(),
  item_id: (world) => world.item(),
  layer_id: (world) => world.layer(),
  column_name: async () => "n",
  feature_id: async () => "7",
  set_id: async () => "WebMercatorQuad",
  zoom: async () => "0",
  file: async () => "0.png",
  row: async () => "0",
  column: async () => "0",
  process_id: async () => "greet",
  process_job_id: (world) => world.ended(),
  output_id: async () => "result",
  connector: async () => "http.request",
  request_id: (world) => requestOf(world, "stuck"),
  dataset_id: async (world) => {
    await requestOf(world, "stuck");
    return `d${count}`;
  },
  resource_id: async () => "r",
  version_id: async () => "1",
  data_type: async () => "stuck",
  upload_id: (world) => world.made("POST", "/api/files", { key: `u/${++count}`, bytes: 1 }, "upload_id"),
  part: async () => "1",
  worker_id: async ({ engine }) =>
    (await engine.work.register({ types: ["t.nothing"], slots: 1, lease_s: 30 })).worker_id,
};

/** Parameters that name things all tenants share, or whose name says nothing of whose it is. */
export const shared_ids = new Set([
  "feature_id",
  "set_id",
  "zoom",
  "file",
  "row",
  "column",
  "column_name",
  "zone",
  "job_type",
  "task_type",
  "stage",
  "connector",
  "process_id",
  "output_id",
  "part",
  "resource_id",
  "version_id",
  "data_type",
]);

function requestOf(world: World, data_type: string): Promise<string> {
  const body = { dataset_id: `d${++count}`, resource_id: "r", version_id: "1", data_type };
  return world.made("POST", "/api/platform/submit", body, "request_id");
}

async function endedRequestOf(world: World, data_type: string): Promise<string> {
  const request_id = await requestOf(world, data_type);
  while ((await world.engine.requests.get(request_id)).finished_at === null)
    await new Promise((resolve) => setTimeout(resolve, 20));
  return request_id;
}

/** What a call takes away is not what the others look at: its own, by operationId and parameter. */
export const consumed_ids: Record<string, Record<string, (world: World) => Promise<string>>> = {
  delete_jobs_job_id: { job_id: (world) => world.job("greet") },
};

/** Calls that make what they name, or change it: the same name is another thing in another tenant. */
export const makers = new Set([
  "put_groups_group_id",
  "put_schedules_name",
  "put_connectors_connector_name",
  "put_views_view_name",
  "put_layers_layer_id_style",
]);

interface Prepared {
  path?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
}

/** Calls that succeed only when something is in the right state. By operationId; others are made of their schemas alone. */
export const prepared: Record<string, (world: World) => Promise<Prepared>> = {
  post_platform_submit: async () => ({
    body: { dataset_id: `d${++count}`, resource_id: "r", version_id: "1", data_type: "stuck" },
  }),
  post_platform_requests_request_id_resubmit: async (world) => ({
    path: { request_id: await endedRequestOf(world, "broken") },
    body: {},
  }),
  post_platform_requests_request_id_decide: async (world) => ({
    path: { request_id: await requestOf(world, "asked") },
    body: { approved: true },
  }),
  put_platform_recipes_data_type: async () => ({
    path: { data_type: `r${++count}` },
    body: { jobs: [{ name: "a", job: "greet" }] },
  }),
  delete_platform_recipes_data_type: async (world) => {
    const data_type = `r${++count}`;
    await world.engine.recipes.save(data_type, { jobs: [{ name: "a", job: "greet" }] });
    return { path: { data_type }, body: {} };
  },
  post_ogc_processes_process_id_execution: async () => ({
    path: { process_id: "greet" },
    body: { inputs: { n: ++count } },
  }),
  get_ogc_jobs_process_job_id_results: async (world) => ({ path: { process_job_id: await world.job("greet") } }),
  get_ogc_jobs_process_job_id_results_output_id: async (world) => ({
    path: { process_job_id: await world.job("greet"), output_id: "result" },
  }),
  delete_ogc_jobs_process_job_id: async (world) => ({ path: { process_job_id: await world.job("never", false) } }),
  post_jobs_job_id_cancel: async (world) => ({ path: { job_id: await world.job("never", false) } }),
  post_jobs_job_id_pause: async (world) => ({ path: { job_id: await world.job("never", false) } }),
  post_jobs_job_id_continue: async (world) => ({ path: { job_id: await world.job("never", false) } }),
  post_jobs_job_id_change: async (world) => ({
    path: { job_id: await world.job("never", false) },
    body: { priority: 3 },
  }),
  post_jobs_job_id_resume: async (world) => ({ path: { job_id: await world.job("mixed") } }),
  post_jobs_retry_stage_job_id_stage: async (world) => ({
    path: { job_id: await world.job("mixed"), stage: "second" },
  }),
  post_jobs_job_id_retry_group: async (world) => {
    const job_id = await world.job("mixed");
    const [group] = await world.engine.operate.errorGroups(job_id);
    return { path: { job_id }, body: { signature: group!.signature } };
  },
  post_jobs_job_id_stages_stage_tasks_retry: async (world) => ({
    path: { job_id: await world.job("mixed"), stage: "second" },
    body: { ranges: [[0, 1]] },
  }),
  post_jobs_job_id_stages_stage_tasks_skip: async (world) => ({
    path: { job_id: await world.job("never", false), stage: "wait" },
    body: { ranges: [[0, 1]], reason: "unwanted" },
  }),
  post_jobs_job_id_approve: async (world) => ({ path: { job_id: await world.job("gated", false) }, body: {} }),
  post_jobs_job_id_reject: async (world) => ({
    path: { job_id: await world.job("gated", false) },
    body: { reason: "no" },
  }),
  get_jobs_status_job_id: async (world) => ({ path: { job_id: await world.job("mixed") }, query: { wait: "true" } }),
  get_jobs_job_id_errors: async (world) => ({ path: { job_id: await world.job("mixed") } }),
  get_jobs_job_id_footprints: async (world) => ({ path: { job_id: await world.ended() }, query: { stage: "first" } }),
  get_jobs_job_id_footprints_tasks: async (world) => ({
    path: { job_id: await world.ended() },
    query: { stage: "first", bbox: "-180,-90,180,90" },
  }),
  get_jobs_job_id_why: async (world) => ({ path: { job_id: await world.job("never", false) } }),
  post_jobs_submit_job_type_batch: async () => ({ path: { job_type: "never" }, body: { items: [{}, {}] } }),
  // Not without a filter: others of this file's jobs are under way.
  post_tasks_redrive: async () => ({ body: { filter: { task_type: "never.there" } } }),
  post_jobs_bulk: async (world) => ({ body: { action: "pause", job_ids: [await world.job("never", false)] } }),
  put_views_view_name: async () => ({ path: { view_name: `v${++count}` }, body: { query: "status:failed" } }),
  post_tasks_enqueue_task_type: async () => ({ path: { task_type: "t.never" }, body: { parameters: {}, delay_s: 5 } }),
  get_tasks_task_id_value: async () => ({ query: { of: "parameters" } }),
  post_tasks_task_id_reschedule: async () => ({ body: { run_at: "2030-01-01T00:00:00Z" } }),
  post_tasks_task_id_retry: async (world) => ({
    path: { task_id: await world.taskOf(await world.job("mixed")) },
    body: {},
  }),
  post_tasks_task_id_redo: async (world) => ({
    path: { task_id: await world.taskOf(await world.job("greet")) },
    body: {},
  }),
  put_blueprints_job_type: async () => ({
    path: { job_type: `saved_${++count}` },
    body: { stages: [{ name: "say", task: "t.say" }] },
  }),
  post_stac_collections: async () => ({ body: collectionOf(`c-${++count}`) }),
  put_stac_collections_collection_id: async (world) => ({ body: collectionOf(await world.collection()) }),
  post_stac_collections_collection_id_items: async (world) => ({
    body: itemOf(`i-${++count}`, await world.collection()),
  }),
  put_stac_collections_collection_id_items_item_id: async (world) => {
    const item_id = await world.item();
    return { path: { item_id, collection_id: await world.collection() }, body: itemOf(item_id, `${world.marker}-c`) };
  },
  post_files: async () => ({ body: { key: `f/${++count}`, bytes: 1 } }),
  post_session: async ({ service, tenant }) => ({ body: { key: await service.key(tenant) } }),
  delete_blueprints_job_type: async (world) => ({ path: { job_type: await world.blueprint() } }),
};

/** What the ids above cannot reach: a result that is a file, a worker that holds a task with a predecessor, a job of which no receiver of this
 * world's webhooks is still to be told (selection_verbs.test.ts removes one). */
export const hard_to_reach = new Set([
  "get_tasks_task_id_asset",
  "get_workers_worker_id_predecessor",
  "delete_jobs_job_id",
]);

/** Tags whose every operation must have been seen to succeed; the others are told about, not insisted on. */
export const must_succeed = new Set(["jobs", "operations", "tasks", "blueprints", "documents", "sessions"]);
