// What a declaration becomes as data, and how its types flow into planners and handlers.
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { defineHandler, defineJob, type Input, type Job, type Output } from "../../src/core/declare/declare.js";
import { sourceHash } from "../../src/core/values/ids.js";
import { jsonProblems } from "../../src/core/values/json.js";

const planTiles = async ({ previous }: { previous: { one(): Promise<{ tiles: { x: number }[] }> } }) => {
  const { tiles } = await previous.one();
  return tiles.map(({ x }) => ({ index: `tile-${x}`, parameters: { x } }));
};

const processRaster = defineJob({
  type: "process_raster",
  description: "One raster into tiles",
  parameters: z.object({ source: z.string(), tile_px: z.int().default(5120), publish: z.boolean().default(true) }),
  identity: ["source"],
  stages: [
    { name: "validate", task: "raster.validate" },
    {
      name: "cog",
      task: "raster.cog_tile",
      parallelism: "fan_out",
      max_parallel: 100,
      failure_budget: { percent: 1 },
      tasks: planTiles,
    },
    {
      name: "register",
      task: "stac.register",
      parallelism: "fan_in",
      batch: 100,
      importance: "important",
      timeout_s: 60,
    },
    {
      name: "publish",
      task: "stac.finalize",
      parallelism: "fan_in",
      when: "$.parameters.publish == true",
      max_attempts: 5,
    },
  ],
});

describe("a declared job", () => {
  test("has its blueprint as data, with every default written out", () => {
    expect(processRaster.problems).toEqual([]);
    expect(processRaster.blueprint).toEqual({
      type: "process_raster",
      description: "One raster into tiles",
      parameters: {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        type: "object",
        properties: {
          source: { type: "string" },
          tile_px: {
            type: "integer",
            minimum: Number.MIN_SAFE_INTEGER,
            maximum: Number.MAX_SAFE_INTEGER,
            default: 5120,
          },
          publish: { type: "boolean", default: true },
        },
        required: ["source"],
        additionalProperties: false,
      },
      identity: ["source"],
      deadline_s: 7200,
      stages: [
        {
          number: 1,
          name: "validate",
          task: "raster.validate",
          parallelism: "single",
          after: [],
          of: null,
          batch: null,
          max_parallel: null,
          timeout_s: null,
          retry: null,
          importance: "critical",
          failure_budget: null,
          when: null,
          plan: null,
          description: null,
          on_task_failure: "finish_stage",
          gate: null,
        },
        {
          number: 2,
          name: "cog",
          task: "raster.cog_tile",
          parallelism: "fan_out",
          after: [1],
          of: 1,
          batch: null,
          max_parallel: 100,
          timeout_s: null,
          retry: null,
          importance: "critical",
          failure_budget: { percent: 1 },
          when: null,
          plan: { function: sourceHash(planTiles) },
          description: null,
          on_task_failure: "finish_stage",
          gate: null,
        },
        {
          number: 3,
          name: "register",
          task: "stac.register",
          parallelism: "fan_in",
          after: [2],
          of: 2,
          batch: 100,
          max_parallel: null,
          timeout_s: 60,
          retry: null,
          importance: "important",
          failure_budget: null,
          when: null,
          plan: null,
          description: null,
          on_task_failure: "finish_stage",
          gate: null,
        },
        {
          number: 4,
          name: "publish",
          task: "stac.finalize",
          parallelism: "fan_in",
          after: [3],
          of: 3,
          batch: null,
          max_parallel: null,
          timeout_s: null,
          retry: { attempts: 5 },
          importance: "critical",
          failure_budget: null,
          when: { path: "$.parameters.publish == true" },
          plan: null,
          description: null,
          on_task_failure: "finish_stage",
          gate: null,
        },
      ],
    });
  });

  test("has a blueprint that is JSON and reads back the same", () => {
    expect(jsonProblems(processRaster.blueprint)).toEqual([]);
    expect(JSON.parse(JSON.stringify(processRaster.blueprint))).toEqual(processRaster.blueprint);
  });

  test("keeps its functions beside the data, by stage", () => {
    const when = () => true;
    const job = defineJob({ type: "j", stages: [{ name: "a", task: "t", when, tasks: () => [] }] });
    expect([...processRaster.planners.keys()]).toEqual(["cog"]);
    expect(processRaster.planners.get("cog")).toBe(planTiles);
    expect(job.conditions.get("a")).toBe(when);
    expect(job.blueprint.stages[0]?.when).toEqual({ function: sourceHash(when) });
  });

  test("keeps a plan that is data as it is", () => {
    const each = { each: "$.tiles[*]", index: "tile-{x}-{y}", parameters: { tile: "{item}", n: "{parameters.n}" } };
    const count = { count: "{parameters.n}", index: "{{{ordinal}}}", metadata: { of: "{parameters.n}" } };
    const job = defineJob({
      type: "j",
      parameters: z.object({ n: z.int() }),
      stages: [
        { name: "a", task: "t", tasks: count },
        { name: "b", task: "t", parallelism: "fan_out", tasks: each },
        { name: "c", task: "t", tasks: { count: 5 } },
      ],
    });
    expect(job.problems).toEqual([]);
    expect(job.blueprint.stages.map(({ plan }) => plan)).toEqual([count, each, { count: 5 }]);
  });

  test("closes the objects of its JSON Schema, except where two schemas must both hold", () => {
    const parameters = z.object({
      inner: z.object({ a: z.int() }),
      open: z.looseObject({}),
      both: z.intersection(z.object({ l: z.int() }), z.object({ r: z.int() })),
    });
    const { blueprint } = defineJob({ type: "j", parameters, stages: [{ name: "a", task: "t" }] });
    expect(blueprint.parameters).toMatchObject({
      additionalProperties: false,
      properties: { inner: { additionalProperties: false }, open: { additionalProperties: {} } },
    });
    const { properties } = blueprint.parameters as { properties: { both: unknown } };
    expect(JSON.stringify(properties.both)).not.toContain("additionalProperties");
  });

  test("without a schema has none in its blueprint", () => {
    const job = defineJob({ type: "j", stages: [{ name: "a", task: "t" }] });
    expect(job.blueprint).toMatchObject({ parameters: null, identity: null, description: null });
    expect(job.schema).toBeUndefined();
  });
});

describe("after", () => {
  const edges = (stages: { name: string; after?: string[]; of?: string; parallelism?: "fan_in" }[]) => {
    const job = defineJob({ type: "j", stages: stages.map((stage) => ({ task: "t", ...stage })) });
    expect(job.problems).toEqual([]);
    return job.blueprint.stages.map(({ number, name, after, of }) => `${number} ${name} after ${after} of ${of}`);
  };

  test("makes a diamond", () => {
    expect(
      edges([
        { name: "a" },
        { name: "b", after: ["a"] },
        { name: "c", after: ["a"] },
        { name: "d", after: ["c", "b"], parallelism: "fan_in", of: "c" },
      ]),
    ).toEqual(["1 a after  of null", "2 b after 1 of 1", "3 c after 1 of 1", "4 d after 2,3 of 3"]);
  });

  test("left empty starts a second root", () => {
    expect(edges([{ name: "a" }, { name: "b", after: [] }])).toEqual(["1 a after  of null", "2 b after  of null"]);
  });

  test("may name a stage further down the list: numbers follow the order in which stages can run", () => {
    expect(
      edges([
        { name: "last", after: ["first"] },
        { name: "middle", after: ["first"] },
        { name: "first", after: [] },
      ]),
    ).toEqual(["1 first after  of null", "2 last after 1 of 1", "3 middle after 1 of 1"]);
  });

  test("may name several for a single stage, which then names one at each reading", () => {
    expect(edges([{ name: "a" }, { name: "b", after: [] }, { name: "c", after: ["a", "b"] }])[2]).toBe(
      "3 c after 1,2 of null",
    );
  });
});

describe("types", () => {
  test("of parameters flow from the schema into planners, conditions and identity", () => {
    const schema = z.object({ n: z.int().default(1), when: z.string().transform((text) => text.length) });
    const job = defineJob({
      type: "j",
      parameters: schema,
      identity: ["n"],
      stages: [
        {
          name: "a",
          task: "t",
          when: ({ parameters }) => {
            expectTypeOf(parameters).toEqualTypeOf<{ n: number; when: number }>();
            return parameters.n > 0;
          },
          tasks: function* ({ parameters, job: facts }) {
            expectTypeOf(parameters.when).toBeNumber();
            expectTypeOf(facts.parameters.n).toBeNumber();
            yield { index: "x" };
          },
        },
        { name: "b", task: "t", tasks: async ({ previous }) => (await previous.one()).tiles },
      ],
    });
    expectTypeOf<Input<typeof schema>>().toEqualTypeOf<{ n?: number | undefined; when: string }>();
    expectTypeOf<Output<typeof schema>>().toEqualTypeOf<{ n: number; when: number }>();
    expectTypeOf(job.schema).toEqualTypeOf<typeof schema>();
    const any_job: Job = job;
    expect(any_job.problems).toEqual([]);
    // @ts-expect-error an identity names parameters
    defineJob({ type: "j", parameters: schema, identity: ["m"], stages: [] });
    // @ts-expect-error a misspelt option
    defineJob({ type: "j", stages: [{ name: "a", task: "t", paralelism: "single" }] });
    // @ts-expect-error parameters are an object
    defineJob({ type: "j", parameters: z.string(), stages: [] });
  });

  test("of parameters flow into handlers", async () => {
    const handler = defineHandler("t", { parameters: z.object({ n: z.int() }) }, async (parameters, ctx) => {
      expectTypeOf(parameters).toEqualTypeOf<{ n: number }>();
      expectTypeOf(ctx.signal).toEqualTypeOf<AbortSignal>();
      return { twice: parameters.n * 2 };
    });
    expect(handler.problems).toEqual([]);
    await expect(handler.run({ n: 2 }, {} as never)).resolves.toEqual({ twice: 4 });
    const loose = defineHandler("u", {}, (parameters) => parameters.anything);
    expect(loose.options).toEqual({ parameters: undefined, timeout_s: undefined, isolation: "none" });
  });
});
