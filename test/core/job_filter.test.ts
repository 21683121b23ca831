// The filter of the jobs list as people type it: what it is read as, what is wrong with it and where, and that it is written back as
// it was meant. A failure of the round trip names its seed: FANFOLD_TEST_SEED repeats it.
import { describe, expect, test } from "vitest";
import { type JobTerms, job_conditions, noTerms, parseJobFilter } from "../../src/core/shown/job_filter.js";
import { jobQuery, readLabels } from "../../src/core/shown/job_filter_query.js";
import { formatJobFilter, splitWords } from "../../src/core/shown/job_filter_text.js";
import { isWhen, whenAt } from "../../src/core/shown/job_filter_time.js";
import { job_statuses } from "../../src/core/shown/statuses.js";
import { random, randomText } from "./random_values.js";

const seed = Number(process.env.FANFOLD_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));
const now = new Date("2026-03-01T12:00:00Z");

function read(text: string): JobTerms {
  const { terms, problems } = parseJobFilter(text);
  expect(problems).toEqual([]);
  return terms;
}

describe("reading", () => {
  test("every kind of term is understood, in any order, beside free words", () => {
    const terms = read(
      'type:process_raster,tile status:failed,partial_success error:"timed out" created:>-1d finished:<2026-01-01 ' +
        "label:team=hydro group:night-7 correlation:order-12 id:ab12 priority:>=5 is:retrying,paused free words",
    );
    expect(terms).toEqual({
      words: ["free", "words"],
      types: ["process_raster", "tile"],
      statuses: ["failed", "partial_success"],
      labels: [{ key: "team", value: "hydro" }],
      conditions: ["retrying", "paused"],
      id: "ab12",
      error: "timed out",
      group: "night-7",
      correlation: "order-12",
      created: { from: "-1d", to: null },
      finished: { from: null, to: "2026-01-01" },
      priority: { from: 5, to: null },
    });
  });

  test("nothing, and nothing but spaces, asks for everything", () => {
    expect(read("")).toEqual(noTerms());
    expect(read(" \t\n ")).toEqual(noTerms());
  });

  test("quotes keep spaces, commas, colons and quotes together, wherever they stand", () => {
    expect(read('"north sea" "type:x"').words).toEqual(["north sea", "type:x"]);
    expect(read('error:"it said \\"no\\" at C:\\\\tmp"').error).toBe('it said "no" at C:\\tmp');
    expect(read('label:"a b"="c, d",e="*",f=*,"g=h"=*,i').labels).toEqual([
      { key: "a b", value: "c, d" },
      { key: "e", value: "*" },
      { key: "f", value: null },
      { key: "g=h", value: null },
      { key: "i", value: null },
    ]);
    expect(read('label:"team=north sea"').labels).toEqual([{ key: "team", value: "north sea" }]);
    expect(read("label:url=http://x?a=b").labels).toEqual([{ key: "url", value: "http://x?a=b" }]);
  });

  test("times are relative, days or moments, and ranges of them; a day ends when the next begins", () => {
    expect(read("created:-90m").created).toEqual({ from: "-90m", to: null });
    expect(read("created:2026-02-28").created).toEqual({ from: "2026-02-28", to: "2026-03-01" });
    expect(read("created:2026-01-01..2026-01-31").created).toEqual({ from: "2026-01-01", to: "2026-02-01" });
    expect(read("created:>-2d created:<-1d12h").created).toEqual({ from: "-2d", to: "-1d12h" });
    expect(read("finished:..-1h").finished).toEqual({ from: null, to: "-1h" });
    expect(read("created:<=2026-12-31").created).toEqual({ from: null, to: "2027-01-01" });
    expect(read("created:>2026-01-31T08:00+02:00").created.from).toBe("2026-01-31T08:00+02:00");
  });

  test("a priority is one, a bound or a range", () => {
    const of = (text: string) => read(`priority:${text}`).priority;
    expect([of("5"), of(">5"), of("<=-1"), of("1..9")]).toEqual([
      { from: 5, to: 5 },
      { from: 6, to: null },
      { from: null, to: -1 },
      { from: 1, to: 9 },
    ]);
  });
});

describe("problems", () => {
  const wrong = (text: string) =>
    parseJobFilter(text).problems.map(({ from, to, problem, fix }) => [text.slice(from, to), `${problem}. ${fix}`]);

  test("all of them are told at once, each with its place and what was meant", () => {
    expect(wrong("stats:failed status:faild,running created:>1d state:open id:xyz hello")).toEqual([
      ["stats:failed", '"stats:" is not known. Did you mean "status"? To look for the text, put it in quotes.'],
      ["faild", '"faild" is no status of a job. Did you mean "failed"?'],
      ["running", '"running" is no status of a job. Did you mean "processing"?'],
      ["created:>1d", 'created: "1d" is no time. Did you mean -1d?'],
      ["state:open", '"state:" is not known. Did you mean "status:"? To look for the text, put it in quotes.'],
      ["id:xyz", '"xyz" begins no id. At least 4 characters of 0-9 and a-f.'],
    ]);
  });

  test("a word that every object of JavaScript has is none of ours", () => {
    for (const text of ["constructor:x", "__proto__:x", "status:constructor", "is:__proto__"]) {
      const [[, told] = []] = wrong(text);
      expect(told, text).not.toMatch(/native code|\[object/);
      expect(told, text).toMatch(/is not known|is no (status|condition)/);
    }
  });

  test("what is read beside a problem stays read", () => {
    const { terms, problems } = parseJobFilter('status:failed,oops tile error:"never ends');
    expect(problems).toHaveLength(2);
    expect(terms).toMatchObject({ statuses: ["failed"], words: ["tile"], error: "never ends" });
  });

  test("a term without a value, given twice or against itself is told", () => {
    expect(wrong("type:")[0]).toEqual(["type:", '"type:" has no value. Such as type:process_raster']);
    expect(wrong("group:a group:b")[0]).toEqual(["group:b", "group: is given twice. Keep one of them."]);
    expect(wrong("label:a=1,a=2")[0]?.[0]).toBe("a=2");
    expect(wrong("created:>-1d created:>-2d")).toHaveLength(1);
    expect(wrong("created:2026-02-30")).toHaveLength(1);
    expect(wrong("group:a group:a label:a=1,a=1")).toEqual([]);
  });

  test("hostile text is bounded and never throws", () => {
    expect(wrong("x".repeat(3000))).toHaveLength(1);
    expect(wrong("a\u0000b")).toHaveLength(1);
    expect(wrong("\ud800")).toHaveLength(1);
    expect(wrong(Array.from({ length: 12 }, (_, i) => `w${i}`).join(" "))).toHaveLength(2);
    expect(parseJobFilter("zz:1 ".repeat(300)).problems.length).toBeLessThanOrEqual(20);
    expect(read("constructor __proto__ toString").words).toEqual(["constructor", "__proto__", "toString"]);
    expect(wrong("constructor:1 __proto__:1 hasOwnProperty:2")).toHaveLength(3);
    expect(Object.hasOwn(jobQuery(read("label:__proto__=x"), now), "label")).toBe(true);
    parseJobFilter('"\\'.repeat(1000));
    parseJobFilter("label:".repeat(300));
    const next = random(seed);
    for (let i = 0; i < 500; i++) {
      const text = Array.from(
        { length: 12 },
        () =>
          ['"', "\\", ":", ",", "=", " ", "type", "label:", "created:>", "-1d", "..", randomText(next)][
            Math.floor(next() * 12)
          ],
      ).join("");
      const { problems } = parseJobFilter(text);
      for (const { from, to } of problems) expect(0 <= from && from <= to && to <= text.length, text).toBe(true);
    }
  });
});

describe("writing", () => {
  const next = random(seed);
  const chance = (share: number) => next() < share;
  const pick = <One>(list: readonly One[]): One => list[Math.floor(next() * list.length)]!;
  const some = <One>(most: number, make: () => One): One[] =>
    Array.from({ length: Math.floor(next() * (most + 1)) }, make);
  const unique = <One>(list: One[]): One[] => [...new Set(list)];
  const text = () => {
    const made = some(6, () =>
      pick(["a", "ä", "😀", " ", '"', "\\", ":", ",", "=", "*", ">", "-", "..", "\n", "type:", "tile"]),
    ).join("");
    return made === "" ? "x" : made;
  };
  const when = () => pick(["-1d", "-90m", "-1w2d", "2026-01-31", "2025-12-31T23:59:59Z", "2026-01-31T08:00+02:00"]);
  const span = () => ({ from: chance(0.4) ? when() : null, to: chance(0.4) ? when() : null });

  function randomTerms(): JobTerms {
    const keys = unique(some(4, text));
    const from = chance(0.3) ? Math.floor(next() * 9) - 4 : null;
    return {
      words: unique(some(4, text)),
      types: unique(some(3, () => pick(["tile", "process_raster", "hello_world"]))),
      statuses: unique(some(3, () => pick(job_statuses))),
      labels: keys.map((key) => ({ key, value: chance(0.3) ? null : chance(0.1) ? "" : text() })),
      conditions: unique(some(2, () => pick(job_conditions))),
      id: chance(0.3) ? "ab12" : null,
      error: chance(0.4) ? `x${text()}` : null,
      group: chance(0.3) ? text() : null,
      correlation: chance(0.3) ? text() : null,
      created: span(),
      finished: span(),
      priority: { from, to: chance(0.3) ? (from ?? 0) + 3 : chance(0.3) ? from : null },
    };
  }

  test(`whatever is asked for is read back from its text (seed ${seed})`, () => {
    for (let i = 0; i < 400; i++) {
      const terms = randomTerms();
      const written = formatJobFilter(terms);
      expect(parseJobFilter(written), written).toEqual({ terms, problems: [] });
      expect(formatJobFilter(parseJobFilter(written).terms)).toBe(written);
    }
  });

  test(`labels and words arrive at the server as they were meant (seed ${seed})`, () => {
    for (let i = 0; i < 300; i++) {
      const terms = randomTerms();
      const { q = "", label } = jobQuery(terms, now);
      expect(splitWords(q)).toEqual(terms.words);
      if (label === undefined) continue;
      const pairs = terms.labels.flatMap(({ key, value }) => (value === null ? [] : [[key, value]]));
      const label_keys = terms.labels.flatMap(({ key, value }) => (value === null ? [key] : []));
      expect(readLabels(label), label).toEqual({ labels: Object.fromEntries(pairs), label_keys });
    }
  });
});

test("the query has moments in place of what was relative, in the reader's days", () => {
  const terms = read("created:>-1d finished:<2026-02-01 is:waiting type:a,b status:failed priority:3 label:team,x=y");
  expect(jobQuery(terms, now)).toEqual({
    type: "a,b",
    status: "failed",
    label: "team,x:y",
    waiting: "true",
    priority_from: "3",
    priority_to: "3",
    created_after: "2026-02-28T12:00:00.000Z",
    finished_before: "2026-02-01T00:00:00.000Z",
  });
  const zurich = (year: number, month: number, day: number) => new Date(Date.UTC(year, month - 1, day) - 3_600_000);
  expect(jobQuery(terms, now, zurich).finished_before).toBe("2026-01-31T23:00:00.000Z");
  expect(whenAt("-1w1d1h1m1s", now).toISOString()).toBe("2026-02-21T10:58:59.000Z");
});

test("only what is a time is one", () => {
  for (const text of ["-1d", "-1w2d3h", "2026-02-28", "2026-02-28T00:00Z", "2026-02-28T00:00:00.123456+05:30"])
    expect([text, isWhen(text)]).toEqual([text, true]);
  for (const text of [
    "1d",
    "-",
    "-1y",
    "2026-2-1",
    "2026-02-29",
    "2026-02-28T25:00Z",
    "2026-02-28T00:00",
    "-999999w",
    "now",
    "0000-01-01",
  ])
    expect([text, isWhen(text)]).toEqual([text, false]);
});

test("labels of a query that are not written so are refused", () => {
  for (const text of ["", ",", "a:b,", ",a:b", ":x", "a\\"]) expect([text, readLabels(text)]).toEqual([text, null]);
  expect(readLabels("a:b:c,d:")).toEqual({ labels: { a: "b:c", d: "" }, label_keys: [] });
});
