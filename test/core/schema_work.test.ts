// Checking by a schema that somebody sent is bounded, whatever the schema and whatever the value.
import { describe, expect, test } from "vitest";
import type { Job } from "../../src/core/declare/declare.js";
import { validateParameters } from "../../src/core/declare/parameters.js";
import { readDeclaration } from "../../src/core/declare/saved_blueprint.js";
import { max_check_steps, spendOn } from "../../src/core/declare/schema_work.js";
import type { ParameterError } from "../../src/core/errors/errors.js";

const object = (properties: object) => ({ type: "object", properties });
const many = <T>(count: number, one: T): T[] => Array<T>(count).fill(one);
const strings = { type: "array", items: { type: "string" } };

function read(schema: unknown) {
  return readDeclaration("sent", { parameters: schema, stages: [{ name: "s", task: "t.x" }] }, new Map());
}

async function refusal(schema: unknown, value: unknown): Promise<string> {
  const { job, problems } = read(schema);
  expect(problems).toEqual([]);
  try {
    await validateParameters(job as Job, value);
  } catch (error) {
    return (error as ParameterError).problems[0]?.problem ?? "";
  }
  return "";
}

const too_much = `takes more than ${max_check_steps} steps to check by the job type's JSON Schema; what is wrong counts tenfold`;

describe("a schema is refused", () => {
  test("with more than 16 alternatives", () => {
    for (const key of ["anyOf", "oneOf", "allOf"]) {
      expect(read(object({ a: { [key]: many(16, strings) } })).problems).toEqual([]);
      const [problem] = read(object({ a: { [key]: many(17, strings) } })).problems;
      expect(problem?.problem).toBe(`${key} has 17 schemas; the limit is 16`);
    }
  });

  test("that is made of more than 1,000 schemas, and told so once", () => {
    const fields = (count: number) => object(Object.fromEntries(many(count, 0).map((_, n) => [`f${n}`, true])));
    expect(read(fields(999)).problems).toEqual([]);
    expect(read(fields(1500)).problems.map(({ problem }) => problem)).toEqual(["is made of more than 1000 schemas"]);
  });
});

describe("a value is refused before it is checked, where it takes too many steps", () => {
  const required = Array.from({ length: 400 }, (_, n) => `f${n}`);
  const wide = { ...object(Object.fromEntries(required.map((name) => [name, { type: "string" }]))), required };
  test.each([
    ["alternatives on each item", { anyOf: many(16, strings) }, many(20_000, 0)],
    ["fields that each item lacks", { type: "array", items: wide }, many(1_000, {})],
    ["a long enum told for each item", { type: "array", items: { enum: many(5_000, "none") } }, many(1_000, "x")],
    ["a long text told for each item", { type: "array", items: { const: "x".repeat(50_000) } }, many(1_000, "x")],
    ["bounds that no item keeps", { type: "array", items: { type: "string", minLength: 1 } }, many(30_000, "")],
    ["items that may not be", { type: "array", items: false }, many(30_000, 0)],
    ["types by the dozen", { type: "array", items: { type: many(200, "string") } }, many(5_000, 0)],
    [
      "alternatives within alternatives",
      { anyOf: many(8, { type: "array", items: { anyOf: many(8, { type: "array", items: { type: "null" } }) } }) },
      many(100, many(100, 1)),
    ],
    [
      "lists without doubles, again and again",
      { anyOf: many(16, { ...strings, uniqueItems: true }) },
      many(9_000, "x"),
    ],
  ])("%s", async (_, schema, value) => {
    expect(await refusal(object({ a: schema }), { a: value })).toBe(too_much);
  });
});

test("a large value by a plain schema is checked", async () => {
  const numbers = object({ a: { type: "array", items: { type: "number" } } });
  expect(await refusal(numbers, { a: many(100_000, 1) })).toBe("");
  expect(await refusal(numbers, { a: [...many(100_000, 1), "x"] })).toContain("expected a number");
});

test("many checks of one call share what there is", () => {
  const budget = { steps: 1_000 };
  const schema = object({ a: strings });
  expect(spendOn(schema, { a: many(600, "x") }, budget)).toBe(true);
  expect(spendOn(schema, { a: many(600, "x") }, budget)).toBe(false);
  expect(budget.steps).toBe(0);
});
