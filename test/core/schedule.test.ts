// What is done about times that are due, by policy.
import { expect, test } from "vitest";
import { timesOf } from "../../src/core/time/cron.js";
import { fillTick, type MissedPolicy, most_at_once, settleDue } from "../../src/core/time/schedule.js";

const at = (text: string) => new Date(`2026-05-01T${text}Z`);

function settled(policy: MissedPolicy, due: string, now: string, cron = "*/10 * * * *") {
  const { times, last_at, next_at } = settleDue(timesOf(cron, "UTC"), policy, at(due), at(now));
  const clock = (date: Date | null) => date?.toISOString().slice(11, 19);
  return {
    times: times.map(({ tick_at, outcome, missed }) => `${clock(tick_at)} ${outcome} ${missed}`),
    last: clock(last_at),
    next: clock(next_at),
  };
}

test("a time taken within a minute is taken, whatever the policy", () => {
  for (const policy of ["skip", "one", "all"] as const) {
    expect(settled(policy, "10:00:00", "10:00:04")).toEqual({
      times: ["10:00:00 submit 0"],
      last: "10:00:00",
      next: "10:10:00",
    });
    expect(settled(policy, "10:00:00", "10:01:00").times).toEqual(["10:00:00 submit 0"]);
  }
});

test("of times that were missed skip takes none, one takes the last for all, all takes each", () => {
  expect(settled("skip", "10:00:00", "10:35:00")).toEqual({
    times: ["10:30:00 missed 3"],
    last: "10:30:00",
    next: "10:40:00",
  });
  expect(settled("one", "10:00:00", "10:35:00")).toEqual({
    times: ["10:30:00 submit 3"],
    last: "10:30:00",
    next: "10:40:00",
  });
  expect(settled("all", "10:00:00", "10:35:00")).toEqual({
    times: ["10:00:00 submit 0", "10:10:00 submit 0", "10:20:00 submit 0", "10:30:00 submit 0"],
    last: "10:30:00",
    next: "10:40:00",
  });
});

test("what is missed and what is on time are told apart", () => {
  expect(settled("skip", "10:00:00", "10:30:20").times).toEqual(["10:20:00 missed 2", "10:30:00 submit 0"]);
  expect(settled("one", "10:00:00", "10:30:20").times).toEqual(["10:20:00 submit 2", "10:30:00 submit 0"]);
});

test("what is taken at once is bounded, and the rest stays due", () => {
  const found = settleDue(timesOf("* * * * * *", "UTC"), "all", at("10:00:00"), at("11:00:00"));
  expect(found.times.length).toBe(most_at_once);
  expect(found.next_at).toEqual(new Date(found.last_at.getTime() + 1000));
  // Years of missed seconds are passed over without walking through them.
  const long_ago = settleDue(timesOf("* * * * * *", "UTC"), "one", new Date("2016-01-01T00:00:00Z"), at("10:00:00"));
  expect(long_ago.times[0]).toEqual({ tick_at: at("09:58:59"), outcome: "submit", missed: 1000 });
});

test("a string that is exactly the placeholder becomes the time, at any depth, and nothing else does", () => {
  const filled = fillTick(
    {
      day: "{{tick_at}}",
      list: ["{{ tick_at }}", 1, null],
      text: "at {{tick_at}}",
      "{{tick_at}}": true,
      other: "{{now}}",
    },
    at("10:00:00"),
  );
  const time = "2026-05-01T10:00:00.000Z";
  expect(filled).toEqual({
    day: time,
    list: [time, 1, null],
    text: "at {{tick_at}}",
    "{{tick_at}}": true,
    other: "{{now}}",
  });
});
