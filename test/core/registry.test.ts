// Every wrong declaration is refused before anything runs, all of them at once, each with what to do.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { createRegistry, findHandler, findJob } from "../../src/core/declare/registry.js";
import { NotFound } from "../../src/core/errors/errors.js";
import { type Anything, problemsOf, problemsOfJob, work } from "./wrong_declarations.js";

test("a good registry finds its jobs and handlers", () => {
  const job = defineJob({ type: "j", stages: [{ name: "a", task: "work" }] });
  const registry = createRegistry({ jobs: [job], handlers: [work] });
  expect([...registry.jobs.keys()]).toEqual(["j"]);
  expect(registry.handlers.get("work")).toBe(work);
  expect(findJob(registry, "j")).toBe(registry.jobs.get("j"));
  expect(findJob(registry, job).type).toBe("j");
  expect(findHandler(registry, "work")).toBe(work);
});

test("an empty registry is one, and jobs or handlers may be left out", () => {
  expect(createRegistry({}).jobs.size).toBe(0);
  expect(createRegistry({ handlers: [work] }).handlers.size).toBe(1);
});

test("a stage's time-out is its own, else its handler's, else half an hour", () => {
  const slow = defineHandler("slow", { timeout_s: 7200 }, () => null);
  const job = defineJob({
    type: "j",
    stages: [
      { name: "a", task: "work" },
      { name: "b", task: "slow" },
      { name: "c", task: "slow", timeout_s: 5 },
    ],
  });
  const registered = findJob(createRegistry({ jobs: [job], handlers: [work, slow] }), "j");
  expect(registered.blueprint.stages.map(({ timeout_s }) => timeout_s)).toEqual([1800, 7200, 5]);
  expect(job.blueprint.stages.map(({ timeout_s }) => timeout_s)).toEqual([null, null, 5]);
});

describe("an unknown type", () => {
  const job = defineJob({ type: "process_raster", stages: [{ name: "a", task: "work" }] });
  const registry = createRegistry({ jobs: [job], handlers: [work] });

  test.each(["constructor", "toString", "__proto__", "hasOwnProperty", "../../x", "", "process_rasters"])(
    "%j is not found",
    (type) => {
      expect(() => findJob(registry, type)).toThrow(NotFound);
      expect(() => findHandler(registry, type)).toThrow(NotFound);
    },
  );

  test("is told with what was perhaps meant", () => {
    expect(() => findJob(registry, "proces_raster")).toThrow(
      expect.objectContaining({
        hint: 'Did you mean "process_raster"?',
        message: 'There is no job type "proces_raster".',
      }),
    );
    expect(() => findHandler(registry, "wrok")).toThrow(expect.objectContaining({ hint: 'Did you mean "work"?' }));
  });

  test("that JavaScript objects know may be declared like any other", () => {
    const odd = defineJob({ type: "constructor", stages: [{ name: "valueof", task: "work" }] });
    const registry = createRegistry({ jobs: [odd], handlers: [work] });
    expect(findJob(registry, "constructor").type).toBe("constructor");
    expect(() => findJob(registry, "toString")).toThrow(NotFound);
  });
});

test("all problems of all declarations are told in one error", () => {
  const problems = problemsOf({
    jobs: [
      defineJob({ type: "Bad Type", stages: [{ name: "a", task: "work", max_parallel: 0 }] }),
      defineJob({ type: "j", stages: [{ name: "x", task: "wrok", after: ["y"] }] }),
    ],
    handlers: [work, defineHandler("work", {}, () => null), defineHandler("Bad", {}, () => null)],
  });
  expect(problems).toEqual([
    "createRegistry, handler work: is registered twice → Rename or remove one.",
    'handler Bad: "Bad" is not a task type: words of small letters, digits and _ joined by dots, at most 63 characters → Write e.g. "raster.cog_tile".',
    'job Bad Type, type: "Bad Type" is not a name: a small letter, then small letters, digits and _, at most 63 characters → Write e.g. "process_raster".',
    "job Bad Type, stage a, max_parallel: must be a whole number from 1 to 1000000, not 0 → Correct it or leave it out.",
    'job j, stage x, after: "y" is no stage of this job → Did you mean "x"?',
    'job j, stage x: no handler is called "wrok" → Did you mean "work"?',
  ]);
});

test("the message lists them with where, what and what to do", () => {
  const job = defineJob({ type: "j", stages: [{ name: "a", task: "wrok" }] });
  expect(() => createRegistry({ jobs: [job], handlers: [work] })).toThrow(
    'A declaration is wrong:\n- job j, stage a: no handler is called "wrok"\n  Did you mean "work"?',
  );
});

describe("a job", () => {
  test.each<[string, Anything, string]>([
    ["that is null", null, "job without a name: must be an object, not null"],
    ["without a type", { stages: [{ name: "a", task: "work" }] }, "type: must be a string, not undefined"],
    ["with a path as type", { type: "../../x", stages: [{ name: "a", task: "work" }] }, '"../../x" is not a name'],
    ["without stages", { type: "j" }, "stages: must be a list of 1 to 1000 stages"],
    ["with an empty list of stages", { type: "j", stages: [] }, "stages: must be a list of 1 to 1000 stages"],
    ["with a stage that is null", { type: "j", stages: [null] }, "stage 1: must be an object, not null"],
    [
      "with a misspelt key",
      { type: "j", stage: [], stages: [{ name: "a", task: "work" }] },
      'unknown key "stage" → Did you mean "stages"?',
    ],
    [
      "with a description that is no text",
      { type: "j", description: 5, stages: [{ name: "a", task: "work" }] },
      "description: must be text",
    ],
  ])("%s is refused", (_, declaration, expected) => {
    expect(problemsOfJob(declaration)).toContainEqual(expect.stringContaining(expected));
  });

  test("registered twice is refused", () => {
    const job = () => defineJob({ type: "j", stages: [{ name: "a", task: "work" }] });
    expect(problemsOf({ jobs: [job(), job()], handlers: [work] })).toEqual([
      "createRegistry, job j: is registered twice → Rename or remove one.",
    ]);
  });
});

describe("the registry's own argument", () => {
  test.each<[string, Anything, string]>([
    ["null", null, "must be an object, not null"],
    ["a misspelt key", { job: [] }, 'unknown key "job" → Did you mean "jobs"?'],
    ["jobs that are no list", { jobs: {} }, "jobs: must be a list, not an object"],
    [
      "a job that was not defined",
      { jobs: [{ type: "j" }] },
      "jobs[0]: is not a job but an object → Give what defineJob returned.",
    ],
    ["a handler among the jobs", { jobs: [work] }, "jobs[0]: is not a job"],
    ["a function as handler", { handlers: [() => 1] }, "handlers[0]: is not a handler but a function"],
    ["null as handler", { handlers: [null] }, "handlers[0]: is not a handler but null"],
  ])("%s is refused", (_, parts, expected) => {
    expect(problemsOf(parts)).toContainEqual(expect.stringContaining(expected));
  });
});

describe("parameters", () => {
  const stages = [{ name: "a", task: "work" }];

  test.each<[string, Anything, string]>([
    ["a JSON Schema", { type: "object" }, "parameters: is not a zod schema but an object"],
    ["null", null, "parameters: is not a zod schema but null"],
    ["a function", () => true, "parameters: is not a zod schema but a function"],
    ["a zod string", z.string(), "parameters: is a zod string, but parameters are an object"],
    ["a zod array", z.array(z.object({})), "parameters: is a zod array"],
    ["a transformed object", z.object({}).transform((value) => value), "parameters: is a zod pipe"],
    [
      "a schema of zod 3",
      { _def: { typeName: "ZodObject" }, safeParse() {} },
      "parameters: is a schema of another zod version",
    ],
    ["a date", z.object({ at: z.date() }), "parameters: cannot become a JSON Schema: Date cannot be represented"],
    ["a bigint", z.object({ n: z.bigint() }), "parameters: cannot become a JSON Schema"],
    ["a map", z.object({ m: z.map(z.string(), z.string()) }), "parameters: cannot become a JSON Schema"],
    ["a custom type", z.object({ c: z.custom<string>() }), "parameters: cannot become a JSON Schema"],
    ["a key that changes what objects are", z.object({ ["__proto__"]: z.string() }), "changes what objects are"],
  ])("that are %s are refused", (_, parameters, expected) => {
    expect(problemsOfJob({ type: "j", parameters, stages })).toContainEqual(expect.stringContaining(expected));
  });

  test("may transform, preprocess, refine and recur, as long as what is sent is JSON", () => {
    interface Tree {
      name: string;
      children?: Tree[] | undefined;
    }
    const tree: z.ZodType<Tree> = z.lazy(() => z.object({ name: z.string(), children: z.array(tree).optional() }));
    const parameters = z
      .object({
        at: z.iso.datetime(),
        length: z.string().transform((text) => text.length),
        n: z.preprocess((value) => Number(value), z.number()),
        tree,
      })
      .refine(() => true);
    expect(problemsOfJob({ type: "j", parameters, stages })).toEqual([]);
  });

  test.each<[string, Anything, Anything, string]>([
    [
      "an unknown parameter",
      z.object({ source: z.string() }),
      ["sorce"],
      'identity: "sorce" is no parameter → Did you mean "source"?',
    ],
    ["a method of objects", z.object({ a: z.string() }), ["toString"], 'identity: "toString" is no parameter'],
    ["a parameter twice", z.object({ a: z.string() }), ["a", "a"], 'identity: names "a" twice'],
    ["nothing", z.object({ a: z.string() }), [], "identity: must be a list of parameter names"],
    ["a text", z.object({ a: z.string() }), "a", "identity: must be a list of parameter names"],
    ["something where there are no parameters", undefined, ["a"], 'identity: "a" is no parameter → There are none.'],
  ])("whose identity names %s are refused", (_, parameters, identity, expected) => {
    const job = { type: "j", identity, stages, ...(parameters === undefined ? {} : { parameters }) };
    expect(problemsOfJob(job)).toContainEqual(expect.stringContaining(expected));
  });
});

describe("a handler", () => {
  const problemsOfHandler = (...parts: Anything[]) => problemsOf({ handlers: [(defineHandler as Anything)(...parts)] });

  test.each<[string, Anything[], string]>([
    ["without a name", [undefined, {}, () => 1], "handler without a name: must be a string, not undefined"],
    ["with a malformed name", ["A b", {}, () => 1], '"A b" is not a task type'],
    ["with a name that is a path", ["../../x", {}, () => 1], '"../../x" is not a task type'],
    ["without options", ["a", undefined, () => 1], "options: must be an object, not undefined"],
    ["without a function", ["a", {}], "must be a function, not undefined"],
    ["with a misspelt option", ["a", { timeout: 5 }, () => 1], 'unknown key "timeout" → Did you mean "timeout_s"?'],
    [
      "with a JSON Schema",
      ["a", { parameters: { type: "object" } }, () => 1],
      "parameters: is not a zod 4 schema but an object",
    ],
    [
      "with a time-out of 0",
      ["a", { timeout_s: 0 }, () => 1],
      "timeout_s: must be a whole number from 1 to 2147483, not 0",
    ],
    [
      "with an isolation there is not",
      ["a", { isolation: "proces", memory_mb: 512 }, () => 1],
      'isolation: "proces" is not one of none, process → Did you mean "process"?',
    ],
    [
      "that wants a process without a module",
      ["a", { isolation: "process" }, () => 1],
      'module: is missing: with isolation "process" the child process imports the handler from it → Write module: import.meta.url',
    ],
    [
      "whose module is a path",
      ["a", { isolation: "process", module: "./handlers.js" }, () => 1],
      'module: must be a file: URL, not "./handlers.js" → Write module: import.meta.url',
    ],
    [
      "whose module is on the web",
      ["a", { isolation: "process", module: "https://example.org/a.js" }, () => 1],
      "module: must be a file: URL",
    ],
    [
      "whose module is an object",
      ["a", { isolation: "process", module: {} }, () => 1],
      "module: must be a file: URL, not an object",
    ],
    [
      "with too little memory for any process",
      ["a", { isolation: "process", module: "file:///a.js", memory_mb: 16 }, () => 1],
      "memory_mb: must be a whole number from 128 to",
    ],
    [
      "that may write nothing",
      ["a", { isolation: "process", module: "file:///a.js", output_bytes: 0 }, () => 1],
      "output_bytes: must be a whole number from 1 to",
    ],
    [
      "with a memory limit but no process",
      ["a", { memory_mb: 512 }, () => 1],
      'memory_mb: means nothing without isolation: "process"',
    ],
  ])("%s is refused", (_, parts, expected) => {
    expect(problemsOfHandler(...parts)).toContainEqual(expect.stringContaining(expected));
  });

  test("in a process of its own tells all its problems at once", () => {
    const options = { isolation: "process", memory_mb: 1, output_bytes: -1 };
    expect(problemsOfHandler("a", options, () => 1)).toHaveLength(3);
    expect(problemsOfHandler("a", { isolation: "proces", memory_mb: 512 }, () => 1)).toHaveLength(1);
  });

  test("in a process of its own has a memory and an output limit, given or not", () => {
    const { options, problems } = defineHandler("a", { isolation: "process", module: "file:///a.js" }, () => 1);
    expect(problems).toEqual([]);
    expect(options).toMatchObject({ module: "file:///a.js", memory_mb: 2048, output_bytes: 10_485_760 });
    const given = { isolation: "process", module: "file:///a.js", memory_mb: 512, output_bytes: 1000 } as const;
    expect(defineHandler("a", given, () => 1).options).toMatchObject(given);
  });

  test("may take alternatives as parameters", () => {
    const parameters = z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("a") }),
      z.object({ kind: z.literal("b") }),
    ]);
    expect(problemsOfHandler("a", { parameters }, () => 1)).toEqual([]);
  });
});
