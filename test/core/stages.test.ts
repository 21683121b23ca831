// Wrong stages, wrong edges between them and wrong plans are refused at registration.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type Anything, problemsOfJob, problemsOfStages, problemsOfTasks } from "./wrong_declarations.js";

describe("a stage", () => {
  test.each<[string, Anything[], string]>([
    ["without a name", [{ name: undefined }], "stage 1, name: must be a string, not undefined"],
    ["with a malformed name", [{ name: "__proto__" }], 'stage 1, name: "__proto__" is not a name'],
    ["with the name of another", [{ name: "a" }, { name: "a" }], 'stage a, name: there are two stages called "a"'],
    ["without a task", [{ task: undefined }], "task: must be a string, not undefined"],
    ["with a malformed task", [{ task: "#plan" }], '"#plan" is not a task type'],
    ["whose handler nobody has", [{ task: "wor" }], 'no handler is called "wor" → Did you mean "work"?'],
    ["whose handler is a method of objects", [{ task: "constructor" }], 'no handler is called "constructor"'],
    ["with a misspelt key", [{ max_paralel: 3 }], 'has an unknown key "max_paralel" → Did you mean "max_parallel"?'],
    [
      "with an unknown parallelism",
      [{ parallelism: "fanout" }],
      '"fanout" is not one of single, fan_out, fan_in, match_previous → Did you mean "fan_out"?',
    ],
    ["with an unknown importance", [{ importance: "vital" }], '"vital" is not one of critical, important, optional'],
    ["with max_parallel 0", [{ max_parallel: 0 }], "max_parallel: must be a whole number from 1 to 1000000, not 0"],
    ["with a fraction as max_parallel", [{ max_parallel: 1.5 }], "max_parallel: must be a whole number"],
    ["with a negative time-out", [{ timeout_s: -1 }], "timeout_s: must be a whole number from 1 to 2147483, not -1"],
    ["with a time-out longer than timers can count", [{ timeout_s: 2_147_484 }], "timeout_s: must be a whole number"],
    [
      "with NaN attempts",
      [{ max_attempts: Number.NaN }],
      "max_attempts: must be a whole number from 1 to 10000, not NaN",
    ],
    [
      "with attempts in a string",
      [{ max_attempts: "3" }],
      'max_attempts: must be a whole number from 1 to 10000, not "3"',
    ],
    [
      "with a budget over 100 percent",
      [{ failure_budget: { percent: 101 } }],
      "failure_budget percent: must be a number from 0 to 100, not 101",
    ],
    ["with a negative budget", [{ failure_budget: { count: -1 } }], "failure_budget count: must be a whole number"],
    [
      "with two budgets",
      [{ failure_budget: { count: 1, percent: 1 } }],
      "failure_budget: needs either count or percent",
    ],
    ["with an empty budget", [{ failure_budget: {} }], "failure_budget: needs either count or percent"],
    [
      "with a misspelt budget",
      [{ failure_budget: { percents: 1 } }],
      'unknown key "percents" → Did you mean "percent"?',
    ],
    ["with a number as budget", [{ failure_budget: 5 }], "failure_budget: must be an object, not a number"],
    ["with a `when` that is no path", [{ when: "publish" }], "when: does not look at anything"],
    ["with a `when` that is a boolean", [{ when: true }], "when: must be a JSONPath in a string, not true"],
    ["that fans in first", [{ parallelism: "fan_in" }], "a fan_in stage needs a stage before it"],
    ["that fans out first", [{ parallelism: "fan_out", tasks: () => [] }], "a fan_out stage needs a stage before it"],
    [
      "that matches the previous first",
      [{ parallelism: "match_previous" }],
      "a match_previous stage needs a stage before it",
    ],
    [
      "that fans in after nothing",
      [{}, { parallelism: "fan_in", after: [] }],
      "a fan_in stage needs a stage before it",
    ],
    ["that batches without fanning in", [{ batch: 5 }], "batch: is for fan_in, but this stage is single"],
    ["with a batch of 0", [{}, { parallelism: "fan_in", batch: 0 }], "batch: must be a whole number from 1"],
    [
      "that fans out without tasks",
      [{}, { parallelism: "fan_out" }],
      "tasks: is missing: a fan_out says how its tasks are made",
    ],
    [
      "that fans in with tasks",
      [{}, { parallelism: "fan_in", tasks: () => [] }],
      "a fan_in stage has its tasks made by the engine",
    ],
    [
      "that matches with tasks",
      [{}, { parallelism: "match_previous", tasks: { count: 1 } }],
      "a match_previous stage has its tasks made",
    ],
    ["with tasks that are a list", [{ tasks: [{ index: "a" }] }], "tasks: must be an object, not an array"],
  ])("%s is refused", (_, stages, expected) => {
    const problems = problemsOfStages(...stages);
    expect(problems).toContainEqual(expect.stringContaining(expected));
    for (const problem of problems) expect(problem).toMatch(/ → ./);
  });
});

describe("after", () => {
  test.each<[string, Anything[], string[]]>([
    [
      "a stage that does not exist",
      [{}, { after: ["s3"] }],
      ['stage s2, after: "s3" is no stage of this job → Did you mean "s1"?'],
    ],
    [
      "a method of objects",
      [{}, { after: ["constructor"] }],
      ['stage s2, after: "constructor" is no stage of this job → Known: "s1", "s2".'],
    ],
    [
      "the stage itself",
      [{}, { after: ["s2"] }],
      ["stage s2, after: names the stage itself → Name the stage it waits for."],
    ],
    ["a stage twice", [{}, { after: ["s1", "s1"] }], ['stage s2, after: names "s1" twice → Name it once.']],
    [
      "a name outside a list",
      [{}, { after: "s1" }],
      ['stage s2, after: must be a list of stage names, not "s1" → Write after: ["name"].'],
    ],
    ["a number", [{}, { after: [1] }], ["stage s2, after: 1 is no stage of this job → Name stages by their names."]],
    [
      "a circle of two",
      [{ after: ["s2"] }, { after: ["s1"] }],
      ["stage s1, after: makes a circle: s1 → s2 → s1 → Remove one of these; no stage of a circle could ever start."],
    ],
    [
      "a circle of three behind a good start",
      [{}, { after: ["s4"] }, { after: ["s2"] }, { after: ["s3"] }],
      [
        "stage s2, after: makes a circle: s2 → s3 → s4 → s2 → Remove one of these; no stage of a circle could ever start.",
      ],
    ],
    [
      "several stages without of for a fan_in",
      [{}, { after: [] }, { parallelism: "fan_in", after: ["s1", "s2"] }],
      [
        'stage s3, of: is missing: a fan_in stage after several stages must say whose results it takes → Add of: "name".',
      ],
    ],
    [
      "several stages without of for a match_previous",
      [{}, { after: [] }, { parallelism: "match_previous", after: ["s1", "s2"] }],
      [
        'stage s3, of: is missing: a match_previous stage after several stages must say whose results it takes → Add of: "name".',
      ],
    ],
    [
      "one stage and of another",
      [{}, {}, { parallelism: "fan_in", after: ["s2"], of: "s1" }],
      [
        'stage s3, of: "s1" is not among the stages in after → Name one of them, or leave it out when there is only one.',
      ],
    ],
    [
      "something and of a stage that does not exist",
      [{}, { of: "toString" }],
      [
        'stage s2, of: "toString" is not among the stages in after → Name one of them, or leave it out when there is only one.',
      ],
    ],
  ])("that names %s is refused", (_, stages, expected) => {
    expect(problemsOfStages(...stages)).toEqual(expected.map((problem) => `job j, ${problem}`));
  });

  test("in a chain of a thousand stages, listed backwards, is put in order", () => {
    const stages = Array.from({ length: 1000 }, (_, place) => ({ after: place === 999 ? [] : [`s${place + 2}`] }));
    expect(problemsOfStages(...stages)).toEqual([]);
  });
});

describe("a plan as data", () => {
  test.each<[string, Anything]>([
    [
      "each with templates",
      { each: "$.tiles[*]", index: "tile-{item}", parameters: { tile: "{item}" }, parent: "p-{ordinal}" },
    ],
    ["each with a filter", { each: '$.tiles[*] ? (@.name starts with "a]b(" && @.x > 1)' }],
    ["a count", { count: 0 }],
    ["a count from the parameters", { count: "{parameters.n}", index: "{{{ordinal}}}" }],
    ["parameters that are one name", { each: "$.tiles[*]", parameters: "{item.settings}" }],
  ])("may be %s", (_, tasks) => {
    expect(problemsOfTasks(tasks)).toEqual([]);
  });

  test.each<[string, Anything, string]>([
    ["neither each nor count", { index: "a" }, "has neither each nor count"],
    ["both each and count", { each: "$", count: 1 }, "has both each and count"],
    ["a misspelt key", { each: "$", indx: "a" }, 'has an unknown key "indx" → Did you mean "index"?'],
    ["a path that is no text", { each: 5 }, "each: must be a JSONPath in a string, not 5"],
    ["a path without a root", { each: "tiles[*]" }, "a JSONPath starts at $"],
    ["a path with an open bracket", { each: "$.tiles[*" }, "unbalanced brackets"],
    ["a path with crossed brackets", { each: "$.tiles[(*])" }, "unbalanced brackets"],
    ["a path with an open string", { each: '$."tiles' }, "has a string that does not end"],
    ["a negative count", { count: -1 }, "count: -1 is not a count"],
    ["a fractional count", { count: 1.5 }, "count: 1.5 is not a count"],
    ["a count beyond ten million", { count: 10_000_001 }, "count: 10000001 is not a count"],
    ["a count that is NaN", { count: Number.NaN }, "count: NaN is not a count"],
    ["a count in words", { count: "five" }, 'count: "five" is not a count'],
    ["a count with text around", { count: "{parameters.n}0" }, 'count: "{parameters.n}0" is not a count'],
    [
      "a count of an unknown parameter",
      { count: "{parameters.m}" },
      'names no parameter of the job → Did you mean "n"?',
    ],
    ["a count of items", { count: "{item}" }, "a plan with count has no item"],
    ["an index with an open brace", { each: "$", index: "tile-{x" }, 'index: "tile-{x" has unbalanced braces'],
    ["an index with a brace too many", { each: "$", index: "tile-{x}}" }, "unbalanced braces"],
    ["an index with an empty name", { each: "$", index: "tile-{}" }, 'index: "tile-{}": "{}" is not a name'],
    ["an index with a broken name", { each: "$", index: "{a..b}" }, '"{a..b}" is not a name'],
    ["an index with a spaced name", { each: "$", index: "{a b}" }, '"{a b}" is not a name'],
    ["an empty index", { each: "$", index: "" }, "index: must be a template in a string"],
    ["an index that is a number", { each: "$", index: 5 }, "index: must be a template in a string, not 5"],
    ["an index of an item where there is none", { count: 3, index: "{x}" }, "{x}: a plan with count has no item"],
    ["parameters that are a list", { each: "$", parameters: [1] }, "parameters: must be an object, not an array"],
    ["parameters that are text", { each: "$", parameters: "a{item}" }, 'parameters: must be an object, not "a{item}"'],
    [
      "parameters that JSON cannot hold",
      { each: "$", parameters: { a: [Number.NaN] } },
      "parameters at $.a[0]: NaN is not a number",
    ],
    [
      "a template deep in the parameters that is broken",
      { each: "$", parameters: { a: [{ b: "{" }] } },
      'parameters: "{" has unbalanced braces',
    ],
    ["metadata that is broken", { each: "$", metadata: { a: "}" } }, 'metadata: "}" has unbalanced braces'],
  ])("with %s is refused", (_, tasks, expected) => {
    expect(problemsOfTasks(tasks)).toContainEqual(expect.stringContaining(expected));
  });

  test("of a job that takes any parameters may name any", () => {
    const stages = [{ name: "a", task: "work", tasks: { count: "{parameters.anything}" } }];
    expect(problemsOfJob({ type: "j", stages })).toEqual([]);
    expect(problemsOfJob({ type: "j", parameters: z.looseObject({}), stages })).toEqual([]);
  });
});
