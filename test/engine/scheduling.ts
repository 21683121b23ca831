// Engines with a job for schedules to submit, and schedules that are due.
import { z } from "zod";
import { timesOf } from "../../src/core/cron.js";
import { defineHandler, defineJob } from "../../src/core/declare.js";
import { createRegistry } from "../../src/core/registry.js";
import type { Database, Queryable } from "../../src/engine/database.js";
import { Engine } from "../../src/engine/engine.js";
import type { ScheduleGiven } from "../../src/engine/schedule_records.js";
import { openFolderStore } from "../../src/storage/folder_store.js";

export const nightly = defineJob({
  type: "nightly",
  parameters: z.object({ day: z.string().optional(), n: z.int().optional() }),
  stages: [{ name: "only", task: "t.nightly" }],
});

export const nightly_handler = defineHandler("t.nightly", {}, async () => ({}));

export function engineOn(db: Database, jobs = [nightly], tenant = "default"): Engine {
  return new Engine({
    ...{
      db,
      tenant,
      registry: createRegistry({ jobs, handlers: [nightly_handler] }),
      store: openFolderStore(".fanfold-unused"),
    },
    ...{ openConnection: () => db, close: async () => {} },
  });
}

/** Makes a schedule and moves its next time so far into the past; gives the times it has had since. */
export async function due(engine: Engine, name: string, given: Partial<ScheduleGiven>, ago_s: number): Promise<Date[]> {
  const { schedule } = await engine.schedules.put(name, { cron: "*/10 * * * *", job_type: "nightly", ...given });
  return putBack(engine.db, name, schedule.cron, schedule.time_zone, ago_s);
}

export async function putBack(db: Queryable, name: string, cron: string, zone: string, ago_s: number): Promise<Date[]> {
  const [row] = await db.sql<{ now: Date }>`select now() as now`;
  const now = (row as { now: Date }).now;
  const times = timesOf(cron, zone);
  const found: Date[] = [];
  for (let at = times.next(new Date(now.getTime() - ago_s * 1000)); at !== null && at <= now; at = times.next(at)) {
    found.push(at);
  }
  const first = (found[0] ?? times.next(now)) as Date;
  await db.sql`update app.schedules set next_at = ${first.toISOString()}::text::timestamptz where name = ${name}`;
  return found;
}
