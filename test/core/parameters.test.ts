// Parameters at submit: validated, defaulted, canonicalised, or refused with every problem at once.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineJob, type Job } from "../../src/core/declare/declare.js";
import { max_parameter_bytes, validateParameters } from "../../src/core/declare/parameters.js";
import { ParameterError, TooLarge } from "../../src/core/errors/errors.js";

const jobWith = (parameters?: z.ZodObject, identity?: string[]): Job =>
  defineJob({ type: "j", parameters, identity, stages: [{ name: "a", task: "t" }] }) as Job;

async function problemsOf(job: Job, input: unknown): Promise<string[]> {
  try {
    await validateParameters(job, input);
  } catch (error) {
    if (error instanceof ParameterError)
      return error.problems.map(({ path, problem, fix }) => `${path}: ${problem} → ${fix}`);
    throw error;
  }
  return [];
}

const raster = jobWith(
  z.object({
    source: z.string(),
    target_crs: z.string().default("EPSG:4326"),
    tile_px: z.int().min(16).default(5120),
    note: z.string().optional(),
  }),
);

describe("good parameters", () => {
  test("get their defaults and a canonical form", async () => {
    expect(await validateParameters(raster, { tile_px: 256, source: "a.tif" })).toEqual({
      parameters: { source: "a.tif", target_crs: "EPSG:4326", tile_px: 256 },
      canonical: '{"source":"a.tif","target_crs":"EPSG:4326","tile_px":256}',
      identity_canonical: '{"source":"a.tif","target_crs":"EPSG:4326","tile_px":256}',
    });
  });

  test("are the same whatever the order of keys, written defaults, 1.0 for 1, or undefined for absent", async () => {
    const spellings = [
      { source: "a", tile_px: 256 },
      { tile_px: 256.0, source: "a" },
      { source: "a", target_crs: "EPSG:4326", tile_px: 256, note: undefined },
    ];
    const canonical = await Promise.all(
      spellings.map(async (input) => (await validateParameters(raster, input)).canonical),
    );
    expect(new Set(canonical).size).toBe(1);
  });

  test("differ by Unicode form, because file names do", async () => {
    const composed = await validateParameters(raster, { source: "\u00e9" });
    const decomposed = await validateParameters(raster, { source: "e\u0301" });
    expect(composed.canonical).not.toBe(decomposed.canonical);
  });

  test("of a job without a schema are any object", async () => {
    expect(await validateParameters(jobWith(), { b: 1, a: [] })).toMatchObject({ canonical: '{"a":[],"b":1}' });
    expect(await validateParameters(jobWith(), undefined)).toMatchObject({ parameters: {}, canonical: "{}" });
  });

  test("may be left out where everything has a default", async () => {
    const job = jobWith(z.object({ n: z.int().default(3) }));
    expect((await validateParameters(job, undefined)).parameters).toEqual({ n: 3 });
  });

  test("are what the schema makes of them", async () => {
    const job = jobWith(z.object({ name: z.string().trim().toLowerCase(), n: z.coerce.number() }));
    expect((await validateParameters(job, { name: " ABC ", n: "5" })).canonical).toBe('{"n":5,"name":"abc"}');
  });

  test("may be checked and made asynchronously", async () => {
    const job = jobWith(
      z.object({
        name: z.string().refine(async (name) => name !== "bad", "is bad"),
        size: z.string().transform(async (text) => text.length),
      }),
    );
    expect((await validateParameters(job, { name: "good", size: "abc" })).parameters).toEqual({
      name: "good",
      size: 3,
    });
    expect(await problemsOf(job, { name: "bad", size: "abc" })).toEqual(["$.name: is bad → "]);
  });

  test("are not changed by being validated", async () => {
    const input = Object.freeze({ source: "a" });
    await validateParameters(raster, input);
    expect(input).toEqual({ source: "a" });
  });
});

describe("identity", () => {
  const schema = z.object({ source: z.string(), note: z.string().optional(), verbose: z.boolean().default(false) });

  test("is the canonical form of the parameters that are named", async () => {
    const job = jobWith(schema, ["source", "note"]);
    const quiet = await validateParameters(job, { source: "a", verbose: false });
    const loud = await validateParameters(job, { source: "a", verbose: true });
    expect(quiet.identity_canonical).toBe('{"source":"a"}');
    expect(loud.identity_canonical).toBe(quiet.identity_canonical);
    expect(loud.canonical).not.toBe(quiet.canonical);
    expect((await validateParameters(job, { source: "a", note: "n" })).identity_canonical).toBe(
      '{"note":"n","source":"a"}',
    );
  });
});

describe("bad parameters", () => {
  test("are told all at once, with their paths", async () => {
    expect(await problemsOf(raster, { sorce: "a.tif", tile_px: 1.5, target_crs: 5 })).toEqual([
      '$.sorce: "sorce" is not known → Did you mean "source"?',
      "$.source: is missing → Give a text.",
      "$.target_crs: expected a text, got a number → Give a text.",
      "$.tile_px: expected a whole number, got 1.5 → Give a whole number.",
    ]);
  });

  test.each([
    [null, "$: must be an object, not null"],
    [[], "$: must be an object, not an array"],
    ["x", "$: must be an object, not a string"],
    [5, "$: must be an object, not a number"],
  ])("like %j are no object", async (input, expected) => {
    expect((await problemsOf(raster, input))[0]).toContain(expected);
    expect((await problemsOf(jobWith(), input))[0]).toContain(expected);
  });

  test.each<[string, unknown, string]>([
    [
      "__proto__",
      JSON.parse('{"source":"a","__proto__":{"admin":true}}'),
      "$.__proto__: is a key that changes what objects are",
    ],
    ["constructor.prototype", { source: "a", constructor: { prototype: {} } }, "$.constructor: is a key that changes"],
    ["toString", { source: "a", toString: 1 }, '$.toString: "toString" is not known'],
    ["a NUL", { source: "a\0" }, "$.source: holds a NUL character"],
    ["half a surrogate pair", { source: "\ud800" }, "$.source: holds half a surrogate pair"],
    ["NaN", { source: "a", tile_px: Number.NaN }, "$.tile_px: NaN is not a number"],
    ["a long integer", { source: "a", tile_px: 2 ** 60 }, "$.tile_px: is an integer beyond"],
    ["a bigint", { source: "a", tile_px: 5n }, "$.tile_px: is a bigint"],
    ["a Date", { source: new Date(0) }, "$.source: is a Date, which JSON does not know → Use .toISOString()."],
    ["a function", { source: () => "a" }, "$.source: is a function"],
  ])("with %s are refused, with or without a schema", async (_, input, expected) => {
    expect(await problemsOf(raster, input)).toContainEqual(expect.stringContaining(expected));
    if (!expected.includes("not known")) {
      expect(await problemsOf(jobWith(), input)).toContainEqual(expect.stringContaining(expected));
    }
  });

  test("that JSON cannot hold are told together with what the schema says, once per path", async () => {
    const problems = await problemsOf(raster, { tile_px: Number.NaN, sorce: "a" });
    expect(problems.map((problem) => problem.split(":")[0])).toEqual(["$.tile_px", "$.sorce", "$.source"]);
  });

  test("that contain themselves do not reach the schema", async () => {
    interface Tree {
      children: Tree[];
    }
    const tree: z.ZodType<Tree> = z.lazy(() => z.object({ children: z.array(tree) }));
    const root: Tree = { children: [] };
    root.children.push(root);
    expect(await problemsOf(jobWith(z.object({ root: tree })), { root })).toEqual([
      "$.root.children[0]: contains itself → Send a tree: refer to the other place by a name.",
    ]);
  });

  test("with unknown keys are refused at every depth, through every wrapper", async () => {
    interface Tree {
      children: Tree[];
    }
    const tree: z.ZodType<Tree> = z.lazy(() => z.object({ children: z.array(tree) }));
    const job = jobWith(
      z.object({
        options: z.object({ crs: z.string() }).optional(),
        list: z.array(z.object({ x: z.int() })).default([]),
        pair: z.tuple([z.object({ a: z.int() }), z.object({ b: z.int() })]).optional(),
        map: z
          .record(z.string(), z.object({ v: z.int() }))
          .nullable()
          .optional(),
        kind: z.discriminatedUnion("is", [
          z.object({ is: z.literal("a"), size: z.int() }),
          z.object({ is: z.literal("b"), weight: z.int() }),
        ]),
        both: z.intersection(z.object({ l: z.int() }), z.object({ r: z.int() })).optional(),
        open: z.looseObject({ known: z.object({ z: z.int() }) }).optional(),
        strict: z.strictObject({ s: z.int() }).optional(),
        tree: tree.optional(),
        piped: z
          .object({ p: z.int() })
          .transform((value) => value.p)
          .optional(),
      }),
    );
    const problems = await problemsOf(job, {
      options: { crs: "x", csr: 1 },
      list: [{ x: 1 }, { x: 1, y: 2 }],
      pair: [{ a: 1 }, { b: 1, bb: 2 }],
      map: { any: { v: 1, w: 2 } },
      kind: { is: "a", size: 1, weight: 2 },
      both: { l: 1, r: 2, m: 3 },
      open: { known: { z: 1, zz: 2 }, other: 1 },
      strict: { s: 1, t: 2 },
      tree: { children: [{ children: [], child: 1 }] },
      piped: { p: 1, pp: 2 },
    });
    expect(problems.map((problem) => problem.split(":")[0])).toEqual([
      "$.options.csr",
      "$.list[1].y",
      "$.pair[1].bb",
      "$.map.any.w",
      "$.kind.weight",
      "$.both.m",
      "$.open.known.zz",
      "$.strict.t",
      "$.tree.children[0].child",
      "$.piped.pp",
    ]);
  });

  test("that fit no alternative say what the alternatives were", async () => {
    const job = jobWith(z.object({ size: z.union([z.int(), z.literal("auto")]) }));
    expect(await problemsOf(job, { size: true })).toEqual([
      '$.size: fits none of the alternatives → expected a number, got true or false · Invalid input: expected "auto"',
    ]);
  });

  test("whose schema itself throws are refused with that reason", async () => {
    const job = jobWith(
      z.object({
        n: z.int().refine(() => {
          throw new Error("no such table");
        }),
      }),
    );
    expect(await problemsOf(job, { n: 1 })).toEqual([
      "$: the schema itself failed: no such table → Repair the check or transform in the job's declaration.",
    ]);
  });

  test("that a transform turns into something JSON cannot hold are refused", async () => {
    const job = jobWith(z.object({ at: z.string().transform((text) => new Date(text)) }));
    expect(await problemsOf(job, { at: "2020-01-01" })).toEqual([
      "$.at: after the schema's transforms, is a Date, which JSON does not know → Let the transform return JSON.",
    ]);
  });

  test("with a thousand mistakes are told with twenty", async () => {
    const input = { source: "a", ...Object.fromEntries(Array.from({ length: 1000 }, (_, key) => [`k${key}`, 1])) };
    expect(await problemsOf(raster, input)).toHaveLength(20);
  });

  test("never reach the prototype of all objects", async () => {
    await problemsOf(raster, JSON.parse('{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}'));
    expect(({} as { admin?: unknown }).admin).toBeUndefined();
  });
});

describe("the size of parameters", () => {
  const job = jobWith(z.object({ text: z.string() }));
  const frame = '{"text":""}'.length;

  test.each([
    ["one byte each", "x", 1],
    ["two bytes each", "ä", 2],
    ["three bytes each", "€", 3],
    ["four bytes each", "😀", 4],
  ])("is measured in bytes of UTF-8, with characters of %s", async (_, character, width) => {
    const room = max_parameter_bytes - frame;
    const text = character.repeat(Math.floor(room / width)) + "x".repeat(room % width);
    const { canonical } = await validateParameters(job, { text });
    expect(Buffer.byteLength(canonical)).toBe(262_144);
    await expect(validateParameters(job, { text: `${text}x` })).rejects.toThrow(TooLarge);
  });

  test("over the limit is told with size and limit", async () => {
    const text = "x".repeat(max_parameter_bytes - frame + 1);
    await expect(validateParameters(job, { text })).rejects.toThrow(
      "The parameters of j are too large:\n- $: 262145 bytes of parameters; the limit is 262144\n",
    );
  });

  test("counts the defaults and the escapes too", async () => {
    const quotes = "\n".repeat((max_parameter_bytes - frame) / 2);
    await expect(validateParameters(job, { text: quotes })).resolves.toBeDefined();
    await expect(validateParameters(job, { text: `${quotes}\n` })).rejects.toThrow(TooLarge);
    const defaulted = jobWith(z.object({ text: z.string().default("x".repeat(300_000)) }));
    await expect(validateParameters(defaulted, {})).rejects.toThrow(TooLarge);
  });
});
