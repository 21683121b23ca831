// What the conformance classes of CQL2 promise, each shown through the API in both languages; and filters that are none.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { collectionOf, itemOf, openStacService, putItems, type StacService, stac_kinds } from "./stac_service.js";

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came
type Loose = any;

/** By conformance class: the filter in text, and the items it finds. */
const filters: [conformance: string, text: string, expected: string][] = [
  ["basic-cql2", "gsd = 10", "a"],
  ["basic-cql2", "gsd <> 10", "b c"],
  ["basic-cql2", "gsd > 10 AND gsd <= 20", "b"],
  ["basic-cql2", "gsd < 20 OR NOT (gsd < 30)", "a c"],
  ["basic-cql2", "title IS NULL", "c"],
  ["basic-cql2", "title IS NOT NULL", "a b"],
  ["basic-cql2", "datetime >= TIMESTAMP('2024-02-01T00:00:00Z')", "b c"],
  ["basic-cql2", "flag = TRUE", "b"],
  ["advanced-comparison-operators", "title LIKE 'Zür%'", "a"],
  ["advanced-comparison-operators", "gsd BETWEEN 15 AND 30", "b c"],
  ["advanced-comparison-operators", "id IN ('a', 'c', 'z')", "a c"],
  ["case-insensitive-comparison", "CASEI(title) = CASEI('ZÜRICH')", "a"],
  ["accent-insensitive-comparison", "ACCENTI(title) = ACCENTI('Zurich')", "a"],
  ["basic-spatial-functions", "S_INTERSECTS(geometry, BBOX(0, 0, 1.5, 1.5))", "a"],
  ["basic-spatial-functions", "S_INTERSECTS(geometry, POINT(10.5 10.5))", "b"],
  ["basic-spatial-functions-plus", "S_INTERSECTS(geometry, POLYGON((9 9, 22 9, 22 22, 9 22, 9 9)))", "b c"],
  ["spatial-functions", "S_WITHIN(geometry, POLYGON((9 9, 12 9, 12 12, 9 12, 9 9)))", "b"],
  ["spatial-functions", "S_DISJOINT(geometry, BBOX(9, 9, 12, 12))", "a c"],
  ["temporal-functions", "T_AFTER(datetime, TIMESTAMP('2024-02-15T00:00:00Z'))", "c"],
  ["temporal-functions", "T_DURING(datetime, INTERVAL('2024-01-15T00:00:00Z', '2024-02-15T00:00:00Z'))", "b"],
  ["array-functions", "A_CONTAINS(tags, ('x', 'y'))", "a"],
  ["array-functions", "A_OVERLAPS(tags, ('y', 'z'))", "a b"],
  ["property-property", "gsd = other", "b"],
  ["arithmetic", "gsd * 2 = 40", "b"],
];

describe.each(stac_kinds)("filters (%s)", (kind) => {
  let service: StacService;
  beforeAll(async () => {
    service = await openStacService({}, kind);
    await service.call("POST", "/stac/collections", { body: collectionOf("f") });
    const item = (id: string, at: number, properties: Loose) =>
      itemOf(id, "f", [at, at], { properties: { datetime: `2024-0${at / 10 + 1}-01T00:00:00Z`, ...properties } });
    await putItems(service, "f", [
      item("a", 0, { gsd: 10, other: 5, title: "Zürich", flag: false, tags: ["x", "y"] }),
      item("b", 10, { gsd: 20, other: 20, title: "Basel", flag: true, tags: ["z"] }),
      item("c", 20, { gsd: 30, other: 31, tags: [] }),
    ]);
  });
  afterAll(() => service?.close());

  const found = ({ status, body }: Loose) =>
    status === 200
      ? body.features
          .map(({ id }: Loose) => id)
          .sort()
          .join(" ")
      : `${status} ${JSON.stringify(body.problems ?? body.detail)}`;

  test.each(filters)("%s: %s", async (conformance, text, expected) => {
    const { body } = await service.call("GET", "/stac/conformance");
    expect(body.conformsTo).toContain(`http://www.opengis.net/spec/cql2/1.0/conf/${conformance}`);
    const query = new URLSearchParams({ filter: text });
    expect(found(await service.call("GET", `/stac/search?${query}`))).toBe(expected);
    expect(found(await service.call("GET", `/stac/collections/f/items?${query}`))).toBe(expected);
    const sent = { filter: text, "filter-lang": "cql2-text" };
    expect(found(await service.call("POST", "/stac/search", { body: sent }))).toBe(expected);
  });

  test("the same in JSON, by GET and POST", async () => {
    const filter = {
      op: "and",
      args: [
        { op: ">=", args: [{ property: "gsd" }, 20] },
        { op: "s_intersects", args: [{ property: "geometry" }, { type: "Point", coordinates: [10.5, 10.5] }] },
      ],
    };
    expect(found(await service.call("POST", "/stac/search", { body: { filter } }))).toBe("b");
    const query = new URLSearchParams({ filter: JSON.stringify(filter), "filter-lang": "cql2-json" });
    expect(found(await service.call("GET", `/stac/search?${query}`))).toBe("b");
    const by_address = new URLSearchParams({ ...Object.fromEntries(query), query: '{"gsd":{"gt":25}}' });
    expect(found(await service.call("GET", `/stac/search?${by_address}`))).toBe("");
    const alone = new URLSearchParams({ query: '{"gsd":{"gt":5,"lt":25}}' });
    const posted = { query: { gsd: { gt: 5, lt: 25 } } };
    expect(found(await service.call("GET", `/stac/search?${alone}`))).toBe(
      found(await service.call("POST", "/stac/search", { body: posted })),
    );
    expect(found(await service.call("POST", "/stac/search", { body: { filter, query: { gsd: { gt: 25 } } } }))).toBe(
      "",
    );
  });

  test.each([
    "",
    "gsd =",
    "= 5",
    "gsd == 5",
    "gsd = 5 AND",
    "(gsd = 5",
    "gsd = 'a",
    "nonsense(gsd)",
    "gsd LIKE 5",
    "gsd BETWEEN 1",
    "S_INTERSECTS(geometry)",
    "S_INTERSECTS(geometry, POINT(a b))",
    "S_INTERSECTS(geometry, BBOX(0,10,1,5))",
    "T_AFTER(datetime, TIMESTAMP('yesterday'))",
    "1; drop table stac.items",

    `${"(".repeat(200)}gsd = 5${")".repeat(200)}`,
    `${"gsd = 5 OR ".repeat(3000)}gsd = 5`,
  ])("is none: %s", async (text) => {
    const short = text.length < 10_000;
    const answer = short
      ? await service.call("GET", `/stac/search?${new URLSearchParams({ filter: text })}`)
      : await service.call("POST", "/stac/search", { body: { filter: text, "filter-lang": "cql2-text" } });
    expect([answer.status, answer.body.problems?.[0]?.path]).toEqual([400, short ? "query.filter" : "body.filter"]);
  });
});
