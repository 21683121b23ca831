import { expect, test } from "vitest";
import { served } from "./served.js";

const { fanfold, asked } = served();

test("schedules are set, listed, shown, paused, continued, run and deleted", async () => {
  const none = await fanfold(["schedules"]);
  expect(none).toMatchObject({ code: 0, out: expect.stringContaining("no schedules; make one") });
  const pattern = ["--cron", "30 6 * * 1-5", "--time-zone", "Europe/Zurich"];
  const set = await fanfold(["schedules", "set", "morning", "hello_world", "n=2", ...pattern, "--by", "ada"]);
  expect(set).toMatchObject({
    code: 0,
    out: expect.stringContaining("made  morning: at 06:30, on Monday to Friday, Europe/Zurich"),
  });
  expect(await asked("schedules", "show", "morning")).toMatchObject({ parameters: { n: 2 }, created_by: "ada" });
  expect((await fanfold(["schedules", "show", "morning"])).out).toContain("cron        30 6 * * 1-5");
  expect((await fanfold(["schedules"])).out).toMatch(/morning .*hello_world/);
  expect((await asked("schedules", "preview", "morning")).next).toHaveLength(5);
  // By the clocks of its zone, wherever it is read.
  expect(set.out).toMatch(/next: \d{4}-\d\d-\d\d 06:30:00 Europe\/Zurich/);
  expect((await fanfold(["schedules", "preview", "morning"])).out.match(/ 06:30:00 Europe\/Zurich /g)).toHaveLength(5);
  expect((await fanfold(["schedules", "preview", "--cron", "0 0 L * *"])).out).toContain(
    "on the last day of the month",
  );

  expect((await fanfold(["schedules", "pause", "morning", "--reason", "holidays", "--by", "ada"])).out).toContain(
    "paused  morning",
  );
  expect((await fanfold(["schedules", "show", "morning"])).out).toContain("paused by ada: holidays");
  expect((await fanfold(["schedules", "pause", "morning"])).out).toContain(
    "nothing changed: morning is paused already",
  );
  expect((await fanfold(["schedules", "continue", "morning"])).out).toContain("goes on  morning");

  const run = await asked("schedules", "run", "morning");
  expect((await fanfold(["watch", run.job_id])).code).toBe(0);
  expect((await fanfold(["schedules", "ticks", "morning"])).out).toContain(`submitted  ${run.job_id.slice(0, 12)}`);
  expect((await asked("status", run.job_id)).labels).toMatchObject({ schedule: "morning", tick_at: run.tick_at });

  expect((await fanfold(["schedules", "delete", "morning", "--dry-run"])).out).toContain("would delete morning");
  expect((await fanfold(["schedules", "delete", "morning"])).out).toBe("deleted  morning\n");
  const gone = await fanfold(["schedules", "show", "morning"]);
  expect([gone.code, gone.err]).toEqual([2, expect.stringContaining('there is no schedule "morning"')]);
  const bad = await fanfold(["schedules", "set", "x", "hello_wrld", "n=zero", "--cron", "0 6 * * *"]);
  expect([bad.code, bad.err]).toEqual([2, expect.stringContaining("hello_world")]);
});

test("a schedule takes the options of its jobs as a submit takes them", async () => {
  const set = (...options: string[]) => [
    "schedules",
    "set",
    "hourly",
    "hello_world",
    "--cron",
    "0 * * * *",
    ...options,
  ];
  const options = ["--no-deadline", "--deadline-from", "submit", "--correlation-id", "ticket 17"];
  expect((await asked(...set(...options))).schedule.options).toEqual({
    deadline_s: null,
    deadline_from: "submit",
    correlation_id: "ticket 17",
  });
  const run = await asked("schedules", "run", "hourly");
  expect(await asked("status", run.job_id)).toMatchObject({ correlation_id: "ticket 17" });
  expect((await asked(...set("--deadline", "60"))).schedule.options).toEqual({ deadline_s: 60 });
  const wrong = await fanfold(
    set("--deadline-from", "noon", "--correlation-id", "x".repeat(201), "--group", "no group"),
  );
  expect([wrong.code, wrong.err]).toEqual([
    2,
    expect.stringMatching(/--deadline-from[\s\S]*--correlation-id[\s\S]*at most 200[\s\S]*--group/),
  ]);
  expect((await asked("schedules", "show", "hourly")).options).toEqual({ deadline_s: 60 });
});

test("jobs depend on others and belong to groups, which are sealed, shown and cancelled", async () => {
  expect((await fanfold(["groups", "create", "night-7", "--expected", "2", "--name", "Night"])).out).toContain(
    "opened  night-7",
  );
  const first = await asked("submit", "hello_world", "n=11", "--group", "night-7");
  const second = await asked(
    "submit",
    "hello_world",
    "n=12",
    "--group",
    "night-7",
    "--depends-on",
    first.job_id.slice(0, 16),
  );
  expect((await fanfold(["watch", second.job_id])).code).toBe(0);
  expect(await asked("status", second.job_id)).toMatchObject({
    group_id: "night-7",
    waits_for: 0,
    depends_on: [{ job_id: first.job_id, status: "completed" }],
  });
  expect((await fanfold(["groups", "show", "night-7"])).out).toContain("2 jobs of 2 expected: 2 completed");
  expect((await fanfold(["groups", "jobs", "night-7"])).out).toContain(first.job_id.slice(0, 12));
  expect((await fanfold(["groups"])).out).toMatch(/night-7 +completed +sealed +2 +0/);
  const full = await fanfold(["submit", "hello_world", "n=13", "--group", "night-7"]);
  expect([full.code, full.err]).toEqual([2, expect.stringContaining("sealed")]);

  await fanfold(["submit", "hello_world", "n=14", "--group", "loose", "--wait"]);
  expect((await fanfold(["groups", "seal", "loose"])).out).toContain("sealed  loose");
  expect((await fanfold(["groups", "seal", "loose"])).out).toContain("nothing changed");
  expect((await fanfold(["groups", "cancel", "loose", "--dry-run"])).out).toContain("would cancel 0 jobs of loose");
  expect(await asked("groups", "cancel", "loose")).toMatchObject({ cancelled: 0, left: 0, changed: false });
  const missing = await fanfold(["submit", "hello_world", "--depends-on", "abcdef"]);
  expect([missing.code, missing.err]).toEqual([2, expect.stringContaining("there is no job")]);
});
