// What no caller should send to the STAC API: each is a 400 with a reason, or the 404 it is; never a 500, and never a silent 200.
import { afterAll, beforeAll, expect, test } from "vitest";
import { collectionOf, itemOf, openStacService, type StacService } from "./stac_service.js";

// biome-ignore lint/suspicious/noExplicitAny: whatever a caller may send
type Loose = any;

let service: StacService;
beforeAll(async () => {
  service = await openStacService();
  await service.call("POST", "/stac/collections", { body: collectionOf("dem") });
  await service.call("POST", "/stac/collections/dem/items", { body: itemOf("one", "dem") });
});
afterAll(() => service?.close());

/** A refusal as problem details, with what STAC clients look for beside it. */
function expectRefusal({ status, headers, body }: Loose, about: string, expected = 400): void {
  expect([about, status, headers.get("content-type")]).toEqual([
    about,
    expected,
    expect.stringMatching(/^application.problem.json/),
  ]);
  expect(body).toMatchObject({ status: expected, code: expect.any(String), detail: expect.any(String) });
  expect(body.description.length).toBeGreaterThan(10);
  expect(JSON.stringify(body)).not.toMatch(/node_modules|\bat \S+ \(|select stac\.|fanfold_owner/);
}

const bad_searches: [name: string, values: string[]][] = [
  [
    "bbox",
    [
      "",
      "1",
      "1,2,3",
      "1,2,3,4,5",
      "1,2,3,4,5,6,7",
      "a,b,c,d",
      "NaN,0,1,1",
      "Infinity,0,1,1",
      "1e999,0,2,1",
      "0x1,0,2,1",
    ].concat([
      "0,10,1,5",
      "-181,0,1,1",
      "0,0,181,1",
      "0,-91,1,1",
      "0,0,1,91",
      "0,0,10,1,1,5",
      "0,,1,1",
      "0 1 2 3",
      "[0,0,1,1]",
    ]),
  ],
  [
    "datetime",
    [
      "",
      "yesterday",
      "2024",
      "2024-01-01",
      "2024-13-01T00:00:00Z",
      "2024-02-30T00:00:00Z",
      "2024-01-01T00:00:00",
    ].concat([
      "2024-01-01T25:00:00Z",
      "../..",
      "/",
      "..",
      "2024-01-02T00:00:00Z/2024-01-01T00:00:00Z",
      "2024-01-01T00:00:00Z/2024-01-02T00:00:00Z/2024-01-03T00:00:00Z",
      "2024-01-01T00:00:00Z/nonsense",
      "0000-01-01T00:00:00Z",
      "infinity",
      "now",
    ]),
  ],
  ["limit", ["0", "-1", "1.5", "ten", "", "1e3", "0x10", "NaN", " "]],
  ["token", ["nonsense", "", "next:dem:one", "%00", "eyJhIjoxfQ", "WyJuIiwiYWJjIixbXV0"]],
  [
    "intersects",
    [
      "",
      "{",
      "null",
      "[]",
      "POINT(1 2)",
      '{"type":"Point"}',
      '{"type":"Point","coordinates":[1]}',
      '{"type":"Point","coordinates":["a","b"]}',
    ].concat([
      '{"type":"Point","coordinates":[200,100]}',
      '{"type":"Circle","coordinates":[1,2]}',
      '{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1]]]}',
      '{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,1]]]}',
      '{"type":"GeometryCollection"}',
      '{"type":"Feature","geometry":null}',
    ]),
  ],
  [
    "sortby",
    ["", "+", "-", ",", "a;drop table", "' or 1=1", "geometry", `+${"x".repeat(300)}`, "a,b,c,d,e,f,g,h,i,j,k"],
  ],
  [
    "query",
    ["", "gsd", "[]", "null", '{"gsd":5}', '{"gsd":{"about":5}}', '{"gsd":{"in":5}}', '{"gsd":{"eq":{"a":1}}}'],
  ],
  ["fields", ["-", "a b", "../x", "id,,x", "__proto__.x y"]],
  ["filter-lang", ["cql", "sql", ""]],
  ["filter-crs", ["EPSG:4326", "http://www.opengis.net/def/crs/EPSG/0/3857", "nonsense"]],
  ["ids", ["", ",", "a,,b"]],
  ["collections", ["", ","]],
  ["q", ["free text"]],
  ["bbox-crs", ["http://www.opengis.net/def/crs/OGC/1.3/CRS84"]],
];

test.each(bad_searches)("a search with a bad %s in its address is refused with a reason", async (name, values) => {
  for (const value of values) {
    const answer = await service.call("GET", `/stac/search?${new URLSearchParams([[name, value]])}`);
    expectRefusal(answer, `${name}=${value}`);
    expect([value, `${answer.body.detail} ${JSON.stringify(answer.body.problems ?? [])}`]).toEqual([
      value,
      expect.stringMatching(new RegExp(name.replace(/-.*/, ""))),
    ]);
  }
});

test.each(bad_searches.filter(([name]) => !["ids", "collections", "intersects"].includes(name)))(
  "and so is one of a collection's items with a bad %s",
  async (name, values) => {
    for (const value of values.slice(0, 4)) {
      const path = `/stac/collections/dem/items?${new URLSearchParams([[name, value]])}`;
      expectRefusal(await service.call("GET", path), `${name}=${value}`);
    }
  },
);

test("a bad search in a body is refused with a reason, all of it at once", async () => {
  const bodies: Loose[] = [
    { bbox: [1, 2, 3] },
    { bbox: ["1", "2", "3", "4"] },
    { bbox: [0, 10, 1, 5] },
    { bbox: "0,0,1,1" },
    { bbox: {} },
    { intersects: [] },
    { intersects: "POINT(1 2)" },
    { intersects: { type: "Point", coordinates: [500, 500] } },
    { bbox: [0, 0, 1, 1], intersects: { type: "Point", coordinates: [0, 0] } },
    { datetime: "../.." },
    { datetime: 2024 },
    { datetime: ["2024-01-01T00:00:00Z"] },
    { limit: 0 },
    { limit: -1 },
    { limit: "10" },
    { limit: 1.5 },
    { ids: "one" },
    { ids: [1] },
    { collections: "dem" },
    { token: 5 },
    { token: "nonsense" },
    { sortby: "id" },
    { sortby: [{ field: "id", direction: "up" }] },
    { sortby: [{ direction: "asc" }] },
    { sortby: [{ field: "a'b" }] },
    { fields: "id" },
    { fields: { include: "id" } },
    { fields: { includes: ["id"] } },
    { filter: 5 },
    { filter: [] },
    { filter: { op: "nonsense", args: [] } },
    { filter: "id = 'a'", "filter-lang": "cql2-json" },
    { filter: { op: "=", args: [{ property: "id" }, "a"] }, "filter-lang": "cql2-text" },
    { filter: { op: "=", args: [] }, "filter-crs": "EPSG:4326" },
    { query: { gsd: { about: 5 } } },
    { query: { gsd: 5 } },
    { query: { gsd: { in: 5 } } },
    { query: { gsd: { eq: { a: 1 } } } },
    { unknown: 1 },
    { constructor: 1 },
  ];
  for (const body of bodies) {
    const told = JSON.stringify(body);
    expectRefusal(await service.call("POST", "/stac/search", { body }), told);
  }
  for (const body of ["", "{", "[]", '"x"', "null", '{"limit":1,"limit":2}', '{"bbox":[0,0,1e999,1]}']) {
    const answer = await service.call("POST", "/stac/search", { body });
    // No body at all is a search for everything.
    if (body === "") expect(answer.status).toBe(200);
    else expectRefusal(answer, body);
  }
  const { body } = await service.call("POST", "/stac/search", {
    body: { bbox: [1, 2], datetime: "x", sortby: [{ field: "!" }], fields: { include: [" "] } },
  });
  expect(body.problems.map(({ path }: Loose) => path)).toEqual(
    expect.arrayContaining(["body.bbox", "body.datetime", "body.sortby[0].field", "body.fields"]),
  );
});

test("what is not there is 404, and says what to look at", async () => {
  for (const path of [
    "/stac/collections/nobody",
    "/stac/collections/nobody/items",
    "/stac/collections/nobody/items/one",
    "/stac/collections/nobody/queryables",
    "/stac/collections/dem/items/nobody",
    "/stac/nobody",
    "/stac/collections/dem/nobody",
  ])
    expectRefusal(await service.call("GET", path), path, 404);
  for (const path of [
    "/stac/collections/nobody",
    "/stac/collections/nobody/items/one",
    "/stac/collections/dem/items/nobody",
  ])
    expectRefusal(await service.call("DELETE", path), path, 404);
  const body = itemOf("x", "nobody");
  expectRefusal(await service.call("POST", "/stac/collections/nobody/items", { body }), "post", 404);
  expectRefusal(await service.call("PUT", "/stac/collections/nobody/items/x", { body }), "put", 404);
  expectRefusal(await service.call("PATCH", "/stac/collections/dem/items/nobody", { body: {} }), "patch", 404);
  expect((await service.call("GET", "/stac/search?collections=nobody")).body.features).toEqual([]);
});

test("without a key, or with one that may not, nothing is served and nothing changes", async () => {
  expectRefusal(await service.call("GET", "/stac", { key: null }), "no key", 401);
  const reader = await service.key("default", ["read"]);
  const writer = await service.key("default", ["operate"]);
  expectRefusal(
    await service.call("POST", "/stac/collections", { key: reader, body: collectionOf("x") }),
    "reader",
    403,
  );
  expectRefusal(await service.call("DELETE", "/stac/collections/dem", { key: reader }), "reader", 403);
  expectRefusal(await service.call("GET", "/stac/search", { key: writer }), "writer", 403);
  expectRefusal(
    await service
      .call("PURGE" as string, "/stac")
      .catch(() => ({ status: 400 }) as Loose)
      .then((a: Loose) => (a.headers === undefined ? service.call("DELETE", "/stac") : a)),
    "method",
    405,
  );
});

const bad_items: [why: string, change: (item: Loose) => void, where: string][] = [
  ["no id", (item) => delete item.id, "id"],
  ["an id that is a number", (item) => { item.id = 5; }, "id"],
  ["an id of 10 KB", (item) => { item.id = "x".repeat(10_000); }, "id"],
  ["an id with a control character", (item) => { item.id = "a\u0007b"; }, "id"],
  ["another collection", (item) => { item.collection = "other"; }, "collection"],
  ["another type", (item) => { item.type = "Item"; }, "type"],
  ["a version of the future", (item) => { item.stac_version = "9.0.0"; }, "stac_version"],
  ["extensions that are no addresses", (item) => { item.stac_extensions = ["projection"]; }, "stac_extensions"],
  ["no geometry at all", (item) => { delete item.geometry; delete item.bbox; }, "geometry"],
  ["a geometry that is none", (item) => { item.geometry = { type: "Point", coordinates: "here" }; }, "geometry"],
  ["a geometry without bbox", (item) => delete item.bbox, "bbox"],
  ["a bbox upside down", (item) => { item.bbox = [0, 10, 1, 5]; }, "bbox"],
  ["a bbox of three", (item) => { item.bbox = [0, 0, 1]; }, "bbox"],
  ["no properties", (item) => delete item.properties, "properties"],
  ["no datetime", (item) => delete item.properties.datetime, "datetime"],
  ["a datetime of null without a range", (item) => { item.properties.datetime = null; }, "datetime"],
  ["a datetime that is none", (item) => { item.properties.datetime = "yesterday"; }, "datetime"],
  ["assets that are a list", (item) => { item.assets = []; }, "assets"],
  ["an asset without href", (item) => { item.assets.data = {}; }, "assets"],
  ["an asset on the reader's disk", (item) => { item.assets.data.href = "file:///etc/passwd"; }, "assets"],
  ["an asset that runs", (item) => { item.assets.data.href = "javascript:alert(1)"; }, "assets"],
  ["an asset by GDAL's own name", (item) => { item.assets.data.href = "/vsicurl/http://example.com/x"; }, "assets"],
  ["a relative asset", (item) => { item.assets.data.href = "./data.tif"; }, "assets"],
  ["a link that runs", (item) => { item.links = [{ rel: "via", href: "javascript:alert(1)" }]; }, "links"],
  ["a link without rel", (item) => { item.links = [{ href: "https://example.com" }]; }, "links"],
]; // biome-ignore format: a table

test.each(bad_items)("an item with %s is not stored, and is told why", async (_, change, where) => {
  const body = itemOf("bad", "dem");
  change(body);
  for (const [method, path] of [
    ["POST", "/stac/collections/dem/items"],
    ["PUT", "/stac/collections/dem/items/one"],
  ] as const) {
    const answer = await service.call(method, path, { body });
    // In the address of a PUT there is an id already.
    if (method === "PUT" && body.id === undefined) continue;
    expectRefusal(answer, method);
    expect(answer.body.problems.map(({ path: at }: Loose) => at).join()).toContain(where);
  }
  expect((await service.call("GET", "/stac/search?fields=id")).body.features.map(({ id }: Loose) => id)).toEqual([
    "one",
  ]);
});

test("a batch with one bad item stores none, and names the one", async () => {
  const features = [itemOf("good", "dem"), { ...itemOf("bad", "dem"), bbox: [1] }, itemOf("good", "dem")];
  const answer = await service.call("POST", "/stac/collections/dem/items", {
    body: { type: "FeatureCollection", features },
  });
  expectRefusal(answer, "batch");
  const paths = answer.body.problems.map(({ path }: Loose) => path);
  expect(paths).toEqual(expect.arrayContaining(["body.features[1].bbox", "body.features[2].id"]));
  for (const wrong of [{ features: [] }, { features: 5 }, {}, { features: [1] }]) {
    const body = { type: "FeatureCollection", ...wrong };
    expectRefusal(await service.call("POST", "/stac/collections/dem/items", { body }), JSON.stringify(wrong));
  }
  expect((await service.call("GET", "/stac/collections/dem/items/good")).status).toBe(404);
});

test("a collection that is not one is not stored, and is told why", async () => {
  const wrongs: Loose[] = [
    { id: "" },
    { id: 5 },
    { type: "Catalog" },
    { description: undefined },
    { license: undefined },
    { links: {} },
    { extent: undefined },
    { extent: { spatial: { bbox: [] }, temporal: { interval: [[null, null]] } } },
    { extent: { spatial: { bbox: [[0, 0, 1, 1]] }, temporal: { interval: [["yesterday", null]] } } },
    { extent: { spatial: { bbox: [[0, 10, 1, 1]] }, temporal: { interval: [[null, null]] } } },
    { stac_version: "0.6" },
    { assets: { a: { href: "file:///etc/passwd" } } },
  ];
  for (const wrong of wrongs) {
    const answer = await service.call("POST", "/stac/collections", { body: collectionOf("bad", wrong) });
    expectRefusal(answer, JSON.stringify(wrong));
  }
  expectRefusal(await service.call("PUT", "/stac/collections/dem", { body: collectionOf("other") }), "another id");
});
