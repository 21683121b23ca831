// Names, indexes and priorities, and the statuses' words.
import { describe, expect, test } from "vitest";
import { indexProblem, nameProblem, taskTypeProblem } from "../../src/core/declare/names.js";
import { didYouMean, suggestion } from "../../src/core/errors/problems.js";
import { isTerminal, job_statuses, stage_statuses, task_statuses } from "../../src/core/shown/statuses.js";

describe("a job type or stage name", () => {
  test.each(["a", "process_raster", "x1", "a".repeat(63), "constructor", "tostring"])("may be %j", (name) => {
    expect(nameProblem(name)).toBeNull();
  });

  test.each([
    "",
    "A",
    "1a",
    "_a",
    "a-b",
    "a.b",
    "a b",
    "ä",
    "../../x",
    "__proto__",
    "toString",
    "a\n",
    "a\0",
    "a".repeat(64),
    "#plan",
    null,
    undefined,
    7,
    {},
  ])("may not be %j", (name) => {
    expect(nameProblem(name)).not.toBeNull();
  });
});

describe("a task type", () => {
  test.each(["a", "raster.cog_tile", "a.b.c", "http.2", `${"a".repeat(31)}.${"b".repeat(31)}`])("may be %j", (name) => {
    expect(taskTypeProblem(name)).toBeNull();
  });

  test.each(["", ".a", "a.", "a..b", "A.b", "a/b", "#plan", "1.a", "a.b\n", "a".repeat(64), null])(
    "may not be %j",
    (name) => {
      expect(taskTypeProblem(name)).not.toBeNull();
    },
  );
});

describe("an index", () => {
  test.each(["tile-x5-y10", "0", " ", "a/b/../c.tif", "Zürich 😀", "x".repeat(200), "😀".repeat(200)])(
    "may be %j",
    (index) => {
      expect(indexProblem(index)).toBeNull();
    },
  );

  test.each([
    "",
    "a\nb",
    "a\tb",
    "a\0",
    "\u007f",
    "\u0085",
    "\ud800",
    "x".repeat(201),
    "😀".repeat(201),
    5,
    null,
    undefined,
  ])("may not be %j", (index) => {
    expect(indexProblem(index)).not.toBeNull();
  });
});

describe("a suggestion", () => {
  test.each([
    ["sorce", "source"],
    ["parralelism", "parallelism"],
    ["maxparallel", "max_parallel"],
    ["tiem", "time"],
    ["Source", "source"],
  ])("for %j is %j", (word, meant) => {
    expect(didYouMean(word, ["parallelism", "max_parallel", "source", "time"])).toBe(meant);
  });

  test("is not made where nothing is near, nor for hostile lengths", () => {
    expect(didYouMean("zebra", ["source", "time"])).toBeNull();
    expect(didYouMean("s".repeat(1_000_000), ["source"])).toBeNull();
    expect(suggestion("zebra", ["source", "time"])).toBe('Known: "source", "time".');
    expect(suggestion("zebra", [])).toBe("There are none.");
  });
});

test("what is terminal for one kind of record is terminal for all that have the word", () => {
  const open = ["queued", "processing", "waiting", "waiting_approval", "planning"];
  for (const status of [...task_statuses, ...stage_statuses, ...job_statuses]) {
    expect(isTerminal(status), status).toBe(!open.includes(status));
  }
});
