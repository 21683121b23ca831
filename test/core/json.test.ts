// Which values and which texts are JSON as we store it.
import { describe, expect, test } from "vitest";
import { ValueProblems } from "../../src/core/errors/errors.js";
import { json_limits, jsonProblems, parseJson, parseLoosely, result_limits } from "../../src/core/values/json.js";

function refusal(source: string | Uint8Array): { path: string; problem: string }[] {
  try {
    parseJson(source);
  } catch (error) {
    if (error instanceof ValueProblems) return error.problems.map(({ path, problem }) => ({ path, problem }));
    throw error;
  }
  return [];
}

describe("a value", () => {
  test("that contains itself is refused, however often it does", () => {
    const value: Record<string, unknown> = { list: [] };
    value.self = value;
    value.list = [value, value];
    expect(jsonProblems(value).map(({ path, problem }) => `${path} ${problem}`)).toEqual([
      "$.list[0] contains itself",
      "$.list[1] contains itself",
      "$.self contains itself",
    ]);
  });

  test("that is used twice without containing itself is fine", () => {
    const shared = { x: 1 };
    expect(jsonProblems([shared, shared])).toEqual([]);
  });

  test("whose sharing would unfold to 2^90 items is refused at once", () => {
    let value: unknown = 1;
    for (let level = 0; level < 90; level++) value = [value, value];
    expect(jsonProblems(value)[0]?.problem).toBe("holds more than 1000000 values");
  });

  test("may be nested one hundred levels deep, not one more", () => {
    const nested = (levels: number) => Array.from({ length: levels }).reduce<unknown>((inner) => [inner], 1);
    expect(jsonProblems(nested(100))).toEqual([]);
    expect(jsonProblems(nested(101))[0]?.problem).toBe("is nested deeper than 100 levels");
    expect(jsonProblems(nested(100_000))).toHaveLength(1);
  });

  test("may have 100,000 keys, not one more", () => {
    const keyed = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, key) => [`k${key}`, 0]));
    expect(jsonProblems(keyed(100_000))).toEqual([]);
    expect(jsonProblems(keyed(100_001)).map(({ problem }) => problem)).toEqual(["has more than 100000 keys"]);
  });

  test("with keys that change what objects are is refused", () => {
    expect(jsonProblems(JSON.parse('{"__proto__":{"admin":true}}'))).toMatchObject([{ path: "$.__proto__" }]);
    expect(jsonProblems({ constructor: { prototype: { x: 1 } } })).toMatchObject([{ path: "$.constructor" }]);
    expect(jsonProblems({ constructor: "Bauhaus" })).toEqual([]);
  });

  test("may have a null prototype or come from another realm, but not be of a class", () => {
    expect(jsonProblems(Object.assign(Object.create(null), { a: 1 }))).toEqual([]);
    expect(jsonProblems(new Map([["a", 1]]))[0]?.problem).toContain("a Map");
    expect(jsonProblems(new (class Tile {})())[0]?.problem).toContain("a Tile");
    expect(jsonProblems(new Uint8Array(3))[0]?.problem).toContain("a Uint8Array");
  });

  test("with a hole in an array or a symbol as key is refused", () => {
    // biome-ignore lint/suspicious/noSparseArray: the hole is what is tested
    expect(jsonProblems([1, , 3])).toMatchObject([{ path: "$[1]" }]);
    expect(jsonProblems({ [Symbol("s")]: 1 })).toMatchObject([{ problem: "has a symbol as key" }]);
  });

  test("does not put a megabyte of a key into the message", () => {
    const [problem] = jsonProblems({ ["k".repeat(1_000_000)]: Number.NaN });
    expect(problem!.path.length).toBeLessThan(100);
  });
});

describe("a handler's result", () => {
  test("is judged as JSON.stringify writes it: undefined keys, dates, instances and large sums are fine", () => {
    class Tile {
      x = 1;
      y = undefined;
    }
    const result = {
      at: new Date(0),
      tile: new Tile(),
      none: undefined,
      sum_of_squares: 5.1e20,
      href: new URL("http://a/"),
    };
    expect(jsonProblems(result, result_limits)).toEqual([]);
  });

  test("is refused where JSON.stringify would silently lose it", () => {
    const result = { a: Number.NaN, b: new Map(), c: new Error("x"), d: Promise.resolve(), e: [undefined], f: 1n };
    expect(jsonProblems(result, result_limits).map(({ path }) => path)).toEqual([
      "$.a",
      "$.b",
      "$.c",
      "$.d",
      "$.e[0]",
      "$.f",
    ]);
  });
});

describe("JSON text", () => {
  test.each([
    ["", "the text ends too early (expected a value) at line 1, column 1"],
    ["{", "the text ends too early (expected a key in double quotes) at line 1, column 2"],
    ['{"a" 1}', "expected a colon after the key at line 1, column 6"],
    ['{\n  "a": 1,\n}', "expected a key in double quotes at line 3, column 1"],
    ["[1,]", "expected a value at line 1, column 4"],
    ["[1 2]", "expected a comma or ] at line 1, column 4"],
    ['{"a":1 "b":2}', "expected a comma or } at line 1, column 8"],
    ["{'a':1}", "expected a key in double quotes at line 1, column 2"],
    ['"abc', "a string that does not end at line 1, column 1"],
    ['"abc\\"', "a string that does not end at line 1, column 1"],
    ['"\\x"', "a string with a bad escape or a raw control character at line 1, column 1"],
    ['"a\nb"', "a string with a bad escape or a raw control character at line 1, column 1"],
    ["1 2", "something follows the end of the value at line 1, column 3"],
    ["01", "something follows the end of the value at line 1, column 2"],
    ["1.", "something follows the end of the value at line 1, column 2"],
    [".5", "expected a value at line 1, column 1"],
    ["+1", "expected a value at line 1, column 1"],
    ["NaN", "expected a value at line 1, column 1"],
    ["nul", "expected a value at line 1, column 1"],
    ["undefined", "expected a value at line 1, column 1"],
    ["// note\n1", "expected a value at line 1, column 1"],
    ["\u00a01", "expected a value at line 1, column 1"],
  ])("%j is refused with the place", (text, where) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(refusal(text)[0]?.problem).toBe(`is not JSON: ${where}`);
  });

  test("is read as JSON.parse reads it where nothing is wrong", () => {
    const text = ' { "a" : [ 1 , -2.5e-3 , true , false , null , "\\u0041\\n\\"\\\\\\/" ] , "b" : { } , "c" : [ ] } ';
    expect(parseJson(text)).toEqual(JSON.parse(text));
  });

  test("tells all that is wrong in one go, with the paths", () => {
    const text =
      '{"a":1,"a":2,"b":[1e400,12345678901234567890,1e-400],"c":{"x\\u0000":"\\ud800"},"__proto__":{"admin":true}}';
    expect(refusal(text)).toEqual([
      { path: "$.a", problem: "appears twice" },
      { path: "$.b[0]", problem: '"1e400" is beyond the range of a double' },
      { path: "$.b[1]", problem: "is an integer beyond ±9007199254740991, whose last digits would be lost" },
      { path: "$.b[2]", problem: '"1e-400" is too small for a double and would become 0' },
      { path: '$.c["x\\u0000"]', problem: "holds a NUL character (\\u0000), which Postgres cannot store" },
      { path: '$.c["x\\u0000"]', problem: "holds half a surrogate pair, which is no character" },
      { path: "$.__proto__", problem: "is a key that changes what objects are in JavaScript" },
    ]);
  });

  test("never gives an object another prototype, not even on the way to a refusal", () => {
    expect(refusal('{"a":{"__proto__":{"admin":true}}}')).toHaveLength(1);
    expect((Object.prototype as { admin?: unknown }).admin).toBeUndefined();
  });

  test("100,000 levels deep is refused without using up the stack", () => {
    expect(refusal("[".repeat(100_000))[0]?.problem).toBe("is nested deeper than 100 levels");
    expect(refusal('{"a":'.repeat(100_000))[0]?.problem).toBe("is nested deeper than 100 levels");
  });

  test("with a million keys is refused", () => {
    const distinct = Array.from({ length: 100_001 }, (_, key) => `"k${key}":0`).join(",");
    const text = `{${distinct}${',"more":0'.repeat(900_000)}}`;
    expect(refusal(text)).toMatchObject([{ problem: "has more than 100000 keys" }]);
  });

  test("with one very long string is read without using up the stack", () => {
    const text = JSON.stringify(`${'\\"'.repeat(2_000_000)}end`);
    expect(parseJson(text)).toBe(JSON.parse(text));
  });

  test("with a thousand mistakes names twenty", () => {
    expect(refusal(`[${"1e400,".repeat(1000)}1]`)).toHaveLength(20);
  });
});

describe("JSON bytes", () => {
  const utf8 = (text: string) => new TextEncoder().encode(text);

  test("in UTF-8 are read", () => {
    expect(parseJson(utf8('{"name":"Zürich 😀"}'))).toEqual({ name: "Zürich 😀" });
  });

  test.each([
    ["with a byte order mark", utf8('\uFEFF{"a":1}'), "starts with a byte order mark"],
    ["in UTF-16 with a mark", new Uint8Array([0xff, 0xfe, 0x7b, 0, 0x7d, 0]), "is not UTF-8 (it looks like UTF-16)"],
    ["in UTF-16 without a mark", new Uint8Array([0x7b, 0, 0x7d, 0]), "is not UTF-8 (it looks like UTF-16)"],
    ["in big-endian UTF-16", new Uint8Array([0, 0x7b, 0, 0x7d]), "is not UTF-8 (it looks like UTF-16)"],
    ["that are not UTF-8", new Uint8Array([0x22, 0xc3, 0x28, 0x22]), "is not valid UTF-8"],
    ["that are cut inside a character", utf8('"ä"').slice(0, 2), "is not valid UTF-8"],
    ["with an encoded surrogate", new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22]), "is not valid UTF-8"],
  ])("%s are refused", (_, bytes, problem) => {
    expect(refusal(bytes)).toEqual([{ path: "$", problem }]);
  });
});

describe("a text of very many values", () => {
  const limits = { ...json_limits, max_values: 10 };
  test.each([
    ["items", `[${"0,".repeat(10)}0]`],
    ["empty objects", `{"items":[${"{},".repeat(9)}{}]}`],
    ["keys and items", `{"a":[1,2,3,4],"b":{"c":[1,2,3,4]}}`],
  ])("is refused at the first too many: %s", (_, text) => {
    expect(() => parseJson(text, limits)).toThrow("holds more than 10 values");
    expect(() => parseLoosely(Buffer.from(text), 10)).toThrow("holds more than 10 values");
  });

  test("is read up to the limit, and what stands in texts is not counted", () => {
    const text = `["${",[{".repeat(20)}\\",","${"\\\\"}",${"0,".repeat(7)}0]`;
    expect(parseJson(text, limits)).toHaveLength(10);
    expect(parseLoosely(Buffer.from(text), 10)).toEqual(parseJson(text, limits));
  });
});

test.each([
  "0",
  "-0",
  "10",
  "01",
  "007",
  "1.",
  "12.5",
  "1e3",
  "123456789",
  "1234567890",
  "9007199254740993",
  "1x",
  "-",
  "",
])("the number %j is read as JSON.parse reads it, or refused", (text) => {
  let expected: unknown;
  try {
    expected = JSON.parse(`[${text === "" ? "," : text}]`);
  } catch {
    expect(() => parseJson(`[${text === "" ? "," : text}]`)).toThrow("is not JSON");
    return;
  }
  if (text === "9007199254740993") expect(() => parseJson(`[${text}]`)).toThrow("integer beyond");
  else expect(parseJson(`[${text}]`)).toEqual(text === "-0" ? [0] : expected);
});
