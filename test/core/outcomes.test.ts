// What the value a handler returns means.
import { describe, expect, test } from "vitest";
import { Permanent, Throttled } from "../../src/core/errors/errors.js";
import { resultToOutcome } from "../../src/core/task/outcomes.js";

describe("a returned value", () => {
  test.each([
    [{ tiles: [1] }],
    [[1, 2]],
    ["text"],
    [0],
    [false],
    [null],
    [{}],
    [{ success: true }],
    [{ success: "false" }],
  ])("%j is the result", (value) => {
    expect(resultToOutcome(value)).toEqual({ success: true, result: value });
  });

  test("may be nothing", () => {
    expect(resultToOutcome(undefined)).toEqual({ success: true });
  });

  test("with next_stage_params hands them over and keeps the rest", () => {
    const expected = { success: true, result: { tiles: 3 }, next_stage_params: { crs: "EPSG:3857" } };
    expect(resultToOutcome({ tiles: 3, next_stage_params: { crs: "EPSG:3857" } })).toEqual(expected);
    expect(resultToOutcome({ success: true, result: { tiles: 3 }, next_stage_params: { crs: "EPSG:3857" } })).toEqual(
      expected,
    );
    expect(resultToOutcome({ success: true, result: { tiles: 3 } })).toEqual({ success: true, result: { tiles: 3 } });
  });

  test("that has more than success and result is data, not an envelope", () => {
    const value = { success: true, result: 1, sheet: 2 };
    expect(resultToOutcome(value)).toEqual({ success: true, result: value });
  });

  test("that JSON cannot hold is a broken contract, told with its path", () => {
    const outcome = resultToOutcome({ mean: Number.NaN, name: "a\0", next_stage_params: { n: 1n } });
    expect(outcome).toMatchObject({ success: false, failure: { category: "contract", code: "bad_result" } });
    expect(outcome.success ? [] : outcome.failure.detail?.problems?.map(({ path }) => path)).toEqual([
      "$.mean",
      "$.name",
      "$.n",
    ]);
  });

  test("that throws when it is read is a broken contract too", () => {
    const hostile = {
      get success(): boolean {
        throw new Error("no");
      },
    };
    const unwritable = {
      toJSON() {
        throw new Error("no");
      },
    };
    for (const value of [hostile, unwritable]) {
      expect(resultToOutcome(value)).toMatchObject({
        success: false,
        failure: { category: "contract", code: "bad_result", message: "the result could not be read: no" },
      });
    }
  });
});

describe("success: false", () => {
  test.each([
    [{ success: false }, "transient", "returned_failure", "the handler returned success: false"],
    [{ success: false, retry: true, error: "busy" }, "transient", "returned_failure", "busy"],
    [{ success: false, retry: false, error: "gone" }, "permanent", "returned_failure", "gone"],
    [{ success: false, error: { message: "gone", code: "no_tile" } }, "transient", "no_tile", "gone"],
    [{ success: false, error: new Permanent("gone") }, "permanent", "permanent", "gone"],
    [{ success: false, retry: true, error: new Permanent("gone") }, "transient", "permanent", "gone"],
    [{ success: false, retry: false, error: new Error("odd") }, "permanent", "unexpected", "odd"],
    [{ success: false, error: 7 }, "transient", "returned_failure", "the handler returned success: false"],
  ])("%j means the same as throwing", (value, category, code, message) => {
    expect(resultToOutcome(value)).toMatchObject({ success: false, failure: { category, code, message } });
  });

  test("with a time to come back is throttled", () => {
    const throttled = { success: false, failure: { category: "throttled", retry_after_s: 5 } };
    expect(resultToOutcome({ success: false, retry_after_s: 5 })).toMatchObject(throttled);
    expect(resultToOutcome({ success: false, error: new Throttled(5) })).toMatchObject(throttled);
  });
});
