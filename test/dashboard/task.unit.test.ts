// What the task page makes of texts: values with every digit, log lines that a terminal would obey, and what can be done.
import { describe, expect, test } from "vitest";
import {
  appended,
  empty_log,
  type LogLine,
  type LogPage,
  piecesOf,
  plainLines,
  prepended,
  readLogPage,
  withoutColours,
} from "../../dashboard/src/pages/task/log_text.js";
import { refusal } from "../../dashboard/src/pages/task/verb_rules.js";
import { findNodes, indented, memberTexts, pathOf, readJson, shownRows } from "../../dashboard/src/ui/json_text.js";

describe("JSON as text", () => {
  const text =
    '{"b": 12345678901234567890, "a": [1.50, -2e400, {"__proto__": null}], "10": "a\\u0007\\"b", "b": true, "e": {}}';

  test("keeps numbers, the order of keys, keys of any name, and the same key twice", () => {
    const root = readJson(text);
    expect(root.children.map(({ key, kind, says }) => [key, kind, says])).toEqual([
      ["b", "number", "12345678901234567890"],
      ["a", "array", ""],
      ["10", "text", 'a\u0007"b'],
      ["b", "word", "true"],
      ["e", "object", ""],
    ]);
    expect(root.children[1]!.children.map(({ says }) => says)).toEqual(["1.50", "-2e400", ""]);
    expect(root.children[1]!.children[2]!.children[0]!.key).toBe("__proto__");
    expect(memberTexts(text).get("a")).toBe('[1.50, -2e400, {"__proto__": null}]');
  });

  test("refuses what is none", () => {
    for (const bad of ["", "{", "[1,]", '{"a" 1}', "nul", "1 2", '"a', "{1: 2}", "[1 2]"]) {
      expect(() => readJson(bad), bad).toThrow(SyntaxError);
    }
    for (const good of ["0", ' {"a":[]} ', '""', "[[[[]]]]"]) expect(readJson(good).to).toBeGreaterThan(0);
  });

  test("is shown as far as it is open, found by key and text, and named by path", () => {
    const root = readJson('{"list": [{"a b": "Needle"}, 2], "needle": null}');
    expect(shownRows(root, (_, depth) => depth < 2).map(({ depth, open }) => [depth, open])).toEqual([
      [0, true],
      [1, true],
      [2, false],
      [2, false],
      [1, false],
    ]);
    expect(findNodes(root, "needle").map(pathOf)).toEqual(['$.list[0]."a b"', "$.needle"]);
    expect(findNodes(root, "")).toEqual([]);
  });

  test("is indented for a file without touching a number", () => {
    const whole = indented(text);
    expect(whole).toContain('  "b": 12345678901234567890,\n');
    expect(whole).toContain("    1.50,\n    -2e400,\n");
    expect(readJson(whole).children).toHaveLength(5);
  });
});

const line = (log_id: number, message = `line ${log_id}`): LogLine => ({
  log_id,
  at: "2030-01-01T00:00:00Z",
  attempt: 1,
  level: "info",
  message,
  data: null,
});
const page = (lines: LogLine[], more: Partial<LogPage> = {}): LogPage => ({
  lines,
  looked_at: lines.length,
  older: null,
  newer: String(lines.at(-1)?.log_id ?? 0),
  more: false,
  ...more,
});

describe("log lines", () => {
  test("keep the digits of their data", () => {
    const text =
      '{"task_id":"1-0","lines":[{"log_id":1,"at":"t","attempt":1,"level":"info","message":"m","data":{"n": 12345678901234567890}},{"log_id":2,"at":"t","attempt":1,"level":"info","message":"m","data":null}],"older":null,"newer":"2","more":false,"looked_at":2}';
    expect(readLogPage(text).lines.map(({ data }) => data)).toEqual(['{"n": 12345678901234567890}', null]);
  });

  test("lose their colours, and nothing else", () => {
    expect(withoutColours("\u001b[1;31mred\u001b[0m \u001b[2Jcleared \u001b]8;;x\u0007")).toBe(
      "red \u001b[2Jcleared \u001b]8;;x\u0007",
    );
  });

  test("are cut where the words are, whatever the case", () => {
    expect(piecesOf("An error, an ERROR", "Error").map(({ text, hit }) => [text, hit])).toEqual([
      ["An ", false],
      ["error", true],
      [", an ", false],
      ["ERROR", true],
    ]);
    // Lower case of İ is two units long: no cut is better than one in the wrong place.
    expect(piecesOf("İx", "x")).toEqual([{ text: "İx", hit: false }]);
    expect(piecesOf("a+b", "+")).toHaveLength(3);
  });

  test("come behind and in front without one twice, and of very many the oldest can be had again", () => {
    let log = appended(empty_log, page([line(5), line(6)], { older: "5" }));
    log = appended({ ...log, older: "5" }, page([line(6), line(7)]));
    log = prepended(log, page([line(4), line(5)], { older: null }));
    expect(log).toMatchObject({ older: null, newer: "7" });
    expect(log.lines.map(({ log_id }) => log_id)).toEqual([4, 5, 6, 7]);
    const many = appended(log, page(Array.from({ length: 20_000 }, (_, n) => line(8 + n))));
    expect([many.lines.length, many.older]).toEqual([20_000, "8"]);
    expect(plainLines(log.lines.slice(0, 1))).toBe("2030-01-01T00:00:00Z\tattempt 1\tinfo\tline 4");
  });
});

test("what cannot be done about a task says why", () => {
  const told = (verb: Parameters<typeof refusal>[0], status: string, job_id: string | null = null) =>
    refusal(verb, { status, job_id });
  expect(told("retry", "failed", "j")).toBeNull();
  expect(told("retry", "processing")).toBe("It has not ended.");
  expect(told("skip", "completed")).toBe("It is completed.");
  expect(told("cancel", "queued", "j")).toBe("A task of a job is cancelled with its job.");
  expect(told("cancel", "processing")).toBeNull();
  expect(told("reschedule", "processing")).toBe("Only a task that waits is moved.");
});
