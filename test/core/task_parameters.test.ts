// A task's parameters: at enqueue, and before its handler sees them.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/core/declare/declare.js";
import { max_parameter_bytes, taskParameters } from "../../src/core/declare/parameters.js";
import { validateTaskInput } from "../../src/core/declare/task_input.js";
import { ContractViolation, classify, ParameterError, TooLarge } from "../../src/core/errors/errors.js";

describe("a task's parameters", () => {
  test("reach the handler as its schema makes them", () => {
    const handler = defineHandler("t", { parameters: z.object({ n: z.int().default(1) }) }, () => null);
    expect(taskParameters(handler, { extra: true })).toEqual({ n: 1 });
    expect(
      taskParameters(
        defineHandler("t", {}, () => null),
        { a: 1 },
      ),
    ).toEqual({ a: 1 });
  });

  test("that do not fit are a broken contract: no retry would help", () => {
    const handler = defineHandler("t", { parameters: z.object({ n: z.int() }) }, () => null);
    expect(() => taskParameters(handler, { n: "x" })).toThrow(ContractViolation);
    try {
      taskParameters(handler, {});
    } catch (error) {
      expect(classify(error)).toMatchObject({
        category: "contract",
        message: "The task's parameters do not fit handler t:\n- $.n: is missing\n  Give a number.",
      });
    }
    expect.assertions(2);
  });

  test("may be checked asynchronously", async () => {
    const handler = defineHandler("t", { parameters: z.object({ n: z.int().refine(async (n) => n > 0) }) }, () => null);
    await expect(taskParameters(handler, { n: 1 })).resolves.toEqual({ n: 1 });
    await expect(taskParameters(handler, { n: 0 })).rejects.toThrow(ContractViolation);
  });
});

describe("the parameters of a lone task", () => {
  const handler = defineHandler("t", { parameters: z.object({ n: z.int().default(1) }) }, () => null);

  test("are stored as they were given, in canonical form: the worker applies defaults", () => {
    expect(validateTaskInput("t", handler, { b: undefined, a: 1 })).toBe('{"a":1}');
    expect(validateTaskInput("t", handler, undefined)).toBe("{}");
    expect(validateTaskInput("unknown_here", null, { b: 1, a: 2 })).toBe('{"a":2,"b":1}');
  });

  test.each([[null], [[]], ["x"], [{ n: "x" }], [{ n: Number.NaN }], [JSON.parse('{"__proto__":1}')]])(
    "like %j are refused",
    (input) => {
      expect(() => validateTaskInput("t", handler, input)).toThrow(ParameterError);
    },
  );

  test("are measured in bytes, exactly", () => {
    const room = max_parameter_bytes - '{"text":""}'.length;
    expect(validateTaskInput("t", null, { text: "x".repeat(room) })).toHaveLength(max_parameter_bytes);
    expect(() => validateTaskInput("t", null, { text: `${"x".repeat(room)}x` })).toThrow(TooLarge);
  });

  test("may be checked asynchronously", async () => {
    const slow = defineHandler("t", { parameters: z.object({ n: z.int().refine(async (n) => n > 0) }) }, () => null);
    await expect(validateTaskInput("t", slow, { n: 1 })).resolves.toBe('{"n":1}');
    await expect(validateTaskInput("t", slow, { n: 0 })).rejects.toThrow(ParameterError);
  });
});
