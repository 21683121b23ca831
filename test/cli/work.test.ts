import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { freshDatabase } from "../postgres.js";
import { start } from "./fake_terminal.js";

const app = ["--app", fileURLToPath(new URL("./fixture_app.ts", import.meta.url))];

test("work --once runs what waits of the types it is asked for, and ends; another ends the rest", async () => {
  const database = await freshDatabase();
  const root = await mkdtemp(path.join(tmpdir(), "fanfold-work-"));
  const env = { DATABASE_URL: database.url, FANFOLD_DATA_DIR: root };
  const fanfold = (...argv: string[]) => start([...argv, ...app], { env }).done;
  const statuses = () =>
    database.db.sql<{ job_type: string; status: string }>`select job_type, status::text from app.jobs order by 1`;
  try {
    const unknown = await fanfold("work", "--once", "--types", "fixture.noting");
    expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining('there is no handler "fixture.noting"')]);
    expect(unknown.err).toContain("fixture.nothing");
    const narrow = await fanfold("work", "--once", "--slots", "2,fixture.noting=1");
    expect([narrow.code, narrow.err]).toEqual([2, expect.stringContaining('there is no handler "fixture.noting"')]);
    expect((await fanfold("work", "--once", "--slots", "fixture.count=none")).err).toContain("is not a whole number");
    await fanfold("submit", "fixture_partial", "n=3");
    await fanfold("submit", "fixture_deliver");
    const some = await fanfold("work", "--once", "--types", "fixture.sometimes,fixture.c*");
    expect(some.code).toBe(2);
    const first = await fanfold(
      ...["work", "--once", "--types", "fixture.deliver,fixture.count", "--slots", "3,fixture.deliver=1"],
    );
    expect([first.code, first.err]).toEqual([0, expect.stringContaining("stopped gracefully; 1 tasks completed")]);
    expect(await statuses()).toEqual([
      { job_type: "fixture_deliver", status: "completed" },
      { job_type: "fixture_partial", status: "queued" },
    ]);
    expect((await fanfold("work", "--once")).code).toBe(0);
    expect((await statuses())[1]).toEqual({ job_type: "fixture_partial", status: "partial_success" });
  } finally {
    await database.drop();
    await rm(root, { recursive: true, force: true });
  }
});
