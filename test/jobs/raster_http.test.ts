// The raster jobs as a caller over HTTP and a person at the command line meet them.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { tenantPrefix } from "../../src/core/store.js";
import { builtinRegistry } from "../../src/jobs/index.js";
import { fanfold } from "../cli/fake_terminal.js";
import { openService, type TestService } from "../server/service.js";
import { catalogHere, isolation_node_args, scene } from "./raster_world.js";

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
    ...{ source: "/etc/passwd", collection: "../up", target_crs: "+proj=longlat +nadgrids=/etc/passwd" },
    ...{ block_size: 300, compresion: "lzw", bands: [1, 1], resampling: "magic" },
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
  const together = await submit("process_raster", {
    ...{ source: "bronze:in/scene.tif", collection: "c", tile_px: 1000, overlap_px: 600, quality: 50 },
    ...{ datetime: "2024-01-01T00:00:00Z", start_datetime: "2024-01-01T00:00:00Z" },
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
  await service.worker({ slots: 1, isolation_node_args, raster: { engine: "wasm" } });
  const { status, body } = await submit("process_raster", {
    ...{ source: "bronze:in/scene.tif", collection: "dem", datetime: "2024-01-01T00:00:00Z" },
  });
  expect(status).toBe(201);
  let job = await service.call("GET", `/api/jobs/status/${body.job_id}?wait=true`);
  while (job.status === 202) job = await service.call("GET", `/api/jobs/status/${body.job_id}?wait=true`);
  expect(job.body).toMatchObject({ status: "completed", result: { item_count: 1 } });
  const { links } = job.body.result;
  const items = await service.call("GET", links.items);
  expect(items.body.features).toMatchObject([{ id: "scene", properties: { "fanfold:job_id": body.job_id } }]);
  const found = await service.call("GET", links.search);
  expect(found).toMatchObject({ status: 200, body: { features: [{ id: "scene" }] } });
});

test.skipIf(skip)(`the command line shows every parameter with its meaning${name}`, async () => {
  const env = { DATABASE_URL: service.database_url };
  const shown = await fanfold(["blueprints", "show", "process_raster"], { env });
  expect(shown.out).toMatch(/^target_crs +"EPSG:4326"/m);
  expect(shown.out).toContain("CRS of the COGs, such as EPSG:3857; source keeps that of the source; source | text");
});
