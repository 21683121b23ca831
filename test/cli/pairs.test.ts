import { describe, expect, test } from "vitest";
import { readPairs, readParameterText } from "../../src/cli/terminal/pairs.js";

const read = (...pairs: string[]) => readPairs(pairs);

describe("key=value arguments", () => {
  test("a value that is JSON is JSON, anything else is text", () => {
    expect(read("n=3", "on=true", "none=null", 'list=["a",1]', "name=Ada", "empty=", 'text="3"', "x=a=b").parameters).toEqual({
      n: 3, on: true, none: null, list: ["a", 1], name: "Ada", empty: "", text: "3", x: "a=b",
    }); // biome-ignore format: one row
  });

  test("a dot in the key makes a nested object", () => {
    expect(read("grid.size.x=5", "grid.size.y=6", "grid.name=g").parameters).toEqual({
      grid: { size: { x: 5, y: 6 }, name: "g" },
    });
  });

  test("pairs are laid over the parameters of a file without changing them", () => {
    const base = { grid: { x: 1, y: 2 } };
    expect(readPairs(["grid.x=9"], base).parameters).toEqual({ grid: { x: 9, y: 2 } });
    expect(base).toEqual({ grid: { x: 1, y: 2 } });
  });

  test("all problems are reported together", () => {
    const { problems } = read(
      "novalue",
      "=5",
      "a..b=1",
      "n=1",
      "n=2",
      "s=1",
      "s.t=2",
      "__proto__.admin=true",
      "big=12345678901234567890",
    );
    expect(problems.map((one) => one.path)).toEqual(["novalue", "=5", "a..b", "n", "s.t", "__proto__.admin", "big"]);
    expect(problems.every((one) => one.fix)).toBe(true);
  });

  test("JSON that machines read differently is refused and not taken as text", () => {
    for (const pair of [
      "n=1e400",
      "n=12345678901234567890",
      'o={"a":1,"a":2}',
      't="\\u0000"',
      't="\\ud800"',
      'o={"__proto__":{"x":1}}',
    ]) {
      const { problems, parameters } = read(pair);
      expect(problems, pair).toHaveLength(1);
      expect(parameters, pair).toEqual({});
    }
  });

  test("no key reaches the prototype of objects", () => {
    read("__proto__.polluted=1", "constructor.prototype.polluted=1", 'x={"__proto__":{"polluted":1}}');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe("--parameters", () => {
  test("takes one JSON object, as text or as bytes", () => {
    expect(readParameterText('{"n":1}', "p.json").parameters).toEqual({ n: 1 });
    expect(readParameterText(Buffer.from('{"ü":1}'), "p.json").parameters).toEqual({ ü: 1 });
  });

  test("says what it found when it is not an object", () => {
    for (const [text, found] of [
      ["[]", "a list"],
      ['"x"', "a string"],
      ["null", "null"],
      ["3", "a number"],
    ] as const) {
      expect(readParameterText(text, "p.json").problems).toEqual([
        { path: "p.json", problem: `is ${found}, not an object`, fix: 'write {"key": value}' },
      ]);
    }
  });

  test("names the source of broken JSON", () => {
    for (const text of [
      "",
      "{",
      "{n:1}",
      '{"a":1,"a":2}',
      "[".repeat(100_000),
      Buffer.from([0x7b, 0xff]),
      Buffer.from('{"n":1}', "utf16le"),
    ]) {
      const [problem] = readParameterText(text, "p.json").problems;
      expect(problem?.path).toContain("p.json");
    }
  });
});
