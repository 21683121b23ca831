// Engines with a job for schedules to submit, and schedules that are due.
import { z } from "zod";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { createRegistry } from "../../src/core/declare/registry.js";
import { timesOf } from "../../src/core/time/cron.js";
import type { Database, Queryable } from "../../src/engine/database/database.js";
import { Engine } from "../../src/engine/engine.js";
import type { ScheduleGiven } from "../../src/engine/verbs/schedule_records.js";
import { openFolderStore } from "../../src/storage/folder_store.js";

export const nightly = defineJob({
  type: "nightly",
  parameters: z.object({ day: z.string().optional(), n: z.int().optional() }),
  stages: [{ name: "only", task: "t.nightly" }],
});

export const nightly_handler = defineHandler("t.nightly", {}, async () => ({}));

export function engineOn(db: Database, jobs = [nightly], tenant = "default"): Engine {
  return new Engine({
    db,
    tenant,
    registry: createRegistry({ jobs, handlers: [nightly_handler] }),
    store: openFolderStore(".fanfold-unused"),
    openConnection: () => db,
    close: async () => {},
  });
}

/**
 * A pattern whose last time was so many seconds ago: every day or every hour at that very second, so that no other time comes
 * while a test runs.
 */
export async function patternOf(db: Queryable, ago_s: number, every: "day" | "hour" = "day"): Promise<string> {
  const [row] = await db.sql<{ at: Date }>`select now() - make_interval(secs => ${ago_s}::integer) as at`;
  const { at } = row as { at: Date };
  return `${at.getUTCSeconds()} ${at.getUTCMinutes()} ${every === "day" ? at.getUTCHours() : "*"} * * *`;
}

/** Makes a schedule that was due five seconds ago; gives that time. */
export async function dueNow(engine: Engine, name: string, given: Partial<ScheduleGiven> = {}): Promise<Date> {
  const cron = await patternOf(engine.db, 5);
  await engine.schedules.put(name, { cron, job_type: "nightly", ...given });
  return (await putBack(engine.db, name, cron, 3600))[0] as Date;
}

/** Makes a schedule that nobody looked after for so many hours: its last time was ten minutes ago. Gives all it missed. */
export async function missed(
  engine: Engine,
  name: string,
  hours: number,
  given: Partial<ScheduleGiven> = {},
): Promise<Date[]> {
  const cron = await patternOf(engine.db, 600, "hour");
  await engine.schedules.put(name, { cron, job_type: "nightly", ...given });
  return putBack(engine.db, name, cron, hours * 3600);
}

/** Moves a schedule's next time to the first that came in the last so many seconds; gives those there were. */
export async function putBack(db: Queryable, name: string, cron: string, ago_s: number): Promise<Date[]> {
  const [row] = await db.sql<{ now: Date }>`select now() as now`;
  const { now } = row as { now: Date };
  const times = timesOf(cron, "UTC");
  const found: Date[] = [];
  for (let at = times.next(new Date(now.getTime() - ago_s * 1000)); at !== null && at <= now; at = times.next(at)) {
    found.push(at);
  }
  const first = found[0] as Date;
  await db.sql`update app.schedules set next_at = ${first.toISOString()}::text::timestamptz where name = ${name}`;
  return found;
}
