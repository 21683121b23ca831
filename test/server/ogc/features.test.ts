// OGC API Features: every link leads somewhere, pages are whole and of one version, boxes, times, reference systems and filters find what
// they should, and what is wrong is told at once.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ogc_api } from "../../../src/core/api/ogc/ogc.js";
import { processes_api } from "../../../src/core/api/ogc/processes.js";
import { withoutPostgis } from "../../catalog_packages.js";
import { openService, type TestService } from "../service.js";
import { grid_columns, gridRows, putLayer } from "./layers.js";

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came
type Loose = any;
const why = await withoutPostgis();
const crs84 = "http://www.opengis.net/def/crs/OGC/1.3/CRS84";
const epsg = (code: number) => `http://www.opengis.net/def/crs/EPSG/0/${code}`;

describe.skipIf(why !== null)(`OGC API Features${why === null ? "" : ` (skipped: ${why})`}`, () => {
  let service: TestService;
  const get = async (path: string, headers: Record<string, string> = {}, key?: string) =>
    service.call("GET", `/ogc${path}`, { headers, ...(key === undefined ? {} : { key }) });
  const ids = (body: Loose): number[] => body.features.map(({ id }: Loose) => id);
  const found = async (query: Record<string, string>, layer = "grid") => {
    const { status, body } = await get(
      `/collections/${layer}/items?${new URLSearchParams({ limit: "1000", ...query })}`,
    );
    expect([status, body]).toEqual([200, expect.anything()]);
    return ids(body);
  };

  beforeAll(async () => {
    service = await openService({}, {}, { variant: "stac" });
    await service.key();
    const grid = { columns: grid_columns, geometry_type: "Point", time_column: "seen" };
    await putLayer(service.db, { ...grid, name: "grid", title: "A <grid>", rows: gridRows(200) });
    await putLayer(service.db, { ...grid, name: "utm", srid: 32633, rows: gridRows(200, { srid: 32633 }) });
    await putLayer(service.db, {
      name: "shapes",
      columns: { kind: ["string", "text"] },
      rows: `values (1, 'square', st_geomfromtext('POLYGON((0 0, 0 4, 4 4, 4 0, 0 0))', 4326)), (2, 'line', st_geomfromtext('LINESTRING(-2 1, 6 1)', 4326)),
        (3, null, null), (4, 'east', st_geomfromtext('POINT(179.5 10)', 4326)), (5, 'west', st_geomfromtext('POINT(-179.5 10)', 4326))`,
    });
    await putLayer(service.db, {
      name: "plain",
      columns: { v: ["integer", "integer"] },
      geometry_type: null,
      rows: "select i, i * 2 from generate_series(1, 3) i",
    });
  }, 120_000);
  afterAll(() => service?.close());

  test("every link that any answer has leads to an answer of the type it tells, as JSON and as HTML", async () => {
    const seen = new Set<string>();
    const waiting = [`${service.url}/ogc`];
    const key = await service.key();
    while (waiting.length > 0) {
      const href = waiting.pop()!;
      if (seen.has(href)) continue;
      seen.add(href);
      const answer = await fetch(href, { headers: { authorization: `Bearer ${key}` } });
      const text = await answer.text();
      expect([href, answer.status]).toEqual([href, 200]);
      const type = answer.headers.get("content-type") ?? "";
      if (/html/.test(type)) {
        expect(text).not.toContain("<script");
        expect(text).not.toContain("A <grid>");
        for (const [, address] of text.matchAll(/href="([^"]+)"/g))
          expect(address).toMatch(new RegExp(`^${service.url}/`));
        continue;
      }
      const follow = (value: Loose): void => {
        if (typeof value !== "object" || value === null) return;
        for (const link of Array.isArray(value.links) ? value.links : []) {
          expect(link).toMatchObject({
            rel: expect.any(String),
            href: expect.stringContaining(service.url),
            type: expect.any(String),
          });
          if (link.templated === undefined) waiting.push(link.href);
          else waiting.push(link.href.replace("{tileMatrix}", "0").replace("{tileRow}", "0").replace("{tileCol}", "0"));
        }
        for (const one of Object.values(value)) follow(one);
      };
      if (/json/.test(type)) follow(JSON.parse(text));
    }
    expect(seen.size).toBeGreaterThan(60);
  });

  test("the OpenAPI document needs nothing from elsewhere and names exactly what the routes take", async () => {
    const { body } = await service.call("GET", "/ogc/api", { key: null });
    expect(body.openapi).toMatch(/^3\.0\./);
    const text = JSON.stringify(body);
    // 3.0 has no empty ones: the readers of OGC's test suites refuse the whole document.
    expect(text).not.toMatch(/"(required|enum|oneOf|anyOf|allOf)":\[\]/);
    expect(
      [...text.matchAll(/"\$ref":"([^"]+)"/g)]
        .map(([, to]) => to)
        .filter((to) => !/^#\/components\/schemas\/\w+$/.test(to!)),
    ).toEqual([]);
    for (const [, to] of text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g))
      expect(body.components.schemas).toHaveProperty(to!);
    const renamed: Record<string, string> = {
      layer_id: "collectionId",
      feature_id: "featureId",
      set_id: "tileMatrixSetId",
      zoom: "tileMatrix",
      row: "tileRow",
      column: "tileCol",
      process_id: "processID",
      process_job_id: "jobId",
      output_id: "outputId",
    };
    const taken = Object.fromEntries(
      Object.values({ ...ogc_api, ...processes_api }).map((one) => [
        `${one.method} ` +
          one.path.replace(/^\/ogc\/?/, "/").replaceAll(/\{(\w+)\}/g, (_, name) => `{${renamed[name]}}`),
        [...Object.keys(one.params.shape).map((name) => renamed[name]!), ...Object.keys(one.query.shape)].sort(),
      ]),
    );
    const told = Object.fromEntries(
      Object.entries(body.paths as Loose).flatMap(([path, methods]: Loose) =>
        Object.entries(methods).map(([method, one]: Loose) => [
          `${method.toUpperCase()} ${path}`,
          one.parameters.map(({ name }: Loose) => name).sort(),
        ]),
      ),
    );
    expect(told).toEqual(taken);
    for (const one of Object.values(body.paths as Loose).flatMap((path: Loose) =>
      Object.values(path).flatMap((call: Loose) => call.parameters),
    ))
      expect(one).toMatchObject({ style: expect.any(String), explode: false, schema: expect.any(Object) });
  });

  test("pages neither skip nor repeat, in any order, and tell the stored count only where nothing is filtered", async () => {
    for (const query of ["", "sortby=name", "sortby=-n,name", "sortby=-seen", "bbox=0,40,19,43&sortby=%2Bweight"]) {
      const all: number[] = [];
      let next: string | null = `${service.url}/ogc/collections/grid/items?limit=37&${query}`;
      while (next !== null) {
        const answer: Loose = await service.call("GET", next.slice(service.url.length));
        expect(answer.status).toBe(200);
        expect(answer.body.numberReturned).toBe(answer.body.features.length);
        expect(answer.body.numberMatched).toBe(query.includes("bbox") ? undefined : 200);
        all.push(...ids(answer.body));
        next = answer.body.links.find(({ rel }: Loose) => rel === "next")?.href ?? null;
      }
      const whole = await found(Object.fromEntries(new URLSearchParams(query)));
      expect([query, all]).toEqual([query, whole]);
      expect(new Set(all).size).toBe(all.length);
      expect(all.length).toBe(query.includes("bbox") ? 139 : 200);
    }
    const hits = await get("/collections/grid/items?resultType=hits&filter=n%3D3");
    expect(hits.body).toMatchObject({ numberMatched: 20, numberReturned: 0, features: [] });
  });

  test("a large page is streamed in pieces and is one JSON document all the same", async () => {
    await putLayer(service.db, {
      name: "many",
      columns: { v: ["string", "text"] },
      rows: "select i, repeat('x', 800), st_setsrid(st_makepoint(i % 100, 0), 4326) from generate_series(1, 4321) i",
    });
    const { body } = await get("/collections/many/items?limit=4000");
    expect([body.features.length, body.numberReturned, body.numberMatched]).toEqual([4000, 4000, 4321]);
    expect(ids(body)).toEqual(Array.from({ length: 4000 }, (_, n) => n + 1));
    const next = body.links.find(({ rel }: Loose) => rel === "next").href;
    expect(ids((await service.call("GET", next.slice(service.url.length))).body).length).toBe(321);
  });

  test("boxes and reference systems: positions in the order that their system has, in and out", async () => {
    const box = [2.5, 40.2, 4.5, 41.2];
    const inside = await found({ bbox: box.join() });
    expect(inside).toEqual([23, 24, 43, 44]);
    expect(await found({ bbox: [40.2, 2.5, 41.2, 4.5].join(), "bbox-crs": epsg(4326) })).toEqual(inside);
    expect(await found({ bbox: "278299,4896000,500937,5045000", "bbox-crs": epsg(3857) })).toEqual(inside);
    expect(await found({ bbox: box.join() }, "utm")).toEqual(inside);
    expect(await found({ bbox: "-180,-90,180,90" }, "utm")).toHaveLength(200);
    expect(await found({ bbox: "170,0,-170,20" }, "shapes")).toEqual([4, 5]);
    expect(await found({ bbox: "1,1,2,2" }, "shapes")).toEqual([1, 2]);
    expect(await found({ bbox: "0,0,1,1" }, "plain")).toEqual([]);
    const at = async (layer: string, crs?: string) => {
      const answer = await get(
        `/collections/${layer}/items/23${crs === undefined ? "" : `?crs=${encodeURIComponent(crs)}`}`,
      );
      expect(answer.headers.get("content-crs")).toBe(`<${crs ?? crs84}>`);
      return answer.body.geometry.coordinates;
    };
    expect(await at("grid")).toEqual([3, 40.5]);
    expect(await at("grid", epsg(4326))).toEqual([40.5, 3]);
    // Positions as they are told are a box that has the feature they were told of.
    for (const [layer, crs] of [
      ["grid", epsg(3857)],
      ["utm", crs84],
      ["utm", epsg(3857)],
      ["utm", epsg(32633)],
    ] as const) {
      const told = (await at(layer, crs)).join();
      expect([layer, crs, await found({ bbox: `${told},${told}`, "bbox-crs": crs }, layer)]).toEqual([
        layer,
        crs,
        [23],
      ]);
    }
    const [x, y] = await at("grid", epsg(3857));
    expect([Math.round(x), Math.round(y)]).toEqual([333958, 4938869]);
    expect((await at("utm")).map((one: number) => Number(one.toFixed(6)))).toEqual([3, 40.5]);
    const { body } = await get("/collections/utm");
    expect(body).toMatchObject({
      storageCrs: epsg(32633),
      itemType: "feature",
      crs: [crs84, epsg(4326), epsg(3857), epsg(32633)],
    });
    expect((await get("/collections/grid")).body.storageCrs).toBe(crs84);
  });

  test("times: an instant, an interval, an open end, a day; a layer without time has all", async () => {
    expect(await found({ datetime: "2024-01-04T12:00:00Z" })).toEqual([3]);
    expect(await found({ datetime: "2024-01-04" })).toEqual([3]);
    expect(await found({ datetime: "2024-01-04T12:00:00Z/2024-01-06T11:59:59Z" })).toEqual([3, 4]);
    expect(await found({ datetime: "2024-07-16T00:00:00Z/.." })).toEqual([197, 198, 199, 200]);
    expect(await found({ datetime: "/2024-01-02T12:00:00Z" })).toEqual([1]);
    expect(await found({ datetime: "2024-01-04T12:00:00Z" }, "plain")).toEqual([1, 2, 3]);
  });

  // The same by hand, over what the grid is made of.
  const grid = Array.from({ length: 200 }, (_, n) => n + 1);
  test.each<[filter: string, expected: (i: number) => boolean]>([
    ["n = 3", (i) => i % 10 === 3],
    ["n > 7.5 AND good = true", (i) => i % 10 > 7.5 && i % 2 === 0],
    ["weight BETWEEN 1 AND 2", (i) => i / 4 >= 1 && i / 4 <= 2],
    ["name IS NULL OR n IN (1, 2)", (i) => i % 7 === 0 || [1, 2].includes(i % 10)],
    ["name LIKE 'Näme 1_'", (i) => i % 7 !== 0 && i >= 10 && i < 20],
    ["ACCENTI(CASEI(name)) = ACCENTI(CASEI('NAME 12'))", (i) => i === 12],
    ["good", (i) => i % 2 === 0],
    ["NOT (n <> 4)", (i) => i % 10 === 4],
    ["n * 2 + 1 = weight", (i) => (i % 10) * 2 + 1 === i / 4],
    ["id = 17 OR fid = 18", (i) => i === 17 || i === 18],
    ["day > DATE('2024-07-15')", (i) => i > 196],
    ["T_INTERSECTS(day, INTERVAL('2024-01-03T10:00:00Z', '2024-01-04T00:00:00Z'))", (i) => i === 2 || i === 3],
    ["T_AFTER(seen, TIMESTAMP('2024-07-16T00:00:00Z'))", (i) => i > 196],
    ["A_CONTAINS(tags, ('t1'))", (i) => i % 3 === 1],
    ["S_INTERSECTS(geometry, BBOX(2.5, 40.2, 4.5, 41.2))", (i) => [23, 24, 43, 44].includes(i)],
    [
      "S_WITHIN(geom, POLYGON((2.5 40.2, 4.5 40.2, 4.5 41.2, 2.5 41.2, 2.5 40.2))) AND n = 3",
      (i) => [23, 43].includes(i),
    ],
    ["S_DISJOINT(geometry, BBOX(-1, 39, 30, 44.9))", (i) => 40 + Math.floor(i / 20) / 2 > 44.9],
  ])("filter %s", async (filter, expected) => {
    const right = grid.filter(expected);
    expect(await found({ filter })).toEqual(right);
    expect(await found({ filter }, "utm")).toEqual(right);
  });

  test("a filter in JSON, and in the order of another reference system", async () => {
    const filter = JSON.stringify({ op: "=", args: [{ property: "n" }, 3] });
    expect(await found({ filter, "filter-lang": "cql2-json" })).toHaveLength(20);
    expect(await found({ filter: "S_INTERSECTS(geometry, POINT(40.5 3))", "filter-crs": epsg(4326) })).toEqual([23]);
    const { body } = await get("/collections/grid/queryables");
    expect(body).toMatchObject({
      additionalProperties: false,
      properties: { n: { type: "integer" }, day: { format: "date" }, geometry: { format: "geometry-point" } },
    });
  });

  test("only the properties that are asked for, and no geometry where none is wanted", async () => {
    const { body } = await get("/collections/grid/items?limit=1&properties=n,good&skipGeometry=true");
    expect(body.features).toEqual([{ type: "Feature", id: 1, geometry: null, properties: { n: 1, good: false } }]);
    expect((await get("/collections/plain/items")).body.features[2]).toEqual({
      type: "Feature",
      id: 3,
      geometry: null,
      properties: { v: 6 },
    });
  });

  test("everything that is wrong is told at once, with what to do", async () => {
    const query = new URLSearchParams({
      limit: "0",
      bbox: "1,2,3",
      datetime: "yesterday",
      crs: "EPSG:1",
      sortby: "-nn",
      properties: "weigth",
      filter: "nope = 1",
      unknown: "1",
      f: "xml",
      token: "?",
    });
    const { status, body } = await get(`/collections/grid/items?${query}`);
    expect(status).toBe(400);
    expect(body.problems.map(({ path }: Loose) => path).sort()).toEqual(
      ["bbox", "crs", "datetime", "f", "filter", "limit", "properties", "sortby", "token", "unknown"].map(
        (one) => `query.${one}`,
      ),
    );
    expect(body.problems.every(({ fix }: Loose) => fix !== "")).toBe(true);
    expect(body).toMatchObject({ code: "bad_request", description: expect.stringContaining("query.bbox") });
    const bad = [
      "limit=1.5",
      "limit=-1",
      "bbox=a,b,c,d",
      "bbox=0,10,0,0",
      "bbox=0,0,0,100",
      "datetime=2024-02-30T00:00:00Z",
      "datetime=2024-02-01T00:00:00Z/2024-01-01T00:00:00Z",
      "filter=n%3D",
      "filter=n%3D'x'",
      "filter=name%3E1",
      "filter=S_INTERSECTS(name,POINT(1 1))",
      "filter-lang=sql",
      "bbox-crs=x",
      "resultType=all",
      "skipGeometry=1",
      "sortby=tags",
      "sortby=geometry",
      "filter=S_INTERSECTS(geometry,POLYGON((0 0,1 1,0 1,1 0,0 0)))",
      "filter=n%3D1e400",
      "filter=weight%2Fn%3D1%20AND%20n%20%5E%20400%3D1e300",
    ];
    for (const one of bad) {
      const answer = await get(`/collections/grid/items?${one}`);
      expect([one, answer.status]).toEqual([one, one.includes("%5E") ? answer.status : 400]);
      expect(answer.status).toBeLessThan(500);
    }
    for (const path of [
      "/collections/nope",
      "/collections/nope/items",
      "/collections/grid/items/x",
      "/collections/grid/items/9999",
      "/collections/nope/tiles",
      "/tileMatrixSets/nope",
    ])
      expect([path, (await get(path)).status]).toEqual([path, 404]);
    expect((await get("/collections?unknown=1")).status).toBe(400);
    expect((await get("/collections/grid/items/1?unknown=1")).status).toBe(400);
  });

  test("what did not change is not sent again, and what did is", async () => {
    await putLayer(service.db, {
      name: "small",
      columns: { v: ["integer", "integer"] },
      rows: "select 1, 1, st_setsrid(st_makepoint(1, 1), 4326)",
    });
    for (const path of ["", "/items", "/items/1", "/tiles/WebMercatorQuad/0/0/0", "/queryables"]) {
      const first = await get(`/collections/small${path}`);
      const etag = first.headers.get("etag")!;
      const again = await get(`/collections/small${path}`, { "if-none-match": etag });
      expect([path, first.status, again.status, again.body]).toEqual([path, 200, 304, ""]);
    }
    const { headers } = await get("/collections/small/items");
    await putLayer(service.db, {
      name: "small",
      columns: { w: ["string", "text"] },
      rows: "select 2, 'x', st_setsrid(st_makepoint(2, 2), 4326)",
    });
    const changed = await get("/collections/small/items", { "if-none-match": headers.get("etag")! });
    expect([changed.status, changed.body.features[0].properties]).toEqual([200, { w: "x" }]);
  });

  test("pages of HTML: a map and a table that show the data as text, and a way on", async () => {
    const { body, headers } = await get("/collections/grid/items", {
      accept: "text/html,application/xhtml+xml,*/*;q=0.8",
    });
    expect(headers.get("content-type")).toContain("text/html");
    expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(body).toContain("<svg");
    expect(body.match(/class="feature/g)).toHaveLength(10);
    expect(body).toMatch(/href="[^"]+token=[^"]+"[^>]*>Next page/);
    await putLayer(service.db, {
      name: "evil",
      columns: { v: ["string", "text"] },
      rows: `select 1, '<script>alert(1)</script>"''', null`,
    });
    const evil = await get("/collections/evil/items?f=html");
    expect(evil.body).toContain("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;");
    expect(evil.body).not.toContain("<script");
  });

  test("a tenant sees nothing of another's: not by name, not by token, not by count", async () => {
    const other = await service.key("other");
    await putLayer(service.db, {
      tenant: "other",
      name: "secret",
      columns: { v: ["string", "text"] },
      rows: "select i, 'hidden', st_setsrid(st_makepoint(5, 5), 4326) from generate_series(1, 30) i",
    });
    const own = await get("/collections/secret/items", {}, other);
    expect(own.body.numberMatched).toBe(30);
    const token = new URL(own.body.links.find(({ rel }: Loose) => rel === "next").href).search;
    for (const path of [
      "",
      "/items",
      `/items${token}`,
      "/items/1",
      "/items?resultType=hits",
      "/queryables",
      "/tiles",
      "/tiles/WebMercatorQuad",
      "/tiles/WebMercatorQuad/0/0/0",
    ])
      expect([path, (await get(`/collections/secret${path}`)).status]).toEqual([path, 404]);
    const { body } = await get("/collections");
    expect(JSON.stringify(body)).not.toContain("secret");
    expect((await service.call("GET", "/ogc/collections/secret/items", { key: null })).status).toBe(401);
    expect((await get("/collections/grid/items", {}, await service.key("default", ["submit"]))).status).toBe(403);
  });

  test("while a layer is replaced again and again, readers page through one version each: no page is mixed, no count is wrong", async () => {
    const version = (n: number) => ({
      name: "moving",
      // Another set of columns each time, and another number of features.
      columns: { v: ["integer", "integer"], [`c${n % 3}`]: ["string", "text"] } as Record<string, [string, string]>,
      rows: `select i, ${n}, 'x', st_setsrid(st_makepoint(i % 100, 0), 4326) from generate_series(1, ${300 + n * 10}) i`,
    });
    await putLayer(service.db, version(0));
    let replaced = 0;
    let whole = 0;
    const reader = async () => {
      while (replaced < 12) {
        const seen: number[] = [];
        let next: string | null = "/ogc/collections/moving/items?limit=70";
        let matched = 0;
        while (next !== null) {
          const answer: Loose = await service.call("GET", next);
          expect([answer.status, answer.body.detail]).toEqual([200, undefined]);
          seen.push(...answer.body.features.map((one: Loose) => one.properties.v));
          matched = answer.body.numberMatched;
          next = answer.body.links.find(({ rel }: Loose) => rel === "next")?.href.slice(service.url.length) ?? null;
        }
        expect(new Set(seen).size).toBe(1);
        expect([seen.length, matched]).toEqual([300 + seen[0]! * 10, 300 + seen[0]! * 10]);
        whole++;
      }
    };
    const readers = Promise.all([reader(), reader(), reader()]);
    for (let n = 1; n <= 12; n++) {
      await putLayer(service.db, version(n));
      replaced = n;
    }
    await readers;
    expect(whole).toBeGreaterThanOrEqual(3);
  });

  test("who pages in a version whose table is gone is told to begin anew", async () => {
    const make = (rows: number, drop_before: boolean) =>
      putLayer(service.db, {
        name: "gone",
        columns: {},
        drop_before,
        rows: `select i, null::geometry from generate_series(1, ${rows}) i`,
      });
    await make(20, false);
    const first = await get("/collections/gone/items?limit=5");
    const next = first.body.links.find(({ rel }: Loose) => rel === "next").href.slice(service.url.length);
    await make(10, true);
    const answer = await service.call("GET", next);
    expect([answer.status, answer.body.code]).toEqual([409, "conflict"]);
    expect(answer.body.hint).toContain("/ogc/collections/gone/items?limit=5");
    const other = await service.call("GET", next.replace("limit=5", "limit=5&sortby=-id"));
    expect(other.status).toBe(409);
    expect((await get("/collections/gone/items?limit=5")).body.numberMatched).toBe(10);
  });
});
