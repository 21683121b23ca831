// The form that is made of a parameter schema: what it shows, what it makes of what is typed, and that no schema can break it.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { checkValue } from "../../dashboard/src/form/checks.js";
import { chosenAlternative, starterOf } from "../../dashboard/src/form/choices.js";
import { readSchema, type Shape } from "../../dashboard/src/form/schema.js";
import {
  readNumber,
  readValue,
  Unfinished,
  type Value,
  valueAt,
  withValueAt,
  writeValue,
} from "../../dashboard/src/form/values.js";
import { readJsonSchema } from "../../src/core/declare/parameter_schema.js";
import { Report } from "../../src/core/declare/report.js";
import { builtinRegistry } from "../../src/jobs/index.js";

const schemaOf = (schema: z.ZodType) => readJsonSchema(schema, new Report([], "")) as unknown;
const shapeOf = (schema: unknown, root: unknown = schema) => readSchema(schema, root).shape;
const problemsOf = (schema: unknown, value: unknown) =>
  checkValue(schema, readValue(JSON.stringify(value)), schema).map(({ path, problem }) => `${path} ${problem}`);

function property(schema: unknown, name: string) {
  const shape = shapeOf(schema) as Extract<Shape, { kind: "object" }>;
  const found = shape.properties.find((one) => one.name === name);
  return { required: found?.required, ...readSchema(found?.schema, schema) };
}

const everything = schemaOf(
  z.object({
    name: z
      .string()
      .min(2)
      .max(10)
      .describe("What it is called")
      .meta({ examples: ["dem"] }),
    n: z.int().min(1).max(10).default(3),
    ratio: z.number().gt(0).lt(1).optional(),
    flag: z.boolean().default(false),
    mode: z.enum(["fast", "good"]),
    kind: z.literal("raster"),
    tags: z.array(z.string().min(1)).min(1).max(3),
    bbox: z.tuple([z.number(), z.number(), z.number(), z.number()]).optional(),
    size: z.array(z.int()).length(2).optional(),
    window: z.object({ from: z.iso.date(), until: z.iso.datetime().nullable() }).optional(),
    parts: z.array(z.object({ id: z.int(), note: z.string().optional() })).optional(),
    labels: z.record(z.string(), z.string()).optional(),
    nothing: z.string().nullable().default(null),
    source: z.discriminatedUnion("type", [
      z.object({ type: z.literal("file"), path: z.string() }),
      z.object({ type: z.literal("url"), url: z.url() }),
    ]),
    either: z.union([z.string(), z.int()]).optional(),
    anything: z.unknown().optional(),
  }),
);

describe("a schema as fields", () => {
  test("every kind of parameter becomes its kind of field, with its bounds, default and help", () => {
    expect(property(everything, "name")).toMatchObject({
      required: true,
      description: "What it is called",
      examples: ["dem"],
      shape: { kind: "text", least: 2, most: 10 },
    });
    const n = property(everything, "n");
    expect(n.shape).toMatchObject({ kind: "number", whole: true, minimum: { value: 1 }, maximum: { value: 10 } });
    expect([n.required, writeValue(n.default)]).toEqual([false, "3"]);
    expect(property(everything, "ratio").shape).toMatchObject({
      minimum: { value: 0, inclusive: false },
      maximum: { value: 1, inclusive: false },
    });
    expect(property(everything, "flag").shape.kind).toBe("boolean");
    expect(property(everything, "mode").shape).toEqual({ kind: "enum", values: ["fast", "good"] });
    expect(property(everything, "kind").shape).toEqual({ kind: "const", value: "raster" });
    expect(property(everything, "tags").shape).toMatchObject({ kind: "list", least: 1, most: 3 });
    expect(property(everything, "bbox").shape).toMatchObject({ kind: "tuple", rest: null });
    expect((property(everything, "size").shape as { items: unknown[] }).items).toHaveLength(2);
    expect(property(everything, "window").shape.kind).toBe("object");
    expect(property(everything, "labels").shape.kind).toBe("record");
    expect(property(everything, "nothing")).toMatchObject({ nullable: true, shape: { kind: "text" }, default: null });
    expect(property(everything, "source").shape).toMatchObject({
      kind: "choice",
      alternatives: [{ label: "file" }, { label: "url" }],
    });
    expect(property(everything, "either").shape.kind).toBe("choice");
    expect(property(everything, "anything").shape.kind).toBe("json");
  });

  test("the parameters of every job that comes with Fanfold are fields, none of them left to JSON", () => {
    for (const { blueprint } of builtinRegistry().jobs.values()) {
      const shape = shapeOf(blueprint.parameters) as Extract<Shape, { kind: "object" }>;
      expect(shape.kind).toBe("object");
      for (const { name, schema } of shape.properties) {
        expect([name, readSchema(schema, blueprint.parameters).shape.kind]).not.toEqual([name, "json"]);
      }
    }
  });
});

describe("values", () => {
  test("what is read as JSON is written again with every digit, in the order it had", () => {
    for (const text of [
      '{"b":1.0,"a":12345678901234567890123,"c":1e400,"d":-0.10}',
      '{"__proto__":{"x":1},"constructor":[null,true,"\\u0000"],"":[]}',
      "[[],{},[[1]]]",
    ]) {
      expect(writeValue(readValue(text))).toBe(text);
    }
  });

  test("a number is what was typed; what is none stays as text and is told", () => {
    expect(["7", "1.50", " -3 ", ".5", "+4", "5.", "1e3"].map((text) => writeValue(readNumber(text)))).toEqual([
      "7",
      "1.50",
      "-3",
      "0.5",
      "4",
      "5",
      "1e3",
    ]);
    expect(readNumber("")).toBeUndefined();
    for (const text of ["-", "1,000", "0x10", "NaN", "1e", "12a", "Infinity"]) {
      expect(readNumber(text)).toBeInstanceOf(Unfinished);
    }
    const schema = { type: "object", properties: { n: { type: "number" } } };
    expect(checkValue(schema, { n: readNumber("12a") }, schema)).toMatchObject([
      { path: "$.n", problem: "is not a number: 12a" },
    ]);
  });

  test("changing one place leaves all others as they were, and names like __proto__ are only names", () => {
    let value: Value = readValue('{"a":{"b":[1,2.0]},"z":1}');
    value = withValueAt(value, ["a", "b", 1], readNumber("3"));
    value = withValueAt(value, ["__proto__", "polluted"], true);
    expect(writeValue(value)).toBe('{"a":{"b":[1,3]},"z":1,"__proto__":{"polluted":true}}');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(writeValue(valueAt(value, ["a", "b"]))).toBe("[1,3]");
    expect(valueAt(value, ["constructor"])).toBeUndefined();
    expect(writeValue(withValueAt(value, ["a"], undefined))).toBe('{"z":1,"__proto__":{"polluted":true}}');
  });

  test("a form begins with what is fixed, and an alternative is known again by it", () => {
    expect(starterOf(everything, everything)).toEqual({ kind: "raster" });
    const { shape } = property(everything, "source");
    const { alternatives } = shape as Extract<Shape, { kind: "choice" }>;
    expect(starterOf(alternatives[1]?.schema, everything)).toEqual({ type: "url" });
    expect(chosenAlternative(alternatives, readValue('{"type":"url","url":""}'), everything)).toBe(1);
    expect(chosenAlternative(alternatives, readValue('{"type":"file"}'), everything)).toBe(0);
    expect(chosenAlternative(alternatives, undefined, everything)).toBeNull();
  });
});

describe("checks as one types", () => {
  test("they say what the server would say, at the same places", () => {
    const given = {
      name: "x",
      n: 11.5,
      mode: "bad",
      kind: "vector",
      tags: [],
      extra: 1,
      source: { type: "url", url: "nope" },
    };
    expect(problemsOf(everything, given)).toEqual([
      "$.name must have at least 2 characters",
      "$.n expected a whole number, got 11.5",
      "$.mode is none of the values it may have",
      "$.kind must be raster",
      "$.tags must have at least 1 entry",
      "$.source.url is not an address",
      '$.extra "extra" is not known',
    ]);
    expect(problemsOf(everything, {})).toEqual([
      "$.name is missing",
      "$.mode is missing",
      "$.kind is missing",
      "$.tags is missing",
      "$.source is missing",
    ]);
    const good = { name: "dem", mode: "fast", kind: "raster", tags: ["a"], source: { type: "file", path: "x" } };
    expect(problemsOf(everything, good)).toEqual([]);
    const more = { window: { from: "2030-02-30", until: "yesterday" }, bbox: [1, 2, 3], parts: [{ id: "1" }] };
    expect(problemsOf(everything, { ...good, ...more })).toEqual([
      "$.bbox[3] is missing",
      "$.window.from is not a date",
      "$.window.until is not a time",
      "$.parts[0].id expected a whole number, got text",
    ]);
  });
});

describe("schemas of anybody", () => {
  const looked = (schema: unknown, value: Value = {}) => {
    const read = readSchema(schema, schema);
    checkValue(schema, value, schema);
    starterOf(schema, schema);
    return read.shape.kind;
  };

  test("what is no schema at all, or says nothing, is a field for JSON", () => {
    for (const schema of [null, undefined, 5, "x", [], true, false, { type: 7 }, { type: "what" }, { $ref: 3 }, {}]) {
      expect(looked(schema)).toBe("json");
    }
    expect(looked({ type: "object", properties: null, required: "x" })).toBe("record");
    expect(looked({ type: "array", items: 3, minItems: "x" }, [1 as never])).toBe("list");
    expect(looked({ enum: [] })).toBe("json");
    expect(looked({ anyOf: [] })).toBe("json");
    expect(looked({ allOf: [{ type: "string" }, { minLength: 1 }] })).toBe("json");
  });

  test("references that go round, lead out or lead nowhere end", () => {
    expect(looked({ $ref: "#" })).toBe("json");
    expect(looked({ $ref: "https://example.com/schema" })).toBe("json");
    expect(looked({ $ref: "#/$defs/__proto__", $defs: {} })).toBe("json");
    expect(looked({ $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" })).toBe("json");
    const tree = schemaOf(
      z.object({
        name: z.string(),
        get children() {
          return z.array(tree_schema).optional();
        },
      }),
    );
    expect(looked(tree)).toBe("object");
    let deep: unknown = { name: "leaf" };
    for (let n = 0; n < 200; n++) deep = { name: "n", children: [deep] };
    expect(checkValue(tree, readValue(JSON.stringify(deep)), tree)).toEqual([]);
  });

  test("alternatives within alternatives are not tried for ever", () => {
    let schema: unknown = { type: "string" };
    for (let n = 0; n < 30; n++) {
      schema = {
        anyOf: [1, 2, 3, 4].map((k) => ({ type: "object", properties: { [`k${k}`]: { type: "string" }, x: schema } })),
      };
    }
    let value: Value = "x";
    for (let n = 0; n < 30; n++) value = { x: value };
    expect(looked(schema, value)).toBe("choice");
  });

  test("a pattern that could take for ever is left to the server", () => {
    const schema = { type: "string", pattern: "^(a+)+$" };
    expect(checkValue(schema, `${"a".repeat(60)}!`, schema)).toEqual([]);
    const plain = { type: "string", pattern: "^[a-z]+$" };
    expect(checkValue(plain, "A", plain)).toHaveLength(1);
  });

  test("thousands of fields, of values and of names do not become thousands of inputs", () => {
    const properties = Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`p${n}`, { type: "string" }]));
    expect(looked({ type: "object", properties })).toBe("json");
    expect(looked({ enum: Array.from({ length: 50_000 }, (_, n) => n) })).toBe("json");
    expect(looked({ oneOf: Array.from({ length: 500 }, () => ({ type: "object" })) })).toBe("json");
  });
});

const tree_schema: z.ZodType = z.object({
  name: z.string(),
  get children() {
    return z.array(tree_schema).optional();
  },
});
