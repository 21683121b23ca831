import { expect, test } from "vitest";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { retryFromText } from "../../src/core/declare/retry.js";

const problemsOf = (stage: object) =>
  defineJob({ type: "j", stages: [{ name: "s", task: "t", ...stage }] } as never).problems.map(
    ({ path, problem }) => `${path} ${problem}`,
  );

test("a stage says how it is tried again, and max_attempts is the same as attempts", () => {
  const stage = (settings: object) =>
    defineJob({ type: "j", stages: [{ name: "s", task: "t", ...settings }] }).blueprint.stages[0]!.retry;
  expect(stage({})).toBeNull();
  expect(stage({ max_attempts: 5 })).toEqual({ attempts: 5 });
  expect(stage({ max_attempts: 5, retry: { within_s: 60 } })).toEqual({ attempts: 5, within_s: 60 });
  expect(stage({ retry: { attempts: 2, base_s: 0.5, cap_s: 30, within_s: 0 } })).toEqual({
    attempts: 2,
    base_s: 0.5,
    cap_s: 30,
    within_s: 0,
  });
});

test("everything that is wrong with it is told at once, with where", () => {
  expect(problemsOf({ retry: { attempts: 0, base_s: "1", within: 3 } })).toEqual([
    'job j, stage s, retry has an unknown key "within"',
    "job j, stage s, retry attempts must be a whole number from 1 to 10000, not 0",
    'job j, stage s, retry base_s must be a number from 0.01 to 3600, not "1"',
  ]);
  expect(problemsOf({ retry: "often" })).toEqual(["job j, stage s, retry must be an object, not a string"]);
  expect(problemsOf({ retry: { attempts: 2 }, max_attempts: 3 })).toEqual([
    "job j, stage s, retry attempts is 2, and max_attempts 3",
  ]);
  const handler = defineHandler("h", { retry: { cap_s: -1 } }, () => {});
  expect(handler.problems).toMatchObject([{ path: "handler h, retry cap_s" }]);
});

test("a command line and an environment say it in one word", () => {
  expect(retryFromText("attempts=5, within_s=900")).toEqual({ retry: { attempts: 5, within_s: 900 } });
  for (const wrong of ["", "attempts", "attempts=", "tries=3", "attempts=many", "attempts=0", "base_s=1;cap_s=2"]) {
    expect(retryFromText(wrong), wrong).toMatchObject({ problems: [{}] });
  }
});
