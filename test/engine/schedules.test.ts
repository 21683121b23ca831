// Schedules: each time gets its job once; what was missed is settled by policy; what cannot be submitted is told.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { defineJob } from "../../src/core/declare/declare.js";
import type { Database, Queryable } from "../../src/engine/database/database.js";
import { openServer } from "../../src/engine/database/server_database.js";
import { Scheduler } from "../../src/engine/upkeep/scheduler.js";
import { armFault, disarmFaults } from "../../src/fault.js";
import { plainScript } from "../plain_code.js";
import { bothDatabases, freshDatabase } from "../postgres.js";
import { one } from "./floor.js";
import { untilWaiting } from "./lock_waits.js";
import { dueNow, engineOn, missed, nightly, nightly_handler } from "./scheduling.js";

const schedulerOf = (engine: ReturnType<typeof engineOn>) => new Scheduler({ engine, log: engine.log });

interface SeenJob {
  tick_at: string;
  run: number;
  parameters: unknown;
  priority: number;
}

/** Jobs that a schedule submitted, by their time. */
function jobsOf(db: Queryable, name: string): Promise<SeenJob[]> {
  return db.sql<SeenJob & Record<string, unknown>>`
    select labels ->> 'tick_at' as tick_at, run, parameters, priority from app.jobs
     where labels ->> 'schedule' = ${name} order by 1, run`;
}

const iso = (dates: readonly Date[]) => dates.map((at) => at.toISOString());

bothDatabases(
  "schedules",
  (open, kind) => {
    test("a scheduler is told when to look again, and that there is nothing to wait for", async () => {
      const db = await open();
      const engine = engineOn(db);
      expect((await schedulerOf(engine).round()).wait_s).toBeNull();
      await engine.schedules.put("yearly", { cron: "0 0 1 1 *", job_type: "nightly" });
      expect((await schedulerOf(engine).round()).wait_s).toBeGreaterThan(0);
      await engine.schedules.pause("yearly");
      expect((await schedulerOf(engine).round()).wait_s).toBeNull();
    });

    test("are made, changed, paused, continued, previewed and deleted, each with who and why", async () => {
      const db = await open();
      const { schedules } = engineOn(db);
      const made = await schedules.put(
        "digest",
        { cron: "30 6 * * 1-5", time_zone: "Europe/Zurich", job_type: "nightly", description: "Every morning" },
        { actor: "ann" },
      );
      expect(made).toMatchObject({
        created: true,
        schedule: {
          name: "digest",
          words: "at 06:30, on Monday to Friday, Europe/Zurich",
          missed: "one",
          version: 1,
          created_by: "ann",
          paused_at: null,
          last_at: null,
          last: null,
        },
      });
      expect(new Date(made.schedule.next_at as string).getUTCMinutes()).toBe(30);
      const again = await schedules.put("digest", {
        cron: "30 6 * * 1-5",
        time_zone: "Europe/Zurich",
        job_type: "nightly",
      });
      expect(again).toMatchObject({ created: false, schedule: { version: 2, next_at: made.schedule.next_at } });
      const patched = await schedules.patch("digest", { cron: "0 7 * * *", missed: "all" }, { actor: "bob" });
      expect(patched).toMatchObject({ version: 3, missed: "all", time_zone: "Europe/Zurich", updated_by: "bob" });
      expect(patched.next_at).not.toBe(made.schedule.next_at);
      await expect(schedules.patch("digest", { missed: "skip" }, { if_version: 1 })).rejects.toMatchObject({
        code: "conflict",
      });
      await expect(
        schedules.put("digest", { cron: "0 7 * * *", job_type: "nightly" }, { if_version: 0 }),
      ).rejects.toMatchObject({ code: "conflict" });

      const paused = await schedules.pause("digest", { reason: "holidays", actor: "ann" });
      expect(paused).toMatchObject({
        changed: true,
        schedule: { paused_by: "ann", pause_reason: "holidays", next_at: null },
      });
      expect(await schedules.pause("digest")).toMatchObject({ changed: false });
      const going = await schedules.continue("digest");
      expect(going).toMatchObject({ changed: true, schedule: { paused_at: null, next_at: patched.next_at } });

      const preview = await schedules.preview("0 7 * * *", "Europe/Zurich");
      expect([preview.words, preview.next.length, preview.next[0]]).toEqual([
        "at 07:00, every day, Europe/Zurich",
        5,
        new Date(patched.next_at as string).toISOString(),
      ]);
      await schedules.put("other", { cron: "0 0 1 1 *", job_type: "nightly" });
      const page = await schedules.list({ limit: 1 });
      expect([page.schedules.length, page.next]).toEqual([1, "digest"]);
      expect((await schedules.list({ cursor: page.next })).schedules[0]?.name).toBe("other");
      for (const name of ["digest", "other"]) await schedules.delete(name, { actor: "ann" });
      await expect(schedules.get("digest")).rejects.toMatchObject({ code: "not_found" });
      const events = await db.sql<{ kind: string }>`
        select kind from app.events where data ->> 'schedule' = 'digest' order by event_id`;
      expect(events.map(({ kind: word }) => word)).toEqual([
        "schedule.created",
        "schedule.changed",
        "schedule.changed",
        "schedule.paused",
        "schedule.continued",
        "schedule.deleted",
      ]);
    });

    test("everything that is wrong with one is told at once, and a foreign one does not exist", async () => {
      const db = await open();
      await db.sql`select app.create_tenant('acme')`;
      const ours = engineOn(db);
      await expect(
        ours.schedules.put("bad", { cron: "* *", time_zone: "Mars/X", job_type: "nightly", parameters: { n: "x" } }),
      ).rejects.toMatchObject({
        code: "bad_request",
        problems: [{ path: "$.time_zone" }, { path: "$.cron" }, { path: "$.parameters.n" }],
      });
      await expect(ours.schedules.put("bad", { cron: "* * * * *", job_type: "nightl" })).rejects.toMatchObject({
        problems: [{ path: "$.job_type", fix: expect.stringContaining("nightly") }],
      });
      await expect(
        ours.schedules.put("Bad Name", { cron: "* * * * *", job_type: "nightly", missed: "maybe" as never }),
      ).rejects.toMatchObject({ problems: [{ path: "$.name" }, { path: "$.missed" }] });
      await ours.forTenant("acme").schedules.put("theirs", { cron: "0 0 1 1 *", job_type: "nightly" });
      for (const call of [
        () => ours.schedules.get("theirs"),
        () => ours.schedules.pause("theirs"),
        () => ours.schedules.delete("theirs"),
        () => ours.schedules.runNow("theirs"),
        () => ours.schedules.ticks("theirs"),
      ]) {
        await expect(call()).rejects.toMatchObject({ code: "not_found" });
      }
    });

    test("a time that is due gets its job, with the time in its labels and parameters, and never another", async () => {
      const db = await open();
      const engine = engineOn(db);
      const options = { priority: 7, labels: { team: "hydro" } };
      const tick = await dueNow(engine, "on_time", { parameters: { day: "{{tick_at}}" }, options });
      const scheduler = schedulerOf(engine);
      expect(await scheduler.round()).toMatchObject({ taken: 1, submitted: 1, failed: 0, missed: 0 });
      const at = tick.toISOString();
      expect(await jobsOf(db, "on_time")).toEqual([{ tick_at: at, run: 1, parameters: { day: at }, priority: 7 }]);
      expect(await scheduler.round()).toMatchObject({ taken: 0, submitted: 0 });
      const { last_at, next_at, last } = await engine.schedules.get("on_time");
      expect([new Date(last_at as string), new Date(next_at as string)]).toEqual([
        tick,
        new Date(tick.getTime() + 24 * 3_600_000),
      ]);
      expect(last).toMatchObject({ outcome: "submitted", missed: 0, by_hand: false });
      // The same time once more, as if the compare-and-set had been wrong: the second guard holds.
      await db.sql`update app.schedules set next_at = last_at where name = 'on_time'`;
      await scheduler.round();
      expect((await jobsOf(db, "on_time")).length).toBe(1);
      await engine.schedules.delete("on_time");
    });

    test("times that were missed get no job, one, or each, as the policy says", async () => {
      const db = await open();
      const engine = engineOn(db);
      const all = await missed(engine, "each", 4, { missed: "all" });
      const single = await missed(engine, "single", 4, { missed: "one" });
      const none = await missed(engine, "none", 4, { missed: "skip" });
      expect(all.length).toBe(4);
      expect(await schedulerOf(engine).round()).toMatchObject({ taken: 3, submitted: 5, failed: 0, missed: 1 });
      expect((await jobsOf(db, "each")).map(({ tick_at }) => tick_at)).toEqual(iso(all));
      // The same parameters each time, and each time a run of its own.
      expect(new Set((await jobsOf(db, "each")).map(({ run }) => run)).size).toBe(4);
      expect((await jobsOf(db, "single")).map(({ tick_at }) => tick_at)).toEqual(iso(single.slice(-1)));
      expect((await engine.schedules.get("single")).last).toMatchObject({ outcome: "submitted", missed: 3 });
      expect(await jobsOf(db, "none")).toEqual([]);
      expect((await engine.schedules.get("none")).last).toMatchObject({ outcome: "missed", missed: 3, job_id: null });
      // Each was made in a second of its own, and comes again in that.
      for (const [name, times] of Object.entries({ each: all, single, none })) {
        expect(new Date((await engine.schedules.get(name)).next_at as string).getTime()).toBe(
          (times.at(-1) as Date).getTime() + 3_600_000,
        );
        await engine.schedules.delete(name);
      }
    });

    test("one whose parameters no longer fit records the time as failed, raises an alert and goes on", async () => {
      const db = await open();
      const engine = engineOn(db);
      await dueNow(engine, "stale", { parameters: { n: 1 } });
      await dueNow(engine, "fine");
      const stricter = defineJob({ ...nightlyDeclared, parameters: z.object({ n: z.string().optional() }) });
      const round = await schedulerOf(engineOn(db, [stricter as never])).round();
      expect(round).toMatchObject({ taken: 2, submitted: 1, failed: 1 });
      const { ticks } = await engine.schedules.ticks("stale");
      expect(ticks).toMatchObject([{ outcome: "failed", job_id: null, reason: expect.stringContaining("$.n") }]);
      expect(new Date((await engine.schedules.get("stale")).next_at as string).getTime()).toBeGreaterThan(
        new Date(ticks[0]?.tick_at as string).getTime(),
      );
      expect(
        await db.sql`select 1 from app.alerts where alert = 'schedule_failed' and data ->> 'schedule' = 'stale'`,
      ).toHaveLength(1);
      for (const name of ["stale", "fine"]) await engine.schedules.delete(name);
    });

    test("what SQL refuses fails that time only, and what the others submitted stays", async () => {
      const db = await open();
      const engine = engineOn(db);
      await engine.groups.create({ group_id: "tight", expected: 1 });
      await missed(engine, "grouped", 4, { missed: "all", options: { group_id: "tight" } });
      const { submitted, failed } = await schedulerOf(engine).round();
      expect([submitted, failed]).toEqual([1, 3]);
      expect((await engine.schedules.ticks("grouped")).ticks[0]).toMatchObject({
        outcome: "failed",
        reason: expect.stringContaining("tight"),
      });
      await engine.schedules.delete("grouped");
    });

    test("at a limit what was submitted stays, the rest stays due for later rounds, and others are not kept waiting", async () => {
      const db = await open();
      await db.sql`select app.create_tenant('limited')`;
      const limit = (limits: object) =>
        db.sql`select app.change_limits(${JSON.stringify({ tenant: "limited", limits })}::text::json)`;
      await limit({ submits_per_s: 0.001, submit_burst: 2 });
      const engine = engineOn(db);
      const limited = engineOn(db, [nightly], "limited");
      const times = await missed(limited, "narrow", 5, { missed: "all" });
      await dueNow(engine, "wide");
      const scheduler = schedulerOf(engine);
      expect(await scheduler.round()).toMatchObject({ taken: 2, submitted: 3, failed: 0 });
      expect((await jobsOf(db, "narrow")).map(({ tick_at }) => tick_at)).toEqual(iso(times.slice(0, 2)));
      expect((await jobsOf(db, "wide")).length).toBe(1);
      const { last_at, next_at } = await limited.schedules.get("narrow");
      expect([new Date(last_at as string), new Date(next_at as string)]).toEqual(times.slice(1, 3));
      expect(await scheduler.round()).toMatchObject({ taken: 0, submitted: 0 });
      await limit({ submits_per_s: null, submit_burst: null });
      expect(await scheduler.round()).toMatchObject({ taken: 1, submitted: 3 });
      expect((await jobsOf(db, "narrow")).map(({ tick_at }) => tick_at)).toEqual(iso(times));
      await limited.schedules.delete("narrow");
      await engine.schedules.delete("wide");
    });

    test("a run by hand at a time of the clock's makes room for it", async () => {
      const db = await open();
      const engine = engineOn(db);
      const at = await dueNow(engine, "met");
      await db.sql`insert into app.schedule_ticks (schedule_id, tick_at, tenant_id, outcome, job_id, by_hand)
        select schedule_id, ${at.toISOString()}::text::timestamptz, tenant_id, 'submitted', 'x', true
          from app.schedules where name = 'met'`;
      expect(await schedulerOf(engine).round()).toMatchObject({ taken: 1, submitted: 1 });
      const { ticks } = await engine.schedules.ticks("met");
      expect(ticks.map(({ tick_at, by_hand }) => [new Date(tick_at).getTime() - at.getTime(), by_hand])).toEqual([
        [1, true],
        [0, false],
      ]);
      await engine.schedules.delete("met");
    });

    test("a run by hand never takes a whole second", async () => {
      const db = await open();
      const engine = engineOn(db);
      await engine.schedules.put("early", { cron: "0 0 1 1 *", job_type: "nightly" });
      // A run before it in the last millisecond of a second to come: the next free one would be a whole second.
      await db.sql`insert into app.schedule_ticks (schedule_id, tick_at, tenant_id, outcome, job_id, by_hand)
        select schedule_id, date_trunc('hour', now()) + interval '2 hours' - interval '1 ms', tenant_id, 'submitted', 'x', true
          from app.schedules where name = 'early'`;
      const { tick_at } = await engine.schedules.runNow("early");
      expect(new Date(tick_at).getTime() % 3_600_000).toBe(1);
      await engine.schedules.delete("early");
    });

    test("one that is changed while it is continued goes on with its new times", async () => {
      const db = await open();
      const { schedules } = engineOn(db);
      await schedules.put("turned", { cron: "0 0 1 1 *", job_type: "nightly" });
      await schedules.pause("turned");
      const get = schedules.get.bind(schedules);
      vi.spyOn(schedules, "get").mockImplementationOnce(async (name) => {
        const seen = await get(name);
        await schedules.put(name, { cron: "0 0 1 7 *", job_type: "nightly" });
        return seen;
      });
      const { changed, schedule } = await schedules.continue("turned");
      expect([changed, new Date(schedule.next_at as string).getUTCMonth()]).toEqual([true, 6]);
      await schedules.delete("turned");
    });

    test("a job type that nobody knows is left to others, and told when it is left for long", async () => {
      const db = await open();
      const engine = engineOn(db);
      await missed(engine, "orphan", 1);
      const stranger = schedulerOf(engineOn(db, []));
      expect(await stranger.round()).toMatchObject({ taken: 0, left: 1 });
      expect(await db.sql`select data ->> 'schedule' as name from app.alerts where alert = 'schedule_left'`).toEqual([
        { name: "orphan" },
      ]);
      expect(await schedulerOf(engine).round()).toMatchObject({ taken: 1 });
      await engine.schedules.delete("orphan");
    });

    test("a paused schedule submits nothing, and what passed meanwhile is not made up for", async () => {
      const db = await open();
      const engine = engineOn(db);
      await missed(engine, "still", 2, { missed: "all" });
      await engine.schedules.pause("still");
      expect(await schedulerOf(engine).round()).toMatchObject({ taken: 0 });
      const { schedule } = await engine.schedules.continue("still");
      expect(new Date(schedule.next_at as string).getTime()).toBeGreaterThan(
        (await one(db.sql<{ now: Date }>`select now() as now`)).now.getTime(),
      );
      expect(await schedulerOf(engine).round()).toMatchObject({ taken: 0 });
      await engine.schedules.delete("still");
    });

    test("one can be run by hand at any time, also while it is paused, and the clock does not mind", async () => {
      const db = await open();
      const engine = engineOn(db);
      await engine.schedules.put("by_hand", {
        cron: "0 0 1 1 *",
        job_type: "nightly",
        parameters: { day: "{{tick_at}}" },
      });
      await engine.schedules.pause("by_hand");
      const first = await engine.schedules.runNow("by_hand", { actor: "ann", reason: "to see" });
      const second = await engine.schedules.runNow("by_hand");
      expect([first.created, second.created, first.tick_at < second.tick_at]).toEqual([true, true, true]);
      const { ticks } = await engine.schedules.ticks("by_hand", { limit: 1 });
      expect(ticks).toMatchObject([{ job_id: second.job_id, by_hand: true }]);
      const page = await engine.schedules.ticks("by_hand", { limit: 1 });
      expect((await engine.schedules.ticks("by_hand", { limit: 1, cursor: page.next })).ticks).toMatchObject([
        { job_id: first.job_id, actor: "ann", reason: "to see" },
      ]);
      await engine.schedules.delete("by_hand");
    });

    test.runIf(kind === "embedded")("the scheduler runs by itself until it is stopped", async () => {
      const db = await open();
      const engine = engineOn(db);
      await dueNow(engine, "alone");
      const scheduler = schedulerOf(engine).start();
      while ((await jobsOf(db, "alone")).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
      await scheduler.stop();
      await engine.schedules.delete("alone");
    });
  },
  { shared: true },
);

const nightlyDeclared = { type: "nightly", stages: [{ name: "only", task: "t.nightly" }] };

describe("many schedulers on one server", () => {
  async function opened(): Promise<{ db: Database; url: string; connect(): Database }> {
    const { db, url, drop } = await freshDatabase();
    onTestFinished(drop);
    return {
      db,
      url,
      connect() {
        const session = openServer(url);
        onTestFinished(() => session.close());
        return session;
      },
    };
  }

  /** Every time that was due has exactly one job and one row, whoever made it. */
  async function expectOnce(db: Queryable, expected: ReadonlyMap<string, readonly Date[]>): Promise<void> {
    for (const [name, times] of expected) {
      expect([name, (await jobsOf(db, name)).map(({ tick_at }) => tick_at)]).toEqual([name, iso(times)]);
    }
    expect(
      await db.sql`select t.tick_at from app.schedule_ticks t left join app.jobs j on j.job_id = t.job_id
        where t.outcome <> 'submitted' or j.labels ->> 'tick_at' is null`,
    ).toEqual([]);
  }

  test("ten schedulers on ten connections give each time of thirty schedules exactly one job", async () => {
    const { db, connect } = await opened();
    const engine = engineOn(db);
    const expected = new Map<string, Date[]>();
    for (let n = 0; n < 30; n++) {
      expected.set(`s${n}`, await missed(engine, `s${n}`, 5, { missed: "all" }));
    }
    const schedulers = Array.from({ length: 10 }, () => schedulerOf(engineOn(connect())));
    for (let left = 1; left > 0; ) {
      await Promise.all(schedulers.map((scheduler) => scheduler.round()));
      left = (await one(db.sql<{ n: number }>`select count(*)::integer as n from app.schedules where next_at <= now()`))
        .n;
    }
    await expectOnce(db, expected);
  });

  test("two schedules with the same parameters at the same time get a run each", async () => {
    const { db, connect } = await opened();
    const engine = engineOn(db);
    const names = Array.from({ length: 8 }, (_, n) => `twin${n}`);
    for (const name of names) await dueNow(engine, name);
    await Promise.all(Array.from({ length: 4 }, () => schedulerOf(engineOn(connect())).round()));
    await schedulerOf(engine).round();
    const [row] = await db.sql`select count(distinct job_id)::integer as n from app.schedule_ticks`;
    expect(row).toEqual({ n: 8 });
  });

  test("a scheduler whose transaction is rolled back, and one killed before its commit, lose no time and double none", async () => {
    const { db, url } = await opened();
    const engine = engineOn(db);
    const expected = new Map([["hard", await missed(engine, "hard", 5, { missed: "all" })]]);
    for (const place of ["schedule-taken", "schedule-recorded"]) {
      armFault(place, () => {
        throw new Error("cut off");
      });
      onTestFinished(disarmFaults);
      expect(await schedulerOf(engine).round()).toMatchObject({ taken: 0, submitted: 0 });
      disarmFaults();
      expect(await jobsOf(db, "hard")).toEqual([]);
    }
    const script = plainScript(new URL("scheduler_child.ts", import.meta.url));
    const child = spawn(process.execPath, [script, url], {
      env: { ...process.env, FANFOLD_FAULTS: "schedule-recorded:kill9" },
      stdio: ["ignore", "inherit", "inherit"],
    });
    const [, signal] = await once(child, "exit");
    expect(signal).toBe("SIGKILL");
    expect(await jobsOf(db, "hard")).toEqual([]);
    // Until the server has noticed that its client is gone, the schedule is held.
    while ((await schedulerOf(engine).round()).taken === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    await expectOnce(db, expected);
  });

  test("of two that make the same schedule at once, each only if there is none, the second is refused", async () => {
    const { db, url } = await opened();
    const other = openServer(url, { max: 1 });
    onTestFinished(() => other.close());
    const request = (more: object) =>
      JSON.stringify({
        name: "x",
        cron: "0 6 * * *",
        time_zone: "UTC",
        job_type: "nightly",
        next_at: "2100-01-01T00:00:00Z",
        ...more,
      });
    const put = (on: Queryable, more: object) =>
      on.sql<{ reply: { created: boolean } }>`select app.put_schedule(${request(more)}::text::json) as reply`;
    /** The second call, made while the first is not committed; it has looked, and waits. */
    async function race(more: object): Promise<PromiseSettledResult<{ reply: { created: boolean } }[]>> {
      let second: Promise<PromiseSettledResult<{ reply: { created: boolean } }[]>[]> | undefined;
      await db.transaction(async (tx) => {
        await put(tx, more);
        second = Promise.allSettled([put(other, more)]);
        await untilWaiting(db);
      });
      return (await second)?.[0] as PromiseSettledResult<{ reply: { created: boolean } }[]>;
    }
    expect(await race({ name: "only_new", if_version: 0 })).toMatchObject({ reason: { code: "FF003" } });
    expect(await race({ name: "any" })).toMatchObject({ value: [{ reply: { created: false } }] });
  });

  test("what is due is taken by the database's clock: a process whose own is ahead takes nothing early", async () => {
    const { db } = await opened();
    const engine = engineOn(db);
    await engine.schedules.put("later", { cron: "0 0 1 1 *", job_type: "nightly" });
    const { next_at, schedule_id, version } = await one(
      db.sql<{ next_at: Date; schedule_id: number; version: number }>`
        select next_at, schedule_id, version from app.schedules`,
    );
    const at = next_at.toISOString();
    await expect(
      db.sql`select app.take_schedule(${schedule_id}::bigint, ${version}::integer, ${at}::text, ${at}::text, null)`,
    ).rejects.toMatchObject({ code: "FF002" });
    expect(await schedulerOf(engine).round()).toMatchObject({ taken: 0 });
  });

  test("a worker takes the schedules of its database along", async () => {
    const { startWorker } = await import("../../src/worker/worker.js");
    const { createRegistry } = await import("../../src/core/declare/registry.js");
    const { openEngine } = await import("../../src/engine/open_engine.js");
    const { db, url } = await opened();
    const engine = await openEngine({
      database_url: url,
      registry: createRegistry({ jobs: [nightly], handlers: [nightly_handler] }),
    });
    onTestFinished(() => engine.close());
    await dueNow(engine, "worked");
    const worker = await startWorker(engine);
    let tick = await one(db.sql<{ job_id: string }>`select job_id from app.schedule_ticks`);
    for (; tick === undefined; tick = await one(db.sql<{ job_id: string }>`select job_id from app.schedule_ticks`)) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect((await engine.wait(tick.job_id)).status).toBe("completed");
    await worker.stop();
  });
});
