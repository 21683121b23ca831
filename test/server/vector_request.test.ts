// A platform request for vector data: looked at, approved, loaded, and its services can be followed.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtinRegistry } from "../../src/jobs/index.js";
import { withoutPostgis } from "../catalog_packages.js";
import { systemGdal } from "../gdal_bin.js";
import { pieces } from "../storage/blob_conformance.js";
import { collection, feature, point } from "../vector/vector_files.js";
import { node_args } from "../worker/isolation_node.js";
import { openService, type TestService } from "./service.js";

const why = await withoutPostgis();
const gdal = await systemGdal();

describe.skipIf(why !== null)(`requests for vector data${why === null ? "" : ` (skipped: ${why})`}`, () => {
  let service: TestService;
  beforeAll(async () => {
    service = await openService(builtinRegistry(), {}, { variant: "stac" });
    await service.key();
    await service.worker({
      slots: 4,
      isolation_node_args: node_args,
      raster: { engine: gdal.available ? "gdal" : "wasm" },
    } as never);
  }, 120_000);
  afterAll(() => service?.close());

  test("the files are looked at, a person approves, and then the layer is served", { timeout: 120_000 }, async () => {
    const text = collection(Array.from({ length: 5 }, (_, n) => feature({ n }, point(n, n))));
    await service.engine.zones.store("bronze", "default").write("in/wells.geojson", pieces(Buffer.from(text)));
    const asked = await service.call("POST", "/api/platform/submit", {
      body: {
        dataset_id: "water",
        resource_id: "wells",
        version_id: "1",
        files: ["bronze:in/wells.geojson"],
        parameters: { layer: "wells", approval: true, options: { title: "Wells" } },
      },
    });
    expect(asked).toMatchObject({ status: 202, body: { data_type: "vector", created: true } });
    const look = async () => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      return service.call("GET", "/api/platform/status/water/wells/1");
    };
    let request = await look();
    while (request.status === 202 && request.body.waits_for_approval === null) request = await look();
    expect(request.body.jobs.map(({ status }: { status: string }) => status)).toEqual([
      "completed",
      "waiting_approval",
    ]);
    expect((await service.call("GET", "/ogc/collections/wells")).status).toBe(404);
    await service.call("POST", `/api/platform/requests/${asked.body.request_id}/decide`, { body: { approved: true } });
    do request = await look();
    while (request.status === 202);
    expect(request.body).toMatchObject({ status: "completed", result_data: { errors: [] } });
    const services: { name: string; href: string }[] = request.body.result_data.services;
    expect(services.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["ogc_features", "ogc_tiles", "stac_item"]),
    );
    const headers = { authorization: `Bearer ${await service.key()}` };
    for (const { href } of services) {
      const answer = await fetch(href, { headers });
      expect([href, answer.status]).toEqual([href, 200]);
      await answer.arrayBuffer();
    }
    const { body } = await service.call("GET", "/api/layers/wells");
    expect(body).toMatchObject({
      title: "Wells",
      feature_count: 5,
      release: { resource_id: "wells" },
      collection: "water",
    });
  });
});
