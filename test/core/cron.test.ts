// Cron arithmetic as a table: gaps and overlaps of summer time, leap days, month ends; each time comes at most once.
import { Cron } from "croner";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { cronProblems, nextTimes, timesOf } from "../../src/core/time/cron.js";
import { cronInWords } from "../../src/core/time/cron_words.js";

/** [what, cron, zone, after, the times that follow] in UTC, seconds left out. */
const table: [string, string, string, string, string[]][] = [
  [
    "a fixed time in the gap comes at its end",
    "30 2 * * *",
    "Europe/Zurich",
    "2026-03-28T12:00",
    ["2026-03-29T01:00", "2026-03-30T00:30", "2026-03-31T00:30"],
  ],
  [
    "times that repeat inside the gap do not come",
    "*/30 2 * * *",
    "Europe/Zurich",
    "2026-03-28T12:00",
    ["2026-03-30T00:00", "2026-03-30T00:30"],
  ],
  [
    "every hour, the gap is one hour less",
    "0 * * * *",
    "Europe/Zurich",
    "2026-03-29T00:00",
    ["2026-03-29T01:00", "2026-03-29T02:00"],
  ],
  [
    "a fixed time in the overlap comes once, the first time",
    "30 2 * * *",
    "Europe/Zurich",
    "2026-10-24T12:00",
    ["2026-10-25T00:30", "2026-10-26T01:30"],
  ],
  [
    "times that repeat come in both hours of the overlap",
    "*/30 2 * * *",
    "Europe/Zurich",
    "2026-10-24T12:00",
    ["2026-10-25T00:00", "2026-10-25T00:30", "2026-10-25T01:00", "2026-10-25T01:30", "2026-10-26T01:00"],
  ],
  [
    "a fixed time in the gap comes at its end",
    "30 2 * * *",
    "America/New_York",
    "2026-03-07T12:00",
    ["2026-03-08T07:00", "2026-03-09T06:30"],
  ],
  [
    "a fixed time in the overlap comes once, the first time",
    "30 1 * * *",
    "America/New_York",
    "2026-10-31T12:00",
    ["2026-11-01T05:30", "2026-11-02T06:30"],
  ],
  [
    "times that repeat come in both hours of the overlap",
    "*/30 1 * * *",
    "America/New_York",
    "2026-11-01T00:00",
    ["2026-11-01T05:00", "2026-11-01T05:30", "2026-11-01T06:00", "2026-11-01T06:30", "2026-11-02T06:00"],
  ],
  [
    "the leap day comes in leap years",
    "0 12 29 2 *",
    "UTC",
    "2026-01-01T00:00",
    ["2028-02-29T12:00", "2032-02-29T12:00"],
  ],
  ["2100 has none", "0 12 29 2 *", "UTC", "2096-03-01T00:00", ["2104-02-29T12:00"]],
  [
    "day 31 comes in months that have one",
    "0 0 31 * *",
    "UTC",
    "2026-01-31T00:00",
    ["2026-03-31T00:00", "2026-05-31T00:00", "2026-07-31T00:00"],
  ],
  [
    "the last day comes in every month",
    "0 0 L * *",
    "UTC",
    "2026-01-31T00:00",
    ["2026-02-28T00:00", "2026-03-31T00:00", "2026-04-30T00:00"],
  ],
  [
    "midnight is that of the zone",
    "0 0 1 * *",
    "Europe/Zurich",
    "2026-03-15T00:00",
    ["2026-03-31T22:00", "2026-04-30T22:00"],
  ],
];

describe("the times of a pattern", () => {
  test.each(table)("%s: %s in %s after %s", (_, cron, zone, after, expected) => {
    const found = nextTimes(cron, zone, new Date(`${after}:00Z`), expected.length);
    expect(found.map((at) => at.toISOString().slice(0, 16))).toEqual(expected);
  });

  test("six fields count seconds", () => {
    const found = nextTimes("*/20 * * * * *", "UTC", new Date("2026-01-01T00:00:00.500Z"), 3);
    expect(found.map((at) => at.toISOString().slice(14, 23))).toEqual(["00:20.000", "00:40.000", "01:00.000"]);
  });

  test("each is later than the one before, around every change of the clocks", () => {
    for (const [zone, ...days] of [
      ["Europe/Zurich", "2026-03-29", "2026-10-25"],
      ["America/New_York", "2026-03-08", "2026-11-01"],
      // Half an hour, and a zone that changes four times a year.
      ["Australia/Lord_Howe", "2026-04-05", "2026-10-04"],
      ["Africa/Casablanca", "2026-02-15", "2026-03-22"],
    ] as const) {
      for (const cron of ["*/20 * * * *", "30 2 * * *", "0 0,1,2,3 * * *"]) {
        const times = timesOf(cron, zone);
        for (const day of days) {
          const noon = new Date(`${day}T12:00:00Z`).getTime();
          let before = noon - 36 * 3_600_000;
          for (
            let at = times.next(new Date(before));
            at !== null && at.getTime() < noon + 12 * 3_600_000;
            at = times.next(at)
          ) {
            expect([cron, zone, at.toISOString(), at.getTime() > before]).toEqual([cron, zone, at.toISOString(), true]);
            before = at.getTime();
          }
        }
      }
    }
  });

  test("the last time is found in a few dozen looks, however many there were, and no preview names more than a hundred", () => {
    const looks = vi.spyOn(Cron.prototype, "nextRun");
    onTestFinished(() => looks.mockRestore());
    const until = new Date("2026-11-16T00:00:00Z");
    // Six hours of seconds, and nothing for days behind them.
    expect(timesOf("* * 0-5 10 11 *", "UTC").last(new Date("2026-11-10T00:00:00Z"), until)).toEqual(
      new Date("2026-11-10T05:59:59Z"),
    );
    expect(looks.mock.calls.length).toBeLessThan(60);
    looks.mockClear();
    const never = timesOf("0 0 30 2 *", "UTC");
    for (let day = 1; day < 20; day++) expect(never.next(new Date(Date.UTC(2026, 1, day)))).toBeNull();
    expect(looks).toHaveBeenCalledTimes(1);
    expect(nextTimes("* * * * *", "UTC", until, 1e9)).toHaveLength(100);
  });

  test("the last time before a moment is found by looking back, and is the one that walking finds", () => {
    const until = new Date("2026-10-25T01:10:00Z");
    for (const cron of ["* * * * * *", "*/7 * * * *", "30 2 * * *", "0 0 1 1 *"]) {
      const times = timesOf(cron, "Europe/Zurich");
      const from = new Date("2026-01-01T00:00:00Z");
      const found = times.last(from, until);
      const next = found === null ? null : times.next(found);
      expect([cron, found !== null && found <= until, next !== null && next > until]).toEqual([
        cron,
        cron !== "0 0 1 1 *",
        cron !== "0 0 1 1 *",
      ]);
    }
    expect(timesOf("0 0 1 1 *", "UTC").last(new Date("2026-01-01T00:00:00Z"), until)?.toISOString()).toBe(
      "2026-01-01T00:00:00.000Z",
    );
  });
});

describe("what is wrong with a pattern", () => {
  test.each([
    ["* * * *", "has 4 fields"],
    ["* * * * * * *", "has 7 fields"],
    ["61 * * * *", "Invalid value"],
    ["*/0 * * * *", "stepping"],
    ["? * * * *", "characters"],
    ["@daily", "names with @"],
    ["2026-01-01T00:00:00", "characters"],
    ["", "is empty"],
    [`${"1,".repeat(200)}1 * * * *`, "longer"],
    ["0 0 30 2 *", "never comes"],
    ["\0 * * * *", "characters"],
    [5, "must be a string"],
    [null, "must be a string"],
  ])("%j is refused", (cron, why) => {
    expect(cronProblems(cron, "UTC")).toMatchObject([{ path: "$.cron", problem: expect.stringContaining(why) }]);
  });

  test("a time zone that is none is refused, with the pattern's problem at once", () => {
    for (const zone of ["Mars/Olympus", "+02:00", "", null, "x".repeat(100)]) {
      expect(cronProblems("* *", zone).map(({ path }) => path)).toEqual(["$.time_zone", "$.cron"]);
    }
    expect(cronProblems("0 6 * * MON-FRI", "Europe/Zurich")).toEqual([]);
  });
});

test("a pattern is told in words", () => {
  const words = (cron: string) => cronInWords(cron, "UTC").replace(/, UTC$/, "");
  expect(words("30 6 * * *")).toBe("at 06:30, every day");
  expect(words("0 * * * *")).toBe("every hour, every day");
  expect(words("*/5 * * * *")).toBe("every 5 minutes, every day");
  expect(words("*/10 * * * * *")).toBe("every 10 seconds, every day");
  expect(words("0 6,18 * * 1-5")).toBe("at 06:00 and 18:00, on Monday to Friday");
  expect(words("0 0 L * *")).toBe("at 00:00, on the last day of the month");
  expect(words("15 2 1 JAN,JUL *")).toBe("at 02:15, on day 1 of the month in January and July");
  expect(words("0 9-17 * * MON")).toContain("hour 9 to 17");
});
