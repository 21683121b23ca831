// Layers that the operator has opened: read without a key, by whoever comes, and nothing but layers of that tenant.
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { withoutPostgis } from "../../catalog_packages.js";
import { type CallOptions, openService, type TestService } from "../service.js";
import { grid_columns, gridRows, putLayer } from "./layers.js";

const why_not = await withoutPostgis();
if (why_not !== null) process.stderr.write(`the OGC API is left out: ${why_not}\n`);

describe.skipIf(why_not !== null)("layers that are open", () => {
  let service: TestService;
  const anybody = (path: string, more: CallOptions & { method?: string } = {}) =>
    service.call(more.method ?? "GET", path, { key: null, ...more });

  beforeAll(async () => {
    service = await openService({}, { open_layers: "open" }, { variant: "stac", connections: 12 });
    await service.key("open");
    await service.key("closed");
    const grid = { columns: grid_columns, geometry_type: "Point", rows: gridRows(20) };
    await putLayer(service.db, { ...grid, tenant: "open", name: "grid" });
    await putLayer(service.db, { ...grid, tenant: "closed", name: "secret" });
  }, 120_000);
  afterAll(() => service?.close());

  test("without a key features and tiles of that tenant are there, and nothing of another's", async () => {
    const { status, body } = await anybody("/ogc/collections");
    expect([status, body.collections.map(({ id }: { id: string }) => id)]).toEqual([200, ["grid"]]);
    for (const path of [
      "",
      "/conformance",
      "/tileMatrixSets",
      "/collections/grid",
      "/collections/grid/items?limit=3",
      "/collections/grid/items/3",
    ])
      expect([path, (await anybody(`/ogc${path}`)).status]).toEqual([path, 200]);
    expect((await anybody("/ogc/collections/grid/tiles/WebMercatorQuad/0/0/0")).status).toBe(200);
    for (const path of ["", "/items", "/items/3", "/tiles/WebMercatorQuad/0/0/0"])
      expect((await anybody(`/ogc/collections/secret${path}`)).status).toBe(404);
  });

  test("strangers who hold all of their turns keep no caller who has a key from an answer", async () => {
    const key = await service.key("open");
    const free = { tenant: "open", name: "free", columns: grid_columns, geometry_type: "Point", rows: gridRows(3) };
    await putLayer(service.db, free);
    const [table] = await service.db.sql<{ table_name: string }>`
      select table_name from geo.layers where tenant_id = 'open' and name = 'grid'`;
    let strangers: Promise<{ status: number }>[] = [];
    await service.db.transaction(async (tx) => {
      await tx.script(`lock table geo."${table!.table_name}"`);
      strangers = Array.from({ length: 6 }, () => anybody("/ogc/collections/grid/items?limit=3"));
      await vi.waitFor(async () => {
        const [held] = await service.db.sql<{ n: number }>`
          select count(*)::integer as n from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock' and application_name = 'fanfold'`;
        expect(held!.n).toBe(4);
      }, 10_000);
      const answered = await anybody("/ogc/collections/free/items", { key });
      expect(answered).toMatchObject({ status: 200, body: { numberReturned: 3 } });
    });
    for (const stranger of strangers) expect((await stranger).status).toBe(200);
    await service.db.sql`delete from geo.layers where tenant_id = 'open' and name = 'free'`;
  }, 60_000);

  test("whoever has a key is its tenant, a wrong key is refused, and all else needs one as ever", async () => {
    const key = await service.key("closed");
    const ids = async () =>
      (await anybody("/ogc/collections", { key })).body.collections.map(({ id }: { id: string }) => id);
    expect(await ids()).toEqual(["secret"]);
    expect((await anybody("/ogc/collections", { key: "ff_live_wrong" })).status).toBe(401);
    const closed = [
      "/ogc/processes",
      "/ogc/jobs",
      "/api/jobs",
      "/api/layers",
      "/stac",
      "/stac/collections",
      "/api/workers",
    ];
    for (const path of closed) expect([path, (await anybody(path)).status]).toEqual([path, 401]);
    const body = { inputs: { text: "x" } };
    expect((await anybody("/ogc/processes/echo/execution", { method: "POST", body })).status).toBe(401);
  });
});

test.skipIf(why_not !== null)("where nothing was opened, layers need a key", async () => {
  const service = await openService({}, {}, { variant: "stac" });
  await service.key("default");
  for (const path of ["/ogc", "/ogc/collections"])
    expect((await service.call("GET", path, { key: null })).status).toBe(401);
  await service.close();
});
