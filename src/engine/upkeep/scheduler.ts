// Submits what schedules say, when they say it. Any process may run one, many at once: a schedule is taken by comparing and
// setting its next time in the very transaction in which the job of that time is submitted, so each time gets its job exactly once,
// or stays due, whatever becomes of those behind it. The database says what is due and what time it is; here only the next time is computed from that.
import type { Logger } from "pino";
import type { Job } from "../../core/declare/declare.js";
import { validateParameters } from "../../core/declare/parameters.js";
import { isFanfoldError } from "../../core/errors/errors.js";
import { timesOf } from "../../core/time/cron.js";
import { type DueTime, fillTick, settleDue } from "../../core/time/schedule.js";
import { fault } from "../../fault.js";
import { type Database, DatabaseError, type Queryable } from "../database/database.js";
import type { Engine } from "../engine.js";
import type { SubmitReply } from "../verbs/records.js";
import { asked } from "../verbs/reply.js";
import type { DueSchedule, ScheduleOptions } from "../verbs/schedule_records.js";
import { HeldTenants } from "./held_tenants.js";
import type { Alert } from "./janitor.js";

export interface SchedulerParts {
  engine: Engine;
  /** Where it works; the engine's own when left out. */
  db?: Database;
  log: Logger;
  on_alert?: ((alert: Alert) => unknown) | undefined;
}

export interface Round {
  /** Schedules of which it took something. */
  taken: number;
  submitted: number;
  failed: number;
  missed: number;
  /** Schedules whose job type it does not know. */
  left: number;
  /** Seconds until the next one is due; null: none is. */
  wait_s: number | null;
}

/** How long it sleeps at most: a schedule made meanwhile must not wait long. */
const LONGEST_MS = 5000;
const PAGE = 100;
/** Pages of times for one schedule in one round; what is still due then has its turn in the next. */
const PAGES_OF_ONE = 10;
const not_known = Symbol("not known");

interface Tick {
  tick_at: string;
  outcome: "submitted" | "failed" | "missed";
  job_id?: string;
  missed?: number;
  reason?: string;
}

export class Scheduler {
  private readonly db: Database;
  /** Whose rows somebody's open transaction holds: what is due for them stays due. */
  private readonly held = new HeldTenants();
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<unknown> = Promise.resolve();
  private stopped = false;
  /** What it was told last. */
  private may: boolean | null = null;

  constructor(private readonly parts: SchedulerParts) {
    this.db = parts.db ?? parts.engine.db;
  }

  /** Rounds, until stopped. Several that start together do not go on together. */
  start(): this {
    this.#after(500 * Math.random());
    return this;
  }

  /** Waits for the round it is at. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.running;
  }

  #after(ms: number): void {
    if (this.stopped) return;
    this.timer = setTimeout(() => {
      this.running = this.#turn();
    }, ms);
  }

  async #turn(): Promise<void> {
    let pause_ms = LONGEST_MS * (0.75 + Math.random() * 0.5);
    try {
      const jobs = await this.startDue();
      const { taken, wait_s } = (await this.#maySubmit()) ? await this.round() : { taken: 0, wait_s: null };
      if (taken + jobs.started > 0) pause_ms = 50 * Math.random();
      for (const wait of [wait_s, jobs.wait_s]) {
        if (wait !== null) pause_ms = Math.min(pause_ms, wait * 1000 + 50 * Math.random());
      }
    } catch (error) {
      if (!this.stopped) this.parts.log.warn({ err: error }, "a round of the scheduler failed");
    }
    this.#after(pause_ms);
  }

  /** Jobs that were submitted for later and whose time has come. */
  startDue(): Promise<{ started: number; wait_s: number | null }> {
    return asked(this.db.sql`select app.start_due_jobs() as reply`);
  }

  /** Everything that is due now, once. */
  async round(): Promise<Round> {
    const { engine, log } = this.parts;
    const types = JSON.stringify([...engine.registry.jobs.keys()]);
    const { now, wait_s, schedules } = await asked<{
      now: string;
      wait_s: number | null;
      schedules: DueSchedule[];
    }>(this.db.sql`select app.due_schedules(${types}::text::json, ${PAGE}::integer) as reply`);
    let stuck = false;
    const done: Round = { taken: 0, submitted: 0, failed: 0, missed: 0, left: 0, wait_s };
    // Each of ten schedulers begins elsewhere.
    for (const schedule of shuffled(schedules)) {
      if (this.stopped) break;
      if (this.held.has(schedule.tenant_id)) continue;
      try {
        await this.#fire(schedule, new Date(now), done);
      } catch (error) {
        // One that cannot be submitted now stays due, and must not keep the others waiting.
        stuck = true;
        if (isHeld(error)) this.held.add(schedule.tenant_id);
        if (error === not_known) done.left++;
        else if (!this.stopped)
          log.warn({ err: error, schedule: schedule.name, tenant_id: schedule.tenant_id }, "a schedule stays due");
      }
    }
    if (stuck && !this.stopped) {
      this.#tell((await asked<{ alerts: Alert[] }>(this.db.sql`select app.tell_left_schedules() as reply`)).alerts);
    }
    return done;
  }

  async #fire(schedule: DueSchedule, now: Date, done: Round): Promise<void> {
    const engine = this.parts.engine.forTenant(schedule.tenant_id);
    const job = await engine.findJob(schedule.job_type).catch((error: { code?: unknown }) => {
      throw error.code === "not_found" ? not_known : error;
    });
    const times = timesOf(schedule.cron, schedule.time_zone);
    let due_at: string | null = schedule.next_at;
    let is_first = true;
    for (let page = 0; page < PAGES_OF_ONE && due_at !== null && new Date(due_at) <= now; page++) {
      const due = settleDue(times, schedule.missed, new Date(due_at), now);
      for (const [at, time] of due.times.entries()) {
        if (this.stopped) return;
        const next_at: string | null = (due.times[at + 1]?.tick_at ?? due.next_at)?.toISOString() ?? null;
        // What is refused or breaks here leaves this time and those behind it due, and those before it settled.
        const settled = await this.#settle(engine, job, schedule, time, due_at as string, next_at);
        if (settled === null) return;
        if (is_first) done.taken++;
        is_first = false;
        if (settled !== "repeated") done[settled]++;
        due_at = next_at;
      }
    }
  }

  /** One time, in one transaction. Null: another was quicker. */
  async #settle(
    engine: Engine,
    job: Job,
    schedule: DueSchedule,
    time: DueTime,
    due_at: string,
    next_at: string | null,
  ): Promise<Tick["outcome"] | "repeated" | null> {
    const settled = await this.db.transaction(async (tx) => {
      const [row] = await tx.sql<{ taken: boolean }>`select app.take_schedule(
        ${schedule.schedule_id}::bigint, ${schedule.version}::integer, ${due_at}::text,
        ${time.tick_at.toISOString()}::text, ${next_at}::text) as taken`;
      if (row?.taken !== true) return null;
      await fault("schedule-taken");
      await tx.script("savepoint untouched");
      const tick = await submitTick(engine, tx, job, schedule, time);
      const { alerts, repeated } = await asked<{ alerts: Alert[]; repeated: number }>(tx.sql`select app.record_ticks(
        ${schedule.schedule_id}::bigint, ${JSON.stringify([tick])}::text::json) as reply`);
      if (repeated > 0) {
        // It has had its job before, under other times of the schedule: no second one, and the clock goes on.
        await tx.script("rollback to savepoint untouched");
        return { outcome: "repeated" as const, alerts: [] };
      }
      await fault("schedule-recorded");
      return { outcome: tick.outcome, alerts };
    });
    if (settled === null) return null;
    this.#tell(settled.alerts);
    return settled.outcome;
  }

  async #maySubmit(): Promise<boolean> {
    const [row] = await this.db.sql<{ may: boolean }>`
      select has_function_privilege('app.submit_jobs(jsonb, json)', 'execute')
        and has_function_privilege('app.due_schedules(json, integer)', 'execute') as may`;
    if (typeof row?.may !== "boolean") throw new DatabaseError("08007", "the database did not say what this role may");
    if (!row.may && this.may !== false) {
      this.parts.log.info({}, "this role may not submit jobs: schedules are left to others");
    }
    this.may = row.may;
    return row.may;
  }

  #tell(alerts: readonly Alert[]): void {
    const { log, on_alert } = this.parts;
    for (const alert of alerts) {
      log.error({ ...alert }, `alert: ${alert.alert}`);
      Promise.resolve()
        .then(() => on_alert?.(alert))
        .catch((error: unknown) => log.warn({ err: error, alert: alert.alert }, "the alert hook failed"));
    }
  }
}

/** One time's job, in the transaction that took the time. What we refuse for good is written down; anything else undoes it all. */
async function submitTick(
  engine: Engine,
  tx: Queryable,
  job: Job,
  schedule: Pick<DueSchedule, "name" | "parameters" | "options">,
  { tick_at, outcome, missed }: DueTime,
): Promise<Tick> {
  const at = tick_at.toISOString();
  if (outcome === "missed") {
    return {
      tick_at: at,
      outcome,
      missed,
      reason: "no scheduler was running to submit it, and its policy is to skip what was missed",
    };
  }
  await tx.script("savepoint tick");
  try {
    const { job_id } = await submitFor(engine, tx, job, schedule, tick_at);
    await tx.script("release savepoint tick");
    return { tick_at: at, outcome: "submitted", job_id, missed };
  } catch (error) {
    // A limit that time lifts: the time stays due.
    if (!isFanfoldError(error) || error.http_status >= 500 || error.code === "over_limit") throw error;
    await tx.script("rollback to savepoint tick");
    return { tick_at: at, outcome: "failed", missed, reason: error.message };
  }
}

/** A job of a schedule: a run of its own for each time, found by its labels. */
export async function submitFor(
  engine: Engine,
  db: Queryable,
  job: Job,
  { name, parameters, options }: { name: string; parameters: Record<string, unknown>; options: ScheduleOptions },
  tick_at: Date,
  /** Who asked for it, where it was not the clock. */
  actor: string | null = null,
): Promise<SubmitReply> {
  const filled = fillTick(parameters, tick_at) as Record<string, unknown>;
  await validateParameters(job, filled);
  const labels = { ...options.labels, schedule: name, tick_at: tick_at.toISOString() };
  for (let attempt = 0; ; attempt++) {
    const item = { parameters: filled, ...options, labels, ...(actor === null ? {} : { actor }) };
    const [reply] = await engine.submitJobs(job, [item], { mode: "force", db });
    // Two forced submits of the same parameters at once share one run: of two schedules each shall have its own.
    if (reply?.created === true || attempt === 5) return reply as SubmitReply;
  }
}

function isHeld(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === "55P03";
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
