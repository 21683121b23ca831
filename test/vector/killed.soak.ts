// kill -9 between the copy of the rows and the publication: the old layer goes on being served and nothing of the new one is seen; another
// worker publishes it, and what the load left behind is swept.
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtinRegistry } from "../../src/jobs/index.js";
import { withoutPostgis } from "../catalog_packages.js";
import { systemGdal } from "../gdal_bin.js";
import { openService, type TestService } from "../server/service.js";
import { pieces } from "../storage/blob_conformance.js";
import { node_args } from "../worker/isolation_node.js";
import { eventually } from "../worker/shop.js";
import { startPublisher } from "./killable_publisher.js";
import { collection, feature, point } from "./vector_files.js";

const why = await withoutPostgis();
const gdal = await systemGdal();
const all_but_publish = ["raster.inventory", "vector.inspect", "vector.plan", "vector.load", "vector.conclude"];

describe.skipIf(why !== null)(`a publisher that is killed${why === null ? "" : ` (skipped: ${why})`}`, () => {
  let service: TestService;
  beforeAll(async () => {
    service = await openService(builtinRegistry(), {}, { variant: "stac" });
    await service.worker({
      types: [...all_but_publish, "#plan", "#plan:process_vector"],
      slots: 2,
      isolation_node_args: node_args,
      raster: { engine: gdal.available ? "gdal" : "wasm" },
    } as never);
  }, 120_000);
  afterAll(() => service?.close());

  const publisher = () => startPublisher({ database_url: service.database_url, storage_dir: service.storage_dir });
  const submit = async (count: number, mode: string) => {
    const text = collection(Array.from({ length: count }, (_, n) => feature({ n }, point(n, n))));
    await service.engine.zones.store("bronze", "default").write(`in/kept-${count}.geojson`, pieces(Buffer.from(text)));
    const given = { source: `bronze:in/kept-${count}.geojson`, layer: "kept", mode, register: false };
    return (await service.engine.submit("process_vector", given)).job_id;
  };
  const served = async () => (await service.call("GET", "/ogc/collections/kept/items?limit=100")).body;

  test("leaves the old layer served, and the next one publishes", { timeout: 300_000 }, async () => {
    const first = await publisher();
    const made = await service.engine.wait(await submit(5, "create"));
    expect([made.status, made.error]).toEqual(["completed", null]);
    // Held here, the publication waits in its transaction: the rows are copied, and nothing is renamed.
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const held = service.db.transaction(async (tx) => {
      await tx.sql`select from geo.layers where name = 'kept' for update`;
      await released;
    });
    const job_id = await submit(9, "replace");
    const waits = () =>
      service.db
        .sql`select from pg_stat_activity where wait_event_type = 'Lock' and query like '%publish_layer%' and datname = current_database()`;
    await eventually(async () => (await waits()).length > 0, 100);
    first.kill("SIGKILL");
    await once(first, "exit");
    release();
    await held;
    await eventually(async () => (await waits()).length === 0, 100);
    expect(await served()).toMatchObject({ numberMatched: 5, numberReturned: 5 });
    expect((await service.call("GET", "/api/layers/kept/versions")).body.versions).toHaveLength(1);
    const second = await publisher();
    const { status, error } = await service.engine.wait(job_id);
    expect([status, error]).toEqual(["completed", null]);
    expect(await served()).toMatchObject({ numberMatched: 9, numberReturned: 9 });
    await service.db.sql`update app.jobs set finished_at = now() - interval '2 minutes' where job_id = ${job_id}`;
    await service.db.sql`select geo.sweep_tables()`;
    expect(await service.db.sql`select table_name from geo.tables where kind <> 'layer'`).toEqual([]);
    second.kill("SIGKILL");
    await once(second, "exit");
  });
});
