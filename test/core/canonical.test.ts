// Canonical JSON: the vectors shared with SQL, and what holds for any value.
import { describe, expect, test } from "vitest";
import { ValueProblems } from "../../src/core/errors/errors.js";
import { canonicalJson } from "../../src/core/values/canonical.js";
import { parseJson } from "../../src/core/values/json.js";
import vectors from "../vectors/canonical.json" with { type: "json" };
import { random, randomValue, shuffled } from "./random_values.js";

interface Vector {
  name: string;
  input_json_text: string;
  canonical?: string;
  error?: string;
  only?: string;
}

function problemsOf(work: () => unknown) {
  try {
    work();
  } catch (error) {
    if (error instanceof ValueProblems) return error.problems;
    throw error;
  }
  return [];
}

describe("the shared vectors", () => {
  const all = vectors as Vector[];

  test.each(all.filter((vector) => vector.canonical !== undefined))("$name", ({ input_json_text, canonical }) => {
    expect(canonicalJson(parseJson(input_json_text))).toBe(canonical);
    expect(canonicalJson(JSON.parse(input_json_text))).toBe(canonical);
  });

  test.each(all.filter((vector) => vector.error !== undefined))("$name is refused", ({ input_json_text, error }) => {
    const [problem] = problemsOf(() => canonicalJson(parseJson(input_json_text)));
    expect(problem?.problem).toContain(error);
    expect(problem?.fix).not.toBe("");
  });

  test("have names of their own", () => {
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  });
});

describe("canonical JSON of random values", () => {
  const seeds = Array.from({ length: 300 }, (_, seed) => seed);

  test("does not depend on the order of keys", () => {
    for (const seed of seeds) {
      const next = random(seed);
      const value = randomValue(next);
      expect(canonicalJson(shuffled(value, next)), `seed ${seed}`).toBe(canonicalJson(value));
    }
  });

  test("reads back as the same value, by JSON.parse and by parseJson", () => {
    for (const seed of seeds) {
      const value = randomValue(random(seed));
      const text = canonicalJson(value);
      expect(JSON.parse(text), `seed ${seed}`).toEqual(value);
      expect(parseJson(text), `seed ${seed}`).toEqual(value);
    }
  });

  test("is its own canonical form", () => {
    for (const seed of seeds) {
      const text = canonicalJson(randomValue(random(seed)));
      expect(canonicalJson(JSON.parse(text)), `seed ${seed}`).toBe(text);
    }
  });
});

test("numbers that are equal are written alike, minus zero and one point nought among them", () => {
  expect(canonicalJson([1.0, -0, 100, 1e2])).toBe("[1,0,100,100]");
});

test("all problems are told at once, each with its path", () => {
  const value = {
    a: Number.NaN,
    b: [1n, undefined],
    c: { "odd key": "\0" },
    d: Symbol("x"),
    e: () => 1,
    f: new Date(0),
  };
  const problems = problemsOf(() => canonicalJson(value));
  expect(problems.map(({ path }) => path)).toEqual(["$.a", "$.b[0]", "$.b[1]", '$.c["odd key"]', "$.d", "$.e", "$.f"]);
  expect(problems.map(({ problem }) => problem)).toEqual([
    "NaN is not a number JSON knows",
    "is a bigint, which JSON does not know",
    "is undefined, which JSON does not know",
    "holds a NUL character (\\u0000), which Postgres cannot store",
    "is a symbol, which JSON does not know",
    "is a function, which JSON does not know",
    "is a Date, which JSON does not know",
  ]);
});

test("an error names at most twenty problems, and the walk ends there", () => {
  const problems = problemsOf(() => canonicalJson(Array.from({ length: 1000 }, () => Number.NaN)));
  expect(problems).toHaveLength(20);
});

test("a key that is undefined is refused, because the two sides of a comparison must not differ by it", () => {
  expect(problemsOf(() => canonicalJson({ a: undefined }))).toHaveLength(1);
});
