// The raster jobs as a caller over HTTP and a person at the command line meet them.
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { checkValue } from "../../dashboard/src/form/checks.js";
import { readSchema, type Shape } from "../../dashboard/src/form/schema.js";
import { readValue } from "../../dashboard/src/form/values.js";
import { tenantPrefix } from "../../src/core/places/store.js";
import { builtinRegistry } from "../../src/jobs/index.js";
import { fanfold } from "../cli/fake_terminal.js";
import { openService, type TestService } from "../server/service.js";
import { node_args } from "../worker/isolation_node.js";
import { catalogHere, scene } from "./raster_world.js";

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const { skip, name } = await catalogHere("server");

let service: TestService;
beforeAll(async () => {
  if (skip) return;
  service = await openService(builtinRegistry(), {}, { variant: "stac" });
  const path = join(service.storage_dir, "zones", "bronze", tenantPrefix("default"), "in/scene.tif");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, scene());
});
afterAll(() => service?.close());

const submit = (type: string, body: unknown) => service.call("POST", `/api/jobs/submit/${type}`, { body });

test.skipIf(skip)(`parameters that are wrong are refused at submit, all at once, with what to do${name}`, async () => {
  const fields = await submit("process_raster", {
    source: "/etc/passwd",
    collection: "../up",
    target_crs: "+proj=longlat +nadgrids=/etc/passwd",
    block_size: 300,
    compresion: "lzw",
    bands: [1, 1],
    resampling: "magic",
  });
  expect(fields.status).toBe(400);
  const paths = fields.body.problems.map(({ path }: { path: string }) => path).sort();
  expect(paths).toEqual([
    "$.bands",
    "$.block_size",
    "$.collection",
    "$.compresion",
    "$.resampling",
    "$.source",
    "$.target_crs",
  ]);
  for (const [source, why] of [
    ["bronze:../x.tif", '".." begins with a dot'],
    ["bronze:a//b.tif", "empty part"],
    ["bronze:/etc/passwd", "empty part"],
    ["bronze:a\\b.tif", "backslash"],
  ]) {
    const { status, body } = await submit("process_raster", { source, collection: "c" });
    expect([status, body.problems.map(({ path }: { path: string }) => path)]).toEqual([400, ["$.source"]]);
    expect(body.problems[0].problem).toContain(why);
    const nested = await submit("process_raster_collection", { sources: { list: [source] }, collection: "c" });
    expect([nested.status, JSON.stringify(nested.body.problems)]).toEqual([400, expect.stringContaining("$.sources")]);
  }
  const up = await submit("stack_bands", { prefix: "bronze:../", pattern: "{a}_{b}.tif", band: "b", collection: "c" });
  expect([up.status, up.body.problems[0].path]).toEqual([400, "$.prefix"]);
  const together = await submit("process_raster", {
    source: "bronze:in/scene.tif",
    collection: "c",
    tile_px: 1000,
    overlap_px: 600,
    quality: 50,
    datetime: "2024-01-01T00:00:00Z",
    start_datetime: "2024-01-01T00:00:00Z",
  });
  expect(together.status).toBe(400);
  const told = JSON.stringify(together.body.problems);
  for (const word of ["give 1024", "half of tile_px", "jpeg or webp", "two ends", "beside a period"])
    expect(told).toContain(word);
  const stack = await submit("stack_bands", { prefix: "bronze:x/", pattern: "{a}{b}.tif", band: "c", collection: "c" });
  expect(stack.status).toBe(400);
  const none = await submit("unpublish_raster", { item_ids: ["a"] });
  expect(none.body.problems.map(({ path }: { path: string }) => path)).toEqual(["$.collection", "$.item_ids"]);
});

test.skipIf(skip)(`a job type tells what it takes${name}`, async () => {
  const { body } = await service.call("GET", "/api/blueprints/process_raster");
  expect(body.parameters.properties.target_crs).toMatchObject({
    default: "EPSG:4326",
    description: expect.any(String),
  });
});

test.skipIf(skip)(`what is submitted over HTTP is found in the STAC API, linked from the job${name}`, async () => {
  await service.worker({ slots: 1, isolation_node_args: node_args, raster: { engine: "wasm" } });
  const { status, body } = await submit("process_raster", {
    source: "bronze:in/scene.tif",
    collection: "dem",
    datetime: "2024-01-01T00:00:00Z",
  });
  expect(status).toBe(201);
  let job = await service.call("GET", `/api/jobs/status/${body.job_id}?wait=true`);
  while (job.status === 202) job = await service.call("GET", `/api/jobs/status/${body.job_id}?wait=true`);
  // What the checks found and let pass is told with the result.
  expect(job.body).toMatchObject({
    status: "completed",
    result: { item_count: 1, warning_counts: expect.any(Object) },
  });
  const { links } = job.body.result;
  const items = await service.call("GET", links.items);
  expect(items.body.features).toMatchObject([{ id: "scene", properties: { "fanfold:job_id": body.job_id } }]);
  const found = await service.call("GET", links.search);
  expect(found).toMatchObject({ status: 200, body: { features: [{ id: "scene" }] } });
});

test.skipIf(skip)(
  `a request for a raster is checked, processed, approved and published, and its links can be followed${name}`,
  async () => {
    const asked = await service.call("POST", "/api/platform/submit", {
      body: {
        dataset_id: "relief",
        resource_id: "alps",
        version_id: "1",
        files: ["bronze:in/scene.tif"],
        parameters: { approval: true, publication: { datetime: "2024-01-01T00:00:00Z" } },
      },
    });
    expect(asked).toMatchObject({ status: 202, body: { data_type: "raster", created: true } });
    const look = () => service.call("GET", "/api/platform/status/relief/alps/1");
    let request = await look();
    for (; request.status === 202 && request.body.waits_for_approval === null; request = await look())
      await new Promise((resolve) => setTimeout(resolve, 100));
    // The COGs are there, and nothing of them is in the catalogue yet.
    expect(request.body.jobs.map(({ status }: { status: string }) => status)).toEqual([
      "completed",
      "completed",
      "waiting_approval",
    ]);
    expect((await service.call("GET", "/stac/collections/relief")).status).toBe(404);
    await service.call("POST", `/api/platform/requests/${asked.body.request_id}/decide`, { body: { approved: true } });
    for (request = await look(); request.status === 202; request = await look())
      await new Promise((resolve) => setTimeout(resolve, 100));
    expect(request.body).toMatchObject({ status: "completed", result_data: { counts: { completed: 3 }, errors: [] } });
    const services: { name: string; href: string }[] = request.body.result_data.services;
    expect([...new Set(services.map((one) => one.name))].sort()).toEqual(
      expect.arrayContaining(["asset", "quicklook", "stac_collection", "stac_item", "stac_items", "stac_search"]),
    );
    const key = await service.key();
    for (const { href } of services) {
      const answer = await fetch(href, { headers: { authorization: `Bearer ${key}` } });
      expect([href, answer.status]).toEqual([href, 200]);
      await answer.arrayBuffer();
    }
    // By the id of the item, and of the release.
    const item = services.find((one) => one.name === "stac_item")!.href;
    const { body: lookup } = await service.call(
      "GET",
      "/api/platform/catalog/lookup?dataset_id=relief&resource_id=alps",
    );
    for (const id of [item.split("/").at(-1), lookup.release.release_id])
      expect((await service.call("GET", `/api/platform/status/${id}`)).body.request_id).toBe(asked.body.request_id);

    // What would go is listed, every file of it, and goes when the release is revoked.
    const silver = async () =>
      service.db.sql<{ ref: string }>`select a.zone || ':' || a.key as ref from app.assets a
        join app.stages s on s.stage_id = a.stage_id join app.jobs j on j.job_id = s.job_id
       where j.request_id = ${asked.body.request_id} order by 1`;
    const there = (await silver()).map(({ ref }) => ref);
    expect(there.length).toBeGreaterThan(2);
    const listed = await service.call("POST", "/api/platform/unpublish", { body: { id: "relief/alps/1" } });
    expect(listed.body).toMatchObject({ dry_run: true, changed: false, file_count: there.length, tables: [] });
    expect(listed.body.files.map(({ ref }: { ref: string }) => ref).sort()).toEqual(there.sort());
    expect(listed.body.items).toMatchObject([{ collection: "relief" }]);
    const revoked = await service.call("POST", "/api/platform/revoke", {
      body: { id: "relief/alps/1", reason: "wrong datum" },
    });
    expect(revoked.body).toMatchObject({ changed: true, release: { approval: "revoked" } });
    const [removal] = revoked.body.jobs;
    await expect
      .poll(async () => (await service.call("GET", `/api/jobs/${removal}`)).body.status, { timeout: 60_000 })
      .toMatch(/completed|failed/);
    expect((await service.call("GET", `/api/jobs/${removal}`)).body.error).toBe(null);
    const own = tenantPrefix("default");
    expect((await service.call("GET", new URL(item).pathname)).status).toBe(404);
    await expect.poll(silver, { timeout: 20_000 }).toEqual([]);
    for (const ref of there)
      expect(existsSync(join(service.storage_dir, "zones", ref.replace(":", `/${own}`)))).toBe(false);
  },
);

test.skipIf(skip)(`examples/platform_request brings a raster through a request with curl alone${name}`, async () => {
  const script = new URL("../../examples/platform_request/request.sh", import.meta.url);
  const file = join(service.storage_dir, "example.tif");
  writeFileSync(file, scene());
  const { stdout } = await promisify(execFile)("bash", [fileURLToPath(script)], {
    env: { ...process.env, URL: service.url, KEY: await service.key(), FILE: file },
  });
  expect(stdout.trimEnd().split("\n")).toEqual([
    "uploaded: bronze:requests/example.tif",
    "would be: raster",
    "waits for approval of: publish",
    "the request is completed",
    expect.stringMatching(/^followed \d+ links$/),
    expect.stringMatching(/^would go: \d+ files$/),
    "revoked, and taken down",
  ]);
});

test.skipIf(skip)(
  `a job that would publish before the approval fails, and nothing of it is in the catalogue${name}`,
  async () => {
    const saved = await service.call("PUT", "/api/platform/recipes/careless", {
      body: {
        approval: true,
        jobs: [
          {
            name: "process",
            job: "process_raster",
            parameters: {
              source: "{request.files.0}",
              collection: "{request.names.collection}",
              datetime: "2024-01-01T00:00:00Z",
            },
          },
          { name: "report", job: "hello_world", parameters: { n: 1 } },
        ],
      },
    });
    expect(saved.status).toBe(201);
    const body = { dataset_id: "careless", resource_id: "r", version_id: "1", data_type: "careless" };
    await service.call("POST", "/api/platform/submit", { body: { ...body, files: ["bronze:in/scene.tif"] } });
    const look = async () => (await service.call("GET", "/api/platform/status/careless/r")).body;
    await expect.poll(async () => (await look()).status, { timeout: 60_000, interval: 100 }).toBe("failed");
    expect((await look()).error.message).toContain("nothing of it comes into the catalogue before it is approved");
    expect((await service.call("GET", "/stac/collections/careless")).status).toBe(404);
    expect(await service.db.sql`select from stac.items where collection = 'careless'`).toEqual([]);
  },
);

/** Every parameter of every raster job, with a value that is not its default. */
const all_parameters = {
  process_raster: {
    variable: "t2m",
    step: 2,
    source: "bronze:in/scene.tif",
    item_id: "one",
    overwrite: "replace",
    register: false,
    ...aboutCollection(),
    ...aboutRaster(),
    max_single_px: 512,
    tile_px: 1024,
    overlap_px: 16,
  },
  process_raster_collection: {
    sources: { collection: "a", asset: "b", bbox: [1, 2, 3, 4], datetime: "2024-01-01T00:00:00Z/.." },
    homogeneity: "warn",
    max_broken_percent: 5,
    overwrite: "replace",
    register: false,
    ...aboutCollection(),
    ...aboutRaster(),
    max_single_px: 512,
    tile_px: 1024,
    overlap_px: 16,
  },
  stack_bands: {
    prefix: "bronze:in/",
    pattern: "{kind}_{rp}.tif",
    band: "rp",
    band_order: ["5", "20"],
    incomplete: "skip",
    overwrite: "replace",
    ...aboutCollection(),
    ...aboutRaster(),
  },
  register_rasters: {
    sources: { prefix: "gold:legacy/", pattern: "*.tif" },
    check: "warn",
    overwrite: "replace",
    raster_type: "dem",
    start_datetime: "2024-01-01T00:00:00.000Z",
    end_datetime: "2024-02-01T00:00:00.000Z",
    ...aboutCollection(),
    datetime: undefined,
  },
  unpublish_raster: {
    collection: "c",
    item_ids: ["a"],
    job_id: "ab".repeat(32),
    job_ids: ["cd".repeat(32)],
    dry_run: false,
    delete_files: true,
    delete_collection: true,
    reason: "wrong scene",
  },
} satisfies Record<string, Record<string, unknown>>;

function aboutCollection() {
  return { collection: "c", title: "T", description: "D", license: "CC-BY-4.0", keywords: ["k"] };
}

function aboutRaster() {
  return {
    start_datetime: "2024-01-01T00:00:00.000Z",
    end_datetime: "2024-02-01T00:00:00.000Z",
    source_crs: "EPSG:32636",
    raster_type: "dem",
    nodata: "nan",
    bands: [1],
    band_names: ["h"],
    strict: true,
    target_crs: "EPSG:3857",
    resolution: [10, 20],
    resampling: "cubic",
    overview_resampling: "mode",
    purpose: "archive",
    compression: "webp",
    quality: 70,
    block_size: 256,
  };
}

/** Those that stand in place of others. */
const either = new Set(["datetime"]);

test.skipIf(skip).each(Object.entries(all_parameters))(
  `every parameter of %s is reached over HTTP, by the command line and by the form${name}`,
  async (type, given) => {
    const { body: blueprint } = await service.call("GET", `/api/blueprints/${type}`);
    const names = Object.keys(blueprint.parameters.properties).sort();
    const wanted = Object.fromEntries(
      Object.entries(given).filter(([field, value]) => value !== undefined && names.includes(field)),
    );
    expect(Object.keys(wanted).sort()).toEqual(names.filter((field) => !either.has(field)));
    const { status, body } = await submit(type, { parameters: wanted, dry_run: true });
    expect({ status, told: body.problems }).toEqual({ status: 200, told: undefined });
    expect(body.parameters).toMatchObject(wanted);
    const env = { DATABASE_URL: service.database_url };
    const pairs = Object.entries(wanted).map(([field, value]) => `${field}=${JSON.stringify(value)}`);
    const typed = await fanfold(["submit", type, ...pairs, "--dry-run", "--json"], { env });
    expect({ err: typed.err, parameters: typed.json().parameters }).toEqual({ err: "", parameters: body.parameters });
    const form = readSchema(blueprint.parameters, blueprint.parameters).shape as Extract<Shape, { kind: "object" }>;
    expect(form.properties.map((one) => one.name).sort()).toEqual(names);
    const raw = form.properties.filter(({ schema }) => readSchema(schema, blueprint.parameters).shape.kind === "json");
    expect(raw.map((one) => one.name)).toEqual([]);
    expect(checkValue(blueprint.parameters, readValue(JSON.stringify(wanted)), blueprint.parameters)).toEqual([]);
  },
);

test.skipIf(skip)(`the command line shows every parameter with its meaning${name}`, async () => {
  const env = { DATABASE_URL: service.database_url };
  const shown = await fanfold(["blueprints", "show", "process_raster"], { env });
  expect(shown.out).toMatch(/^target_crs +"EPSG:4326"/m);
  expect(shown.out).toContain("CRS of the COGs, such as EPSG:3857; source keeps that of the source; source | text");
});
