import { expect, test } from "vitest";
import { served } from "./served.js";

const { fanfold, asked, broken, database } = served();

test("retention shows the rules and what would go, sets and unsets them, and lets go at once", async () => {
  const { id } = await broken(2);
  const shown = await fanfold(["retention"]);
  expect(shown.out).toMatch(/jobs +any +completed +90d +built in/);
  expect(shown.out).toContain("nothing goes now");
  const set = await fanfold(["retention", "set", "jobs", "--status", "failed", "--keep", "0h"]);
  expect(set.out).toMatch(/jobs +any +failed +0h +default/);
  const dry = await fanfold(["retention", "run", "--dry-run"]);
  expect(dry.out).toMatch(/GOES NOW.*\n *jobs +fixture_mend +failed +1 /);
  expect(await asked("status", id)).toMatchObject({ status: "failed" });
  expect((await fanfold(["retention", "run"])).out).toMatch(/^1 jobs, tasks, events and the like removed, and [1-9]/);
  expect((await fanfold(["status", id])).err).toContain("there is no job");
  expect((await fanfold(["retention", "run"])).out).toContain("nothing to let go");
  await fanfold(["retention", "unset", "jobs", "--status", "failed"]);
  expect((await fanfold(["retention"])).out).not.toContain("0h");
  expect(await database().db.sql`select from app.retention_rules`).toEqual([]);
});

test("a rule that cannot be is refused with everything that is wrong", async () => {
  const refused = await fanfold(["retention", "set", "job", "--newest", "0"]);
  expect(refused.code).toBe(2);
  for (const told of ['there is no kind "job"', "--newest", '"0" is not a whole number'])
    expect(refused.err).toContain(told);
  expect((await fanfold(["retention", "set", "jobs", "--keep", "soon"])).err).toContain('"soon" is not an age');
});

test("purge removes one ended job, and says before what it would remove", async () => {
  const { id } = await broken(2);
  expect((await fanfold(["purge", id, "--dry-run"])).out).toContain("nothing was changed");
  expect((await fanfold(["purge", id, "--reason", "a test"])).out).toMatch(/^removed [0-9a-f]{64} \(failed, /);
  const again = await fanfold(["purge", id]);
  expect([again.code, again.err]).toEqual([2, expect.stringContaining("there is no job")]);
});
