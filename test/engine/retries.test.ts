// How long a failed task is tried again. Time is compressed: what waits is made due at once, and its waits are added up.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { Report } from "../../src/core/declare/report.js";
import { type Retry, readRetry } from "../../src/core/declare/retry.js";
import type { Queryable } from "../../src/engine/database/database.js";
import { bothDatabases } from "../postgres.js";
import { claim, expectSound, type Fate, finish, type Held, register, submit as submitStages } from "./floor.js";
import { bound, idOf } from "./past.js";

interface Tried {
  /** Seconds between attempts. */
  waits: number[];
  attempts: number;
  status: string;
}

/** Runs the only task there is until it has ended, without waiting; `fate` is told the seconds that would have passed. */
async function tries(
  db: Queryable,
  type: string,
  fate: (passed_s: number, task: Held) => Fate,
  most = 300,
): Promise<Tried> {
  const worker = await register(db, [type]);
  const waits: number[] = [];
  let passed_s = 0;
  for (let turn = 1; turn <= most; turn++) {
    const [task] = await claim(db, worker, [type]);
    if (task === undefined) throw new Error("nothing is due");
    await finish(db, worker, [task], () => fate(passed_s, task));
    const [row] = await db.sql<{ wait_s: number }>`
      select extract(epoch from a.retry_at - a.ended_at)::float8 as wait_s
        from app.ready r join app.attempts a on a.stage_id = r.stage_id and a.ordinal = r.lo and a.retry_at = r.run_at
       where r.stage_id = ${task.stage_id}::bigint`;
    if (row === undefined) {
      const [result] = await db.sql<{ status: string }>`
        select status::text from app.results where stage_id = ${task.stage_id}::bigint`;
      return { waits, attempts: turn, status: result?.status ?? "none" };
    }
    waits.push(row.wait_s);
    passed_s += row.wait_s;
    await db.sql`update app.ready set run_at = now() where run_at > now()`;
  }
  return { waits, attempts: most, status: "open" };
}

const sum = (numbers: number[]) => numbers.reduce((total, one) => total + one, 0);
const fails = (category: string, code: string) => (): Fate => ({ category, code, d: 0 });

let made = 0;
/** All tests of a block share a database: each has task types of its own. */
const freshType = () => `t.x${++made}`;

/** A job of one task. */
function submit(db: Queryable, task: string, settings: object = {}, options: object = {}) {
  return submitStages(db, [{ name: "s", task, ...settings }], { made: ++made }, { options });
}

bothDatabases(
  "retries",
  (open) => {
    test("waits double from the base to the cap, by half at least and never more, whatever the number", async () => {
      const db = await open();
      const rows = await db.sql<{ least: number; most: number; longest: number; small: number }>`
      select app.backoff_s(n, 0, 1, 60) as least, app.backoff_s(n, 1, 1, 60) as most,
        app.backoff_s(2147483647 - n, 1, 3600, 3600) as longest, app.backoff_s(n, 0.5, 0.01, 0.04) as small
        from generate_series(1, 9) n`;
      expect(rows.map(({ least }) => least)).toEqual([0.5, 1, 2, 4, 8, 16, 30, 30, 30]);
      expect(rows.map(({ most }) => most)).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
      expect(new Set(rows.map(({ longest }) => longest))).toEqual(new Set([3600]));
      expect(rows.slice(0, 4).map(({ small }) => Number(small.toFixed(4)))).toEqual([0.0075, 0.015, 0.03, 0.03]);
    });

    test.each([
      ["transient", "econnrefused", 600],
      ["transient", "unexpected", 120],
      ["transient", "storage", 3600],
    ])("what is %s (%s) is tried again for %i s, the last time at their end", async (category, code, within_s) => {
      const db = await open();
      const type = freshType();
      await submit(db, type);
      const { waits, attempts, status } = await tries(db, type, fails(category, code));
      expect(status).toBe("failed");
      expect(sum(waits)).toBeCloseTo(within_s, 1);
      expect(attempts).toBeGreaterThan(within_s / 60);
      expect(Math.max(...waits)).toBeLessThanOrEqual(60);
      await expectSound(db);
    });

    test("each failure is of the kind that the documentation says", async () => {
      const db = await open();
      const kinds: [string, string, string | null][] = [
        ["transient", "transient", "transient"],
        ["transient", "http_503", "transient"],
        ["transient", "timeout", "transient"],
        ["transient", "enospc", "storage"],
        ["transient", "sqlstate_53100", "storage"],
        ["transient", "unexpected", "unexpected"],
        ["transient", "bug", "bug"],
        ["throttled", "http_429", "throttled"],
        ["crash", "killed", "crash"],
        ["engine", "sqlstate_08006", "engine"],
        ["engine", "storage", "spill"],
        ["permanent", "storage", null],
        ["contract", "bug", null],
      ];
      for (const [category, code, kind] of kinds) {
        const [row] = await db.sql<{ kind: string | null }>`select app.retry_kind(${category}, ${code}) as kind`;
        expect(row, `${category} ${code}`).toEqual({ kind });
      }
    });

    test.each([8, 60, 590])("an outage of %i s of what a handler calls fails nothing", async (outage_s) => {
      const db = await open();
      const type = freshType();
      await submit(db, type);
      const { status, attempts } = await tries(db, type, (passed_s) =>
        passed_s < outage_s ? { category: "transient", code: "econnrefused", d: 0 } : {},
      );
      expect(status).toBe("completed");
      // It waits, rather than to ask all the time.
      expect(attempts).toBeLessThan(30);
    });

    test("an error that only code makes is tried three times, and what is permanent once", async () => {
      const db = await open();
      const type = freshType();
      await submit(db, type);
      expect(await tries(db, type, fails("transient", "bug"))).toMatchObject({ attempts: 3, status: "failed" });
      await submit(db, type);
      expect(await tries(db, type, fails("permanent", "gone"))).toMatchObject({ attempts: 1 });
    });

    test("three attempts are made however long they take, and then the time is over", async () => {
      const db = await open();
      const type = freshType();
      await submit(db, type);
      const slow = (): Fate => ({ category: "transient", code: "timeout", d: 1_800_000 });
      expect(await tries(db, type, slow)).toMatchObject({ attempts: 3, status: "failed" });
    });

    test("time in the queue does not count", async () => {
      const db = await open();
      const type = freshType();
      await submit(db, type);
      const queued = async () => {
        await db.sql`update app.attempts set ended_at = ended_at - interval '2 h', retry_at = retry_at - interval '2 h'`;
      };
      let turns = 0;
      const worker = await register(db, [type]);
      for (; turns < 8; turns++) {
        const [task] = await claim(db, worker, [type]);
        const { retried } = await finish(db, worker, [task!], fails("transient", "econnrefused"));
        expect(retried).toBe(1);
        await queued();
        await db.sql`update app.ready set run_at = now() where run_at > now()`;
      }
    });

    test("a number of attempts that was given decides alone; with a time, what comes first", async () => {
      const db = await open();
      const type = freshType();
      await submit(db, type, { retry: { attempts: 5 } });
      expect(await tries(db, type, fails("transient", "econnrefused"))).toMatchObject({
        attempts: 5,
        status: "failed",
      });
      await submit(db, type, { max_attempts: 40 });
      expect(await tries(db, type, fails("transient", "unexpected"))).toMatchObject({ attempts: 40, status: "failed" });
      await submit(db, type, { retry: { attempts: 500, within_s: 20, base_s: 2, cap_s: 4 } });
      const { waits, status } = await tries(db, type, fails("transient", "econnrefused"));
      expect(status).toBe("failed");
      expect(sum(waits)).toBeCloseTo(20, 1);
      expect(Math.max(...waits)).toBeLessThanOrEqual(4);
      await submit(db, type, { retry: { attempts: 1 } });
      expect(await tries(db, type, fails("transient", "storage"))).toMatchObject({ attempts: 1, status: "failed" });
    });

    test("a longer time is for what is away: an unknown error has its two minutes all the same", async () => {
      const db = await open();
      const type = freshType();
      await submit(db, type, { retry: { within_s: 7200 } });
      expect(sum((await tries(db, type, fails("transient", "unexpected"))).waits)).toBeCloseTo(120, 1);
      await submit(db, type, { retry: { within_s: 30 } });
      expect(sum((await tries(db, type, fails("transient", "unexpected"))).waits)).toBeCloseTo(30, 1);
    });

    test("the submit comes before the stage, the stage before the handler, the handler before what is usual", async () => {
      const db = await open();
      const type = freshType();
      const handler = { attempts: 9, base_s: 3, cap_s: 3, within_s: 50 };
      const told = (): Fate => ({ category: "transient", code: "econnrefused", d: 0, retry: handler });
      await submit(db, type, { retry: { cap_s: 10, base_s: 10 } }, { retry: { attempts: 4 } });
      const first = await tries(db, type, told);
      expect(first).toMatchObject({ attempts: 4 });
      expect(Math.min(...first.waits)).toBeGreaterThanOrEqual(5);
      await submit(db, type, { retry: { within_s: 40 } });
      const second = await tries(db, type, told);
      expect(Math.max(...second.waits)).toBeLessThanOrEqual(3);
      expect(second.attempts).toBe(9);
      // What is no setting is not taken for one.
      await submit(db, type);
      const odd = { retry: { attempts: -1, rm: 1 } } as unknown as { retry: Retry };
      const third = await tries(db, type, () => ({ category: "transient", code: "bug", d: 0, ...odd }));
      expect(third.attempts).toBe(3);
    });

    test("a lone task has settings of its own, and they are part of what its key stands for", async () => {
      const db = await open();
      const type = freshType();
      const enqueue = (retry: Retry) => db.sql`
      select app.enqueue(${type}::text, '{}', idempotency_key => 'k', retry => ${JSON.stringify(retry)}::text::jsonb)`;
      await enqueue({ attempts: 2 });
      await enqueue({ attempts: 2 });
      await expect(enqueue({ attempts: 3 })).rejects.toMatchObject({ code: "FF003" });
      expect(await tries(db, type, fails("transient", "econnrefused"))).toMatchObject({ attempts: 2 });
    });

    test("whoever runs a failed task again has all its time anew", async () => {
      const db = await open();
      const type = freshType();
      const { job_id } = await submit(db, type, { retry: { within_s: 10 } });
      const fail = fails("transient", "econnrefused");
      expect((await tries(db, type, fail)).status).toBe("failed");
      await db.sql`select app.resume_job(${job_id})`;
      expect(sum((await tries(db, type, fail)).waits)).toBeCloseTo(10, 1);
      const [lone] = await db.sql<{ id: string }>`
      select app.enqueue(${type}::text, '{}', retry => '{"within_s": 10}') ->> 'task_id' as id`;
      expect((await tries(db, type, fail)).status).toBe("failed");
      await db.sql`select app.retry_task(${lone!.id})`;
      expect(sum((await tries(db, type, fail)).waits)).toBeCloseTo(10, 1);
    });

    test("the engine's own trouble costs no attempt, and is not endured for ever", async () => {
      const db = await open();
      const type = freshType();
      await submit(db, type, { retry: { attempts: 1 } });
      const hasty = { retry: { base_s: 0.01, cap_s: 0.01, within_s: 0 } };
      const { attempts, status, waits } = await tries(db, type, () => ({
        category: "engine",
        code: "sqlstate_08006",
        d: 0,
        ...hasty,
      }));
      expect(sum(waits)).toBeGreaterThan(300);
      expect({ attempts, status }).toEqual({ attempts: 21, status: "failed" });
      expect(Math.max(...waits)).toBeLessThanOrEqual(60);
      const rows = await db.sql<{ outcome: string; attempt: number; n: number }>`
      select outcome, attempt, count(*)::integer as n
        from app.attempts join app.stages using (stage_id) where task_type = ${type} group by 1, 2 order by 3`;
      expect(rows).toEqual([
        { outcome: "failed", attempt: 1, n: 1 },
        { outcome: "released", attempt: 1, n: 20 },
      ]);
      await submit(db, type, { retry: { attempts: 1 } });
      let lost = 0;
      const comes_back = (): Fate => (++lost < 8 ? { category: "engine", code: "sqlstate_57p01", d: 0 } : {});
      expect(await tries(db, type, comes_back)).toMatchObject({ attempts: 8, status: "completed" });
      await submit(db, type, { retry: { attempts: 1 } });
      // A result that finds no room: an hour, and no attempt either.
      expect(sum((await tries(db, type, fails("engine", "storage"))).waits)).toBeCloseTo(3600, 1);
      await expectSound(db);
    });

    test("a plan that loses its connection again and again is made in the end", async () => {
      const db = await open();
      const type = freshType();
      // Too wide to be planned where it is submitted.
      await submit(db, type, { max_attempts: 1, plan: { count: 2000 } });
      const worker = await register(db, ["#plan"]);
      for (let turn = 0; turn < 6; turn++) {
        const [plan] = await claim(db, worker, ["#plan"]);
        expect(plan).toMatchObject({ ordinal: -1, attempt: 1 });
        expect((await finish(db, worker, [plan!], fails("engine", "sqlstate_08006"))).retried).toBe(1);
        await db.sql`update app.ready set run_at = now() where run_at > now()`;
      }
      const [row] = await db.sql<{ status: string }>`select status::text from app.stages where task_type = ${type}`;
      expect(row?.status).toBe("planning");
    });

    test("why and status tell which attempt comes when, and when it is given up", async () => {
      const db = await open();
      const type = freshType();
      const { why } = bound(db);
      const { job_id } = await submit(db, type);
      const worker = await register(db, [type]);
      const [task] = await claim(db, worker, [type]);
      await finish(db, worker, [task!], () => ({
        category: "transient",
        code: "econnrefused",
        message: "no answer",
        d: 0,
      }));
      const reply = await why(idOf(task!));
      expect(reply).toMatchObject({ code: "BACKOFF", evidence: { attempt: 2, last_error: { message: "no answer" } } });
      expect(reply.reason).toMatch(
        /is tried again in 1 s, at .*, attempt 2; if it goes on failing it is given up at .*no answer/,
      );
      const { gives_up_at } = reply.evidence as { gives_up_at: string };
      expect(Date.parse(gives_up_at) - Date.parse(reply.since!)).toBe(600_000);
      const [row] = await db.sql<{ job: { stages: object[] } }>`select app.get_job(${job_id}) as job`;
      expect(row?.job.stages[0]).toMatchObject({
        max_attempts: null,
        retry: null,
        next_retry: {
          task_id: idOf(task!),
          attempt: 2,
          max_attempts: null,
          gives_up_at,
          error: { code: "econnrefused" },
        },
      });
    });

    test("settings that are wrong are refused everywhere, all problems at once, by SQL as by TypeScript", async () => {
      const db = await open();
      const type = freshType();
      const wrong: [unknown, number][] = [
        [{ attempts: 0, base_s: 0, cap_s: 4000, within_s: -1 }, 4],
        [{ attempts: 1.5, base_s: "1" }, 2],
        [{ tries: 3 }, 1],
        ["often", 1],
        [[], 1],
        [{ attempts: 10_001, within_s: 604_801 }, 2],
      ];
      const right: unknown[] = [
        null,
        {},
        { attempts: 10_000, base_s: 0.01, cap_s: 3600, within_s: 604_800 },
        { attempts: null },
      ];
      for (const [retry, problems] of [...wrong, ...right.map((one): [unknown, number] => [one, 0])]) {
        const text = JSON.stringify(retry);
        const told = await db.sql`select * from app.retry_problems(${text}::text::jsonb)`;
        expect(told.length, text).toBe(problems);
        const report = new Report([], "stage s");
        readRetry(retry, report);
        expect(report.problems.length, text).toBe(problems);
      }
      const bad = { attempts: 0, within_s: "long" };
      const paths = async (call: Promise<unknown>) => {
        const error = (await call.catch((thrown: unknown) => thrown)) as { code: string; detail: string };
        expect(error.code).toBe("FF002");
        return (JSON.parse(error.detail) as { path: string }[]).map(({ path }) => path);
      };
      expect(await paths(submit(db, type, { retry: bad }))).toEqual([
        "$.stages[0].retry.attempts",
        "$.stages[0].retry.within_s",
      ]);
      expect(await paths(submit(db, type, {}, { retry: bad }))).toEqual([
        "$.jobs[0].retry.attempts",
        "$.jobs[0].retry.within_s",
      ]);
      const enqueued = db.sql`select app.enqueue(${type}::text, '{}', max_attempts => 3, retry => '{"attempts": 4, "base_s": 9999}')`;
      expect(await paths(enqueued)).toEqual(["$.tasks[0].retry.attempts", "$.tasks[0].retry.base_s"]);
      expect(await paths(submit(db, type, { retry: { attempts: 2 }, max_attempts: 3 }))).toEqual([
        "$.stages[0].retry.attempts",
      ]);
    });

    test("the documentation has the figures that the code has", async () => {
      const db = await open();
      const rows = await db.sql<{
        kind: string;
        within_s: number | null;
        times: number | null;
        base_s: number;
        cap_s: number;
      }>`
      select kind, within_s, times, base_s::float8, cap_s::float8 from app.retry_defaults()`;
      const text = readFileSync(new URL("../../docs/recovery.md", import.meta.url), "utf8");
      const shown = [
        ...text.matchAll(/^\| .* \| `(\w+)` \| .* \| (?:([\d,]+) s|([\d,]+) times|3 attempts|3 crashes) \|$/gm),
      ];
      const figure = (given: string | undefined) => (given === undefined ? null : Number(given.replaceAll(",", "")));
      expect(
        shown.map(([, kind, seconds, times]) => ({ kind, within_s: figure(seconds), times: figure(times) })),
      ).toEqual(rows.map(({ kind, within_s, times }) => ({ kind, within_s: kind === "bug" ? null : within_s, times })));
      expect(new Set(rows.map(({ base_s, cap_s }) => `${base_s} ${cap_s}`))).toEqual(new Set(["1 60"]));
      expect(text).toContain("1 s, 2 s, 4 s and so on up to 60 s");
    });
  },
  { shared: true },
);
