// Schedules as people see them: made, changed, paused, run by hand, previewed. The scheduler submits their jobs.
import { schedules_api } from "../../core/api/schedules.js";
import { validateParameters } from "../../core/declare/parameters.js";
import { BadRequest, Conflict, isFanfoldError } from "../../core/errors/errors.js";
import type { Problem } from "../../core/errors/problems.js";
import { cronProblems, nextTimes, timesOf } from "../../core/time/cron.js";
import { cronInWords } from "../../core/time/cron_words.js";
import { fillTick } from "../../core/time/schedule.js";
import type { Queryable } from "../database/database.js";
import type { Engine } from "../engine.js";
import { submitFor } from "../upkeep/scheduler.js";
import type { VerbOptions } from "./operator.js";
import type { SubmitReply } from "./records.js";
import { asked } from "./reply.js";
import type { RecentTick, ScheduleGiven, ScheduleRecord } from "./schedule_records.js";

type Stored = Omit<ScheduleRecord, "words">;

const inWords = (stored: Stored): ScheduleRecord => ({
  ...stored,
  words: cronInWords(stored.cron, stored.time_zone),
});

export interface PutOptions {
  /** Only if this is its version; 0: only if there is none of this name. */
  if_version?: number | null;
  actor?: string | null;
}

export class Schedules {
  constructor(private readonly engine: Engine) {}

  get #db() {
    return this.engine.db;
  }

  /** Makes a schedule or replaces the one of that name; what is wrong with it is told all at once. */
  async put(
    name: string,
    given: ScheduleGiven,
    { if_version = null, actor = null }: PutOptions = {},
  ): Promise<{ created: boolean; schedule: ScheduleRecord }> {
    const { cron, time_zone = "UTC", job_type, parameters = {}, options = {}, missed = "one", description } = given;
    const problems = cronProblems(cron, time_zone);
    const now = await this.#now();
    problems.push(...(await this.#jobProblems(job_type, parameters, now)));
    if (problems.length > 0) throw new BadRequest("The schedule is not right", { problems });
    const next_at = timesOf(cron, time_zone).next(now)?.toISOString() ?? null;
    const request = JSON.stringify({
      name,
      description: description ?? null,
      cron: cron.trim(),
      time_zone,
      job_type,
      parameters,
      options,
      missed,
      next_at,
      if_version,
      actor,
      tenant: this.engine.tenant,
    });
    const reply = await asked<{ created: boolean; schedule: Stored }>(
      this.#db.sql`select app.put_schedule(${request}::text::json) as reply`,
    );
    return { ...reply, schedule: inWords(reply.schedule) };
  }

  /** Changes what is given and keeps the rest. */
  async patch(
    name: string,
    change: Partial<ScheduleGiven>,
    { if_version = null, actor = null }: PutOptions = {},
  ): Promise<ScheduleRecord> {
    const { version, cron, time_zone, job_type, parameters, options, missed, description } = await this.get(name);
    const kept = { cron, time_zone, job_type, parameters, options, missed, description };
    const { schedule } = await this.put(name, { ...kept, ...change }, { if_version: if_version ?? version, actor });
    return schedule;
  }

  async get(name: string): Promise<ScheduleRecord> {
    return inWords(
      await asked(this.#db.sql`select app.get_schedule(${name}::text, ${this.engine.tenant}::text) as reply`),
    );
  }

  /** `recent`: so many last times of each, `fires`: so many next ones. */
  async list({
    limit = 50,
    cursor = null,
    recent = 0,
    fires = 0,
  }: {
    limit?: number;
    cursor?: string | null;
    recent?: number;
    fires?: number;
  } = {}): Promise<{
    schedules: ScheduleRecord[];
    next: string | null;
  }> {
    const page = await asked<{ schedules: Stored[]; next: string | null }>(
      this.#db.sql`select app.list_schedules(
        ${limit}::integer, ${cursor}::text, ${this.engine.tenant}::text) as reply`,
    );
    const schedules = page.schedules.map(inWords);
    if (recent > 0) {
      const names = JSON.stringify(schedules.map(({ name }) => name));
      const told = await asked<Record<string, RecentTick[]>>(
        this.#db
          .sql`select app.recent_ticks(${names}::text::json, ${recent}::integer, ${this.engine.tenant}::text) as reply`,
      );
      for (const schedule of schedules) schedule.recent = told[schedule.name] ?? [];
    }
    if (fires > 0) {
      const now = await this.#now();
      for (const schedule of schedules) {
        const times = nextTimes(schedule.cron, schedule.time_zone, now, fires);
        schedule.fires = times.map((at) => at.toISOString());
      }
    }
    return { schedules, next: page.next };
  }

  /** Its history goes too; its jobs stay. */
  delete(name: string, { reason, actor }: VerbOptions = {}) {
    // The function takes a reason, for which a DELETE over HTTP has no place.
    const fields = { name, reason, actor };
    return this.engine.call(schedules_api.delete, fields);
  }

  pause(name: string, options: VerbOptions = {}): Promise<{ changed: boolean; schedule: ScheduleRecord }> {
    return this.#pause(name, true, null, null, options);
  }

  /** It goes on with the first time after now; what passed while it was paused is not made up for. */
  async continue(name: string, options: VerbOptions = {}): Promise<{ changed: boolean; schedule: ScheduleRecord }> {
    for (let again = true; ; again = false) {
      const { cron, time_zone, version } = await this.get(name);
      const next = timesOf(cron, time_zone).next(await this.#now());
      try {
        return await this.#pause(name, false, next?.toISOString() ?? null, version, options);
      } catch (error) {
        // Its times may be others now.
        if (!again || !(error instanceof Conflict)) throw error;
      }
    }
  }

  /** One job now, whatever the clock says, paused or not. */
  async runNow(
    name: string,
    { actor = null, reason = null }: VerbOptions = {},
  ): Promise<SubmitReply & { tick_at: string }> {
    const job = await this.engine.findJob((await this.get(name)).job_type);
    return this.#db.transaction(async (tx) => {
      const { schedule_id, tick_at, schedule } = await asked<{
        schedule_id: number;
        tick_at: string;
        schedule: Stored;
      }>(tx.sql`select app.begin_run_now(${name}::text, ${this.engine.tenant}::text) as reply`);
      const at = new Date(tick_at);
      const reply = await submitFor(this.engine, tx, job, schedule, at, actor);
      const tick = {
        tick_at: at.toISOString(),
        outcome: "submitted",
        job_id: reply.job_id,
        by_hand: true,
        actor,
        reason,
      };
      await asked(tx.sql`select app.record_ticks(
        ${schedule_id}::bigint, ${JSON.stringify([tick])}::text::json) as reply`);
      return { ...reply, tick_at: at.toISOString() };
    });
  }

  /** Newest first; the last thousand are kept. */
  ticks(name: string, page: { limit?: number; cursor?: string | null } = {}) {
    return this.engine.call(schedules_api.ticks, { name, ...page });
  }

  /** The next times of a pattern, by the database's clock, and the pattern in words. */
  async preview(cron: string, time_zone = "UTC", count = 5): Promise<{ words: string; next: string[] }> {
    const problems = cronProblems(cron, time_zone);
    if (problems.length > 0) throw new BadRequest("The schedule is not right", { problems });
    const next = nextTimes(cron, time_zone, await this.#now(), count).map((at) => at.toISOString());
    return { words: cronInWords(cron, time_zone), next };
  }

  async #pause(
    name: string,
    paused: boolean,
    next_at: string | null,
    if_version: number | null,
    { reason = null, actor = null }: VerbOptions,
  ) {
    const reply = await asked<{ changed: boolean; schedule: Stored }>(
      this.#db.sql`select app.pause_schedule(
        ${name}::text, ${paused}::boolean, ${reason}::text, ${next_at}::text, ${this.engine.tenant}::text,
        ${actor}::text, ${if_version}::integer) as reply`,
    );
    return { ...reply, schedule: inWords(reply.schedule) };
  }

  async #jobProblems(job_type: string, parameters: Record<string, unknown>, now: Date): Promise<Problem[]> {
    try {
      await validateParameters(await this.engine.findJob(job_type), fillTick(parameters, now));
      return [];
    } catch (error) {
      if (!isFanfoldError(error)) throw error;
      if (error.code === "not_found")
        return [{ path: "$.job_type", problem: error.message, fix: error.hint ?? "Name a job type that exists." }];
      return error.problems.map((found) => ({ ...found, path: `$.parameters${found.path.slice(1)}` }));
    }
  }

  async #now(db: Queryable = this.#db): Promise<Date> {
    const [row] = await db.sql<{ now: Date }>`select now() as now`;
    return (row as { now: Date }).now;
  }
}
