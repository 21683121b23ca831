// biome-ignore-all format: one case a line
// Reading CQL2: text becomes the JSON it means, and what cannot be answered is refused with its place.
import { describe, expect, test } from "vitest";
import { item_names } from "../../src/catalog/fields.js";
import { BadRequest } from "../../src/core/errors/errors.js";
import { normalFilter as normal } from "../../src/geo/cql2/filter.js";
import { cql2FromText } from "../../src/geo/cql2/text.js";

const normalFilter = (filter: unknown) => normal(filter, item_names);
const p = (property: string) => ({ property });

test.each<[string, unknown]>([
  ["eo:cloud_cover < 10", { op: "<", args: [p("eo:cloud_cover"), 10] }],
  ['"eo:cloud_cover" >= -1.5e1', { op: ">=", args: [p("eo:cloud_cover"), -15] }],
  ["a = 'it''s' AND b <> 'C:\\dir'", { op: "and", args: [{ op: "=", args: [p("a"), "it's"] }, { op: "<>", args: [p("b"), "C:\\dir"] }] }],
  ["x BETWEEN 0 AND 10 AND y = 'z'", { op: "and", args: [{ op: "between", args: [p("x"), 0, 10] }, { op: "=", args: [p("y"), "z"] }] }],
  ["a = 1 OR b = 2 AND NOT c = 3", { op: "or", args: [{ op: "=", args: [p("a"), 1] }, { op: "and", args: [{ op: "=", args: [p("b"), 2] }, { op: "not", args: [{ op: "=", args: [p("c"), 3] }] }] }] }],
  ["(a = 1 or b = 2) and c is not null", { op: "and", args: [{ op: "or", args: [{ op: "=", args: [p("a"), 1] }, { op: "=", args: [p("b"), 2] }] }, { op: "not", args: [{ op: "isNull", args: [p("c")] }] }] }],
  ["id NOT IN ('a', 'b')", { op: "not", args: [{ op: "in", args: [p("id"), ["a", "b"]] }] }],
  ["title NOT LIKE 'a%'", { op: "not", args: [{ op: "like", args: [p("title"), "a%"] }] }],
  ["a + b * 2 ^ 3 ^ 2 > -c", { op: ">", args: [{ op: "+", args: [p("a"), { op: "*", args: [p("b"), { op: "^", args: [2, { op: "^", args: [3, 2] }] }] }] }, { op: "*", args: [-1, p("c")] }] }],
  ["a - b - c = 7 div 2", { op: "=", args: [{ op: "-", args: [{ op: "-", args: [p("a"), p("b")] }, p("c")] }, { op: "div", args: [7, 2] }] }],
  ["S_INTERSECTS(geometry, POLYGON((0 0, 1 0, 1 -1, 0 0)))", { op: "s_intersects", args: [p("geometry"), { type: "Polygon", coordinates: [[[0, 0], [1, 0], [1, -1], [0, 0]]] }] }],
  ["S_WITHIN(POINT Z (1 2 3), geometry)", { op: "s_within", args: [{ type: "Point", coordinates: [1, 2, 3] }, p("geometry")] }],
  ["s_crosses(geometry, MULTIPOINT((1 2), (3 4)))", { op: "s_crosses", args: [p("geometry"), { type: "MultiPoint", coordinates: [[1, 2], [3, 4]] }] }],
  ["T_DURING(datetime, INTERVAL('2020-01-01T00:00:00Z', '..'))", { op: "t_during", args: [p("datetime"), { interval: ["2020-01-01T00:00:00Z", ".."] }] }],
  ["datetime > TIMESTAMP('2020-01-01T00:00:00Z')", { op: ">", args: [p("datetime"), { timestamp: "2020-01-01T00:00:00Z" }] }],
  ["A_CONTAINS(instruments, ('msi'))", { op: "a_contains", args: [p("instruments"), ["msi"]] }],
  ["CASEI(\"näme\") = casei('É')", { op: "=", args: [{ op: "casei", args: [p("näme")] }, { op: "casei", args: ["É"] }] }],
  ["is_good = TRUE", { op: "=", args: [p("is_good"), true] }],
])("reads %s", (text, json) => {
  expect(cql2FromText(text)).toEqual(json);
});

test.each([
  "", "a =", "a = 1 b", "(((", "a = 'open", 'a = "open', "a LIKE", "a BETWEEN 1", "a IN 1", "a IS 1", "a ! 1", "NOT", "a = 1 AND", "a = 1e999",
  "S_INTERSECTS(geometry, POLYGON((0 0,)))", "a in (1", `${"(".repeat(5_000)}a = 1${")".repeat(5_000)}`, "-".repeat(5_000), `a = '${"x".repeat(30_000)}'`, "a = 1; drop table stac.items", "\0",
])("refuses %j, with the place", (text) => {
  expect(() => cql2FromText(text)).toThrow(BadRequest);
});

test("a long chain of conditions is no deep one", () => {
  const many = Array.from({ length: 900 }, (_, n) => `a=${n}`).join(" OR ");
  expect((normalFilter(many) as { args: unknown[] }).args).toHaveLength(900);
});

describe("what a filter means is settled before the database sees it", () => {
  test("names become columns or paths, and values keep their kind", () => {
    expect(normalFilter("properties.gsd > 1 AND id = 'x' AND created < TIMESTAMP('2020-01-01T00:00:00Z')")).toEqual({
      op: "and",
      args: [
        { op: ">", type: "number", args: [{ path: ["properties", "gsd"] }, { value: 1 }] },
        { op: "=", type: "text", args: [{ column: "id" }, { value: "x" }] },
        { op: "<", type: "time", args: [{ path: ["properties", "created"] }, { value: "2020-01-01T00:00:00Z" }] },
      ],
    });
  });

  test("operators are known by their older names and in any case", () => {
    expect(normalFilter({ op: "EQ", args: [p("a"), 1] })).toMatchObject({ op: "=" });
    expect(normalFilter({ op: "T_FINISHEDBY", args: [p("datetime"), "2020-01-01T00:00:00Z"] })).toMatchObject({ op: "t_finishedBy" });
  });

  const deep = (levels: number): unknown => (levels === 0 ? { op: "=", args: [p("a"), 1] } : { op: "not", args: [deep(levels - 1)] });
  test.each<[string, unknown, RegExp]>([
    ["an unknown operator", { op: "explode", args: [] }, /no operator "explode"/],
    ["a misspelt operator", { op: "s_intersect", args: [] }, /no operator/],
    ["no operator", { foo: 1 }, /not a condition/],
    ["a list", [], /not a condition/],
    ["null", { op: "=", args: [p("a"), null] }, /not a value/],
    ["text with number", { op: "=", args: ["a", 1] }, /text with number/],
    ["too few arguments", { op: "=", args: [p("a")] }, /1 arguments/],
    ["a condition as a value", { op: "=", args: [{ op: "=", args: [p("a"), 1] }, true] }, /where a value is expected/],
    ["a value as a condition", { op: "+", args: [1, 2] }, /where a condition is expected/],
    ["the geometry as a value", { op: "=", args: [p("geometry"), 1] }, /no value/],
    ["another geometry", { op: "s_within", args: [p("proj:geometry"), p("geometry")] }, /is no geometry/],
    ["a geometry that is none", { op: "s_within", args: [p("geometry"), { type: "Polygon", coordinates: [[[0, 0]]] }] }, /positions/],
    ["a time that is none", { op: "t_after", args: [p("datetime"), { timestamp: "yesterday" }] }, /not a moment/],
    ["a day that is none", { op: "=", args: [p("datetime"), { date: "2023-02-29" }] }, /not a date/],
    ["an interval outside a temporal operator", { op: "=", args: [p("datetime"), { interval: ["..", ".."] }] }, /temporal/],
    ["a pattern that ends in half an escape", { op: "like", args: [p("a"), "x\\"] }, /half an escape/],
    ["a pattern that is a property", { op: "like", args: [p("a"), p("b")] }, /not a pattern/],
    ["a list of several kinds", { op: "in", args: [p("a"), [1, "a"]] }, /several kinds/],
    ["true below false", { op: "<", args: [p("a"), true] }, /true and false/],
    ["a name that is none", { op: "=", args: [p("a..b"), 1] }, /not the name/],
    ["NUL in a text", { op: "=", args: [p("a"), "x\0"] }, /no text/],
    ["NUL in a name", { op: "=", args: [p("x\0"), 1] }, /not a name/],
    ["deep nesting", deep(200), /nested deeper/],
    ["too many parts", { op: "or", args: Array.from({ length: 3_000 }, () => ({ op: "=", args: [p("a"), 1] })) }, /more than 5000 parts/],
  ])("refuses %s", (_name, filter, message) => {
    expect(() => normalFilter(filter)).toThrow(message);
    expect(() => normalFilter(filter)).toThrow(BadRequest);
  });
});
