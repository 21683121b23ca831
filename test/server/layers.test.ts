// What the API tells of vector layers: those of the caller's tenant, what each was, the rows that were not taken, and how it is drawn.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient } from "../../src/client/index.js";
import { withoutPostgis } from "../catalog_packages.js";
import { grid_columns, gridRows, putLayer } from "./ogc/layers.js";
import { openService, type TestService } from "./service.js";

const why = await withoutPostgis();
const job = (letter: string) => letter.repeat(64);

describe.skipIf(why !== null)(`layers over HTTP${why === null ? "" : ` (skipped: ${why})`}`, () => {
  let service: TestService;
  const get = (path: string, tenant?: string) =>
    service.key(tenant).then((key) => service.call("GET", `/api/layers${path}`, { key }));
  const put = (name: string, style: unknown, given: { key?: string } = {}) =>
    service.call("PUT", `/api/layers/${name}/style`, { body: { style }, ...given });

  beforeAll(async () => {
    service = await openService({}, {}, { variant: "stac" });
    await service.key();
    const grid = { columns: grid_columns, geometry_type: "Point" };
    await putLayer(service.db, { ...grid, name: "grid", title: "A grid", rows: gridRows(200) });
    const { tags: _, ...fewer } = grid_columns;
    const columns = {
      ...fewer,
      n: ["number", "double precision"] as [string, string],
      extra: ["string", "text"] as [string, string],
    };
    await putLayer(service.db, {
      name: "grid",
      columns,
      geometry_type: "Point",
      rows: `select r.fid, r.name, r.n, r.weight, r.good, r.day, r.seen, 'x', r.geom from (${gridRows(100)}) r (fid, name, n, weight, good, day, seen, tags, geom)`,
    });
    await putLayer(service.db, { ...grid, name: "other", rows: gridRows(3) });
    await service.key("globex");
    await putLayer(service.db, { ...grid, tenant: "globex", name: "secret", rows: gridRows(3) });
    await service.db.sql`
      insert into geo.rejects (tenant_id, job_id, layer, chunk, row_number, source, code, reason, properties)
      select t.tenant, t.job, t.layer, 0, n, 'bronze:a.geojson', case when n % 2 = 0 then 'null_geometry' else 'bad_value' end, 'has no geometry', '{"a": 1}'
        from (values ('default', ${job("a")}, 'grid', 5), ('default', ${job("b")}, 'grid', 2), ('default', ${job("c")}, 'parts', 1),
            ('globex', ${job("a")}, 'grid', 4)) t (tenant, job, layer, many), generate_series(1, t.many) n`;
    // A job that split "parts" by a column kept its rejects under that name.
    await putLayer(service.db, { ...grid, name: "parts_x", rows: gridRows(1) });
    await service.db.sql`update geo.layer_versions set job_id = ${job("c")} where name = 'parts_x'`;
  }, 120_000);
  afterAll(() => service?.close());

  test("a tenant's layers are listed by name, page by page, and found by a part of their title", async () => {
    const { body } = await get("");
    expect(body.layers.map(({ name }: { name: string }) => name)).toEqual(["grid", "other", "parts_x"]);
    expect(body.layers[0]).toMatchObject({
      name: "grid",
      title: "A grid",
      version: 2,
      feature_count: 100,
      column_count: 7,
    });
    expect(body.layers[0]).not.toHaveProperty("columns");
    const first = (await get("?limit=2")).body;
    expect([first.layers.length, first.next]).toEqual([2, "other"]);
    expect((await get(`?limit=2&cursor=${first.next}`)).body).toMatchObject({
      layers: [{ name: "parts_x" }],
      next: null,
    });
    expect((await get("?search=A%20GRI")).body.layers).toHaveLength(1);
    expect((await get("?search=%25")).body.layers).toEqual([]);
  });

  test("one layer has its columns, and its versions tell how they changed", async () => {
    const { body } = await get("/grid");
    expect(body.columns.map(({ name }: { name: string }) => name)).toContain("extra");
    expect(body.style).toBeNull();
    const { versions, next } = (await get("/grid/versions")).body;
    expect(next).toBeNull();
    expect(versions[0]).toMatchObject({
      version: 2,
      columns_added: ["extra"],
      columns_removed: ["tags"],
      columns_changed: ["n"],
    });
    expect(versions[1]).toMatchObject({
      version: 1,
      columns_added: [],
      columns_removed: [],
      columns_changed: [],
      feature_count: 200,
    });
    expect((await get("/grid/versions?limit=1")).body).toMatchObject({ versions: [{ version: 2 }], next: 2 });
    expect((await get("/grid/versions?limit=1&before=2")).body).toMatchObject({
      versions: [{ version: 1 }],
      next: null,
    });
    expect((await get("/nowhere/versions")).status).toBe(404);
  });

  test("rejects are read page by page, by job and by reason, also of a layer that a job split", async () => {
    const { body } = await get("/grid/rejects");
    expect(body.rejects).toHaveLength(7);
    expect(body).toMatchObject({ next: null, codes: { null_geometry: 3, bad_value: 4 }, counted_all: true });
    const seen: string[] = [];
    for (let cursor = ""; ; ) {
      const page = (await get(`/grid/rejects?limit=3${cursor}`)).body;
      seen.push(
        ...page.rejects.map((one: { job_id: string; row_number: number }) => `${one.job_id[0]}${one.row_number}`),
      );
      if (page.next === null) break;
      cursor = `&cursor=${encodeURIComponent(page.next)}`;
    }
    expect(seen).toEqual(["a1", "a2", "a3", "a4", "a5", "b1", "b2"]);
    expect((await get(`/grid/rejects?job_id=${job("b")}&code=null_geometry`)).body.rejects).toMatchObject([
      { row_number: 2 },
    ]);
    expect((await get("/parts_x/rejects")).body.rejects).toMatchObject([{ layer: "parts", row_number: 1 }]);
    expect((await get("/grid/rejects?cursor=nonsense")).status).toBe(400);
  });

  test("a column tells its span, its tenths and its commonest values", async () => {
    expect((await get("/grid/columns/n")).body).toMatchObject({
      least: 0,
      most: 9,
      row_count: 100,
      null_count: 0,
      distinct_count: 10,
      sampled: false,
    });
    expect((await get("/grid/columns/n")).body.tenths).toHaveLength(11);
    const name = (await get("/other/columns/tags")).body;
    expect(name).toMatchObject({ type: "json", distinct_count: null, values: [], tenths: null });
    expect((await get("/grid/columns/day")).body).toMatchObject({ least: "2024-01-02", tenths: null });
    expect((await get("/grid/columns/good")).body.values).toEqual([
      { value: "false", count: 50 },
      { value: "true", count: 50 },
    ]);
    expect((await get('/grid/columns/n"')).status).toBe(400);
    expect((await get("/grid/columns/tags")).status).toBe(400);
  });

  test("a style is kept over a replacement, told to whoever looks, and what is wrong with one is said at once", async () => {
    const style = {
      kind: "steps",
      column: "n",
      colour: "#cccccc",
      classes: [{ value: 3, colour: "#ff0000" }],
      opacity: 0.5,
      width: 2,
    };
    const before = (await service.call("GET", "/ogc/collections/grid/items?limit=1")).headers.get("etag");
    expect((await put("grid", style)).body.style).toEqual(style);
    expect((await service.call("GET", "/ogc/collections/grid/items?limit=1")).headers.get("etag")).toBe(before);
    const bad = await put("grid", {
      ...style,
      colour: "red",
      classes: [
        { value: 3, colour: "#ff0000" },
        { value: 1, colour: "#ff0000" },
      ],
    });
    expect(bad.status).toBe(400);
    expect(JSON.stringify(bad.body)).toMatch(/not a colour.*greater than the one before/s);
    expect((await put("grid", { ...style, column: "gone" })).body).toMatchObject({
      status: 400,
      detail: expect.stringContaining('no column "gone"'),
    });
    await putLayer(service.db, { name: "grid", columns: grid_columns, geometry_type: "Point", rows: gridRows(5) });
    expect((await get("/grid")).body).toMatchObject({ version: 3, style });
    const client = createClient({ url: service.url, key: await service.key() });
    expect((await client.layers.setStyle("grid", null)).style).toBeNull();
    const { body } = await service.call("GET", "/api/audit?kind=layer.", { key: await service.key() });
    expect(body.deeds[0]).toMatchObject({ kind: "layer.styled", data: { layer: "grid" } });
    expect((await put("grid", null, { key: await service.key("default", ["read"]) })).status).toBe(403);
  });

  test("another tenant's layers do not exist", async () => {
    expect((await get("", "globex")).body.layers).toMatchObject([{ name: "secret" }]);
    for (const path of [
      "/secret",
      "/secret/versions",
      "/secret/versions?before=1",
      "/secret/rejects",
      "/secret/columns/n",
    ])
      expect((await get(path)).status).toBe(404);
    expect((await put("secret", null)).status).toBe(404);
    expect((await get("/grid/rejects", "globex")).body.rejects).toHaveLength(4);
  });
});

test("a database without layers says what is missing", async () => {
  const plain = await openService();
  const { status, body } = await plain.call("GET", "/api/layers", { key: await plain.key() });
  expect([status, body.detail]).toEqual([503, "this database has no vector layers"]);
  await plain.close();
});
