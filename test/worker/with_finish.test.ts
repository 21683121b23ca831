// Writes that commit with the finish of their task, or not at all.
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { defineHandler, defineJob, type Handler } from "../../src/core/declare/declare.js";
import { type Database, DatabaseError } from "../../src/engine/database/database.js";
import type { Engine } from "../../src/engine/engine.js";
import { armFault, disarmFaults } from "../../src/fault.js";
import { emptyEmbedded } from "../postgres.js";
import { openIsolated } from "./isolation_shop.js";
import { attemptsOf, eventually, gate, openEmbeddedShop, openShop, runWorker, type TestShop } from "./shop.js";
import { isolated_writer } from "./writing_handlers.js";

afterEach(() => disarmFaults());
// The first of a run is made, which takes longer than a test may.
beforeAll(emptyEmbedded, 120_000);

const fan = (task: string, more: object = {}) =>
  defineJob({
    type: "fan",
    parameters: z.object({ n: z.int() }),
    stages: [{ name: "only", task, tasks: { count: "{parameters.n}" }, ...more }],
  });

const table = `
  drop table if exists public.written;
  create table public.written (n int primary key, attempt int, note text);
  grant all on public.written to public`;

/** A plain insert: run twice, it fails. */
const writer = defineHandler("writer", {}, (_, ctx) =>
  ctx.db((session) => session.sql`insert into public.written values (${ctx.ordinal}, ${ctx.attempt})`, {
    with_finish: true,
  }),
);

const written = (db: Database) =>
  db.sql<{ n: number; attempt: number }>`select n, attempt from public.written order by n`;

async function openWriting(handler: Handler, more: object = {}): Promise<TestShop> {
  const shop = await openShop({ jobs: [fan(handler.name, more)], handlers: [handler] });
  await shop.db.script(table);
  return shop;
}

async function open(kind: "server" | "embedded", handler: Handler) {
  const parts = { jobs: [fan(handler.name)], handlers: [handler] };
  if (kind === "server") {
    const shop = await openShop(parts);
    await shop.db.script(table);
    return { ...shop, read: shop.db };
  }
  const shop = await openEmbeddedShop(parts);
  const root = shop.engine.openConnection("root", 1);
  await root.script(`reset role; ${table}`);
  return { ...shop, read: root };
}

describe.each(["server", "embedded"] as const)("with the finish (%s)", (kind) => {
  test("what was said in ctx.db is there when the task is completed, and not before", async () => {
    const { passed, open: goOn } = gate();
    const answers: unknown[] = [];
    const waiting = defineHandler("waiting", {}, async (_, ctx) => {
      await ctx.db(
        async (session) => {
          answers.push(await session.sql`insert into public.written values (${ctx.ordinal}, 7, ${"a note"})`);
          answers.push(await session.sql`update public.written set attempt = 8 where n = ${ctx.ordinal}`);
        },
        { with_finish: true },
      );
      await passed;
      return { told: answers.length };
    });
    const shop = await open(kind, waiting);
    const worker = await shop.worker({ slots: 2 });
    const { job_id } = await shop.engine.submit("fan", { n: 1 });
    await eventually(() => answers.length === 2);
    expect(answers).toEqual([[], []]);
    expect(await written(shop.read)).toEqual([]);
    goOn();
    expect(await shop.engine.wait(job_id)).toMatchObject({ status: "completed", stages: [{ completed: 1 }] });
    expect(await written(shop.read)).toEqual([{ n: 0, attempt: 8 }]);
    await worker.idle();
    expect(worker.stats()).toMatchObject({ completed: 1, failed: 0, refused: 0 });
  });

  test("a statement that fails undoes the others, and the task fails with what its SQLSTATE means", async () => {
    const clashing = defineHandler("clashing", {}, async (_, ctx) => {
      const insert = (n: number) =>
        ctx.db((session) => session.sql`insert into public.written values (${n}, ${ctx.attempt})`, {
          with_finish: true,
        });
      await insert(1);
      await insert(2);
      if (ctx.attempt === 1) {
        const raise = (session: { sql: (text: TemplateStringsArray) => Promise<unknown> }) => session.sql`
          do $$ begin raise exception 'try again' using errcode = '40001'; end $$`;
        await ctx.db(raise, { with_finish: true });
      } else await insert(1);
    });
    const shop = await open(kind, clashing);
    const worker = await shop.worker({ poll_s: 0.05 });
    const { job_id } = await shop.engine.submit("fan", { n: 1 });
    const status = await shop.engine.wait(job_id);
    expect(status).toMatchObject({ status: "failed" });
    const attempts = shop.read.transaction(async (tx) => {
      await tx.script("reset role");
      return attemptsOf(tx);
    });
    expect(await attempts).toMatchObject([
      { attempt: 1, outcome: "failed", code: "sqlstate_40001" },
      { attempt: 2, outcome: "failed", code: "sqlstate_23505" },
    ]);
    expect(await written(shop.read)).toEqual([]);
    await worker.idle();
    expect(worker.stats()).toMatchObject({ completed: 0, failed: 2, retried: 1 });
  });
});

test("a task with writes ends beside a hundred others of its claim, which keep their batch", async () => {
  const few = defineHandler("few", {}, async (_, ctx) => {
    if (ctx.ordinal % 50 !== 7) return ctx.ordinal;
    return ctx.db((session) => session.sql`insert into public.written values (${ctx.ordinal})`, { with_finish: true });
  });
  const shop = await openWriting(few);
  const worker = await shop.worker({ slots: 200 });
  const { job_id } = await shop.engine.submit("fan", { n: 100 });
  expect(await shop.engine.wait(job_id)).toMatchObject({ status: "completed", stages: [{ completed: 100 }] });
  expect((await written(shop.db)).map(({ n }) => n)).toEqual([7, 57]);
  await worker.idle();
  expect(await shop.db.sql`select 1 from app.claims`).toEqual([]);
});

test("writes of a handler that fails, and of a recording that throws, are forgotten", async () => {
  const careless = defineHandler("careless", {}, async (_, ctx) => {
    await ctx.db((session) => session.sql`insert into public.written values (${ctx.ordinal})`, { with_finish: true });
    const throwing = ctx.db(
      async (session) => {
        await session.sql`insert into public.written values (100)`;
        throw new Error("on second thoughts");
      },
      { with_finish: true },
    );
    await expect(throwing).rejects.toThrow("on second thoughts");
    if (ctx.ordinal === 1) return { success: false, retry: false, error: "no" };
    if (ctx.ordinal === 2) throw new TypeError("no");
    return "fine";
  });
  const shop = await openWriting(careless, { max_attempts: 1, failure_budget: { count: 2 } });
  await shop.worker();
  const { job_id } = await shop.engine.submit("fan", { n: 3 });
  expect(await shop.engine.wait(job_id)).toMatchObject({ stages: [{ completed: 1, failed: 2 }] });
  expect((await written(shop.db)).map(({ n }) => n)).toEqual([0]);
});

test("a constraint that is checked only at the commit fails the task", async () => {
  const orphan = defineHandler("orphan", {}, (_, ctx) =>
    ctx.db((session) => session.sql`insert into public.children values (${ctx.ordinal})`, { with_finish: true }),
  );
  const shop = await openWriting(orphan);
  await shop.db.script(
    `create table public.children (n int references public.written deferrable initially deferred);
     grant all on public.children to public`,
  );
  await shop.worker();
  const { job_id } = await shop.engine.submit("fan", { n: 1 });
  expect(await shop.engine.wait(job_id)).toMatchObject({ status: "failed" });
  expect(await attemptsOf(shop.db)).toMatchObject([{ outcome: "failed", code: "sqlstate_23503" }]);
});

test("the writes of a zombie never happen, and its late finish is on record", async () => {
  const { passed, open: goOn } = gate();
  let runs = 0;
  const holding = defineHandler("holding", {}, async (_, ctx) => {
    const run = ++runs;
    await ctx.db((session) => session.sql`insert into public.written values (${ctx.ordinal}, ${run})`, {
      with_finish: true,
    });
    if (run === 1) await passed;
  });
  const shop = await openWriting(holding);
  // One slot, which is taken: it asks for nothing, and so learns nothing.
  const zombie = await shop.worker({ lease_s: 600, slots: 1 });
  const { job_id } = await shop.engine.submit("fan", { n: 1 });
  await eventually(() => runs === 1);
  await declareLost(shop);
  await runWorker(shop.engine);
  expect(await shop.engine.wait(job_id)).toMatchObject({ status: "completed" });
  // It would clash if it were only rolled back after the others'.
  await shop.db.sql`delete from public.written`;
  goOn();
  await eventually(() => zombie.stats().refused === 1);
  expect(await written(shop.db)).toEqual([]);
  expect((await attemptsOf(shop.db)).map((row) => row.outcome)).toEqual(["lost", "refused"]);
});

test("a claim that is lost while its writes are under way takes them with it", async () => {
  const shop = await openWriting(writer);
  let times = 0;
  armFault("after-writes", async () => {
    if (++times === 1) await declareLost(shop);
  });
  const zombie = await shop.worker({ lease_s: 600, slots: 1 });
  const { job_id } = await shop.engine.submit("fan", { n: 1 });
  await eventually(() => zombie.stats().refused === 1);
  expect(await written(shop.db)).toEqual([]);
  await runWorker(shop.engine);
  expect(await shop.engine.wait(job_id)).toMatchObject({ status: "completed" });
  expect(await written(shop.db)).toHaveLength(1);
  expect((await attemptsOf(shop.db)).map((row) => row.outcome)).toEqual(["lost", "refused"]);
});

test("a job that is cancelled while the writes of its task are under way keeps nothing of them", async () => {
  const shop = await openWriting(writer);
  let job_id = "";
  armFault("after-writes", async () => {
    await shop.engine.cancelJob(job_id, "not needed");
  });
  const worker = await shop.worker();
  ({ job_id } = await shop.engine.submit("fan", { n: 1 }));
  await eventually(() => worker.stats().refused + worker.stats().dropped === 1);
  expect(await shop.engine.status(job_id)).toMatchObject({ status: "cancelled" });
  expect(await written(shop.db)).toEqual([]);
});

test("a result that is undone because its stage was closed takes its writes with it", async () => {
  const shop = await openWriting(writer);
  // As a claim that slips in beside a cancel leaves it: held, in a stage that is closed.
  armFault("after-writes", async () => {
    await shop.db.sql`update app.stage_progress set is_open = false`;
  });
  const worker = await shop.worker();
  await shop.engine.submit("fan", { n: 1 });
  await eventually(() => worker.stats().refused === 1);
  expect(await written(shop.db)).toEqual([]);
  expect(await attemptsOf(shop.db)).toMatchObject([{ outcome: "refused", code: "stage_closed" }]);
});

test("a commit whose answer was lost is not done again", async () => {
  const shop = await openWriting(writer);
  let times = 0;
  armFault("after-writes-commit", async () => {
    if (++times > 1) return;
    await cutBurst(shop);
    throw new DatabaseError("08006", "the connection was lost after the commit");
  });
  const worker = await shop.worker();
  const { job_id } = await shop.engine.submit("fan", { n: 2 });
  expect(await shop.engine.wait(job_id)).toMatchObject({ status: "completed", stages: [{ completed: 2 }] });
  await worker.idle();
  expect(await written(shop.db)).toHaveLength(2);
  expect(await attemptsOf(shop.db)).toEqual([]);
  expect(worker.stats()).toMatchObject({ completed: 2, failed: 0, refused: 0, fenced: 0 });
});

test("a commit that comes through only while it is tried again is not done twice", async () => {
  const shop = await openWriting(writer);
  const { is_finished_by, finish } = shop.engine.worker_commands;
  let asked = 0;
  let finishes = 0;
  // The first question comes too early: the server has not yet heard the commit.
  const commands = {
    ...shop.engine.worker_commands,
    is_finished_by: (async (db, place) => {
      const is_done = await is_finished_by(db, place);
      return ++asked === 2 ? false : is_done;
    }) as typeof is_finished_by,
    finish: ((db, request) => {
      finishes++;
      return finish(db, request);
    }) as typeof finish,
  };
  Object.assign(shop.engine, { worker_commands: commands });
  armFault("after-writes-commit", () => {
    throw new DatabaseError("08006", "the connection was lost after the commit");
  });
  // Insert-only: what is run twice would be seen twice.
  await shop.db.script("alter table public.written drop constraint written_pkey");
  const worker = await shop.worker();
  const { job_id } = await shop.engine.submit("fan", { n: 1 });
  await eventually(() => worker.stats().completed === 1);
  expect(await shop.engine.status(job_id)).toMatchObject({ status: "completed" });
  expect(finishes).toBe(2);
  expect(await written(shop.db)).toHaveLength(1);
  expect(await attemptsOf(shop.db)).toEqual([]);
});

test("a connection that is cut between the writes and the finish costs nothing", async () => {
  const shop = await openWriting(writer);
  let times = 0;
  armFault("after-writes", async () => {
    if (++times <= 3) await cutBurst(shop);
  });
  const worker = await shop.worker();
  const { job_id } = await shop.engine.submit("fan", { n: 3 });
  expect(await shop.engine.wait(job_id)).toMatchObject({ status: "completed", stages: [{ completed: 3 }] });
  await worker.idle();
  expect(times).toBeGreaterThan(3);
  expect(await written(shop.db)).toHaveLength(3);
  expect(await attemptsOf(shop.db)).toEqual([]);
});

test("an isolated handler's writes commit with its finish, in the order they were said", async () => {
  const shop = await openIsolated([isolated_writer], [fan("isolated_writer")]);
  await shop.db.script(table);
  await shop.start();
  const { job_id } = await shop.engine.submit("fan", { n: 2 } as never);
  expect(await shop.engine.wait(job_id)).toMatchObject({ status: "completed" });
  expect(await shop.db.sql`select n, attempt, note from public.written order by n`).toEqual([
    { n: 0, attempt: 3, note: "said first, said last" },
    { n: 1, attempt: 3, note: "said first, said last" },
  ]);
});

test("writes run as the worker's role and see the task's tenant; the finish is the worker's again", async () => {
  const telling = defineHandler("telling", {}, (_, ctx) =>
    ctx.db(
      (session) => session.sql`
        insert into public.written select ${ctx.ordinal}, 0, app.current_tenant() || ' ' || session_user || ' ' || current_user`,
      { with_finish: true },
    ),
  );
  const shop = await openWriting(telling);
  await shop.engine.tenants.create("other");
  const other: Engine = shop.engine.forTenant("other");
  await shop.worker();
  const { job_id } = await other.submit("fan", { n: 1 });
  expect(await other.wait(job_id)).toMatchObject({ status: "completed" });
  const [me] = await shop.db.sql<{ me: string }>`select session_user || ' ' || current_user as me`;
  expect(await shop.db.sql`select note from public.written`).toEqual([{ note: `other ${me!.me}` }]);
});

test("what cannot be kept for the finish is refused at once, and said", async () => {
  const refused: string[] = [];
  const greedy = defineHandler("greedy", {}, async (_, ctx) => {
    const keep = (work: Parameters<typeof ctx.db>[0]) =>
      ctx.db(work as never, { with_finish: true }).catch((error: Error) => refused.push(error.message));
    await keep((session) => session.sql`insert into public.written (note) values (${"x".repeat(3 << 20)})`);
    await keep((session) => session.sql`insert into public.written (note) values (${"x".repeat(2 << 20)})`);
    await keep((session) => session.sql` /* a note */ commit`);
    // As Postgres reads them: comments hold comments, and a line ends with a carriage return too.
    await keep((session) => session.sql`/* a /* note */ in a note */ commit`);
    await keep((session) => session.sql`-- a note\rcommit`);
    await keep((session) => session.sql`set local role postgres`);
    await keep((session) => session.sql`insert into public.written values (${new Date() as never})`);
    void ctx.db(() => new Promise<void>(() => {}), { with_finish: true });
    return "early";
  });
  const shop = await openWriting(greedy);
  await shop.worker();
  const { job_id } = await shop.engine.submit("fan", { n: 1 });
  await shop.engine.wait(job_id);
  expect(refused).toEqual([
    expect.stringContaining("4194304 bytes"),
    expect.stringContaining('"commit"'),
    expect.stringContaining('"commit"'),
    expect.stringContaining('"commit"'),
    expect.stringContaining('"set"'),
    expect.stringContaining("kind Date"),
  ]);
  expect(await attemptsOf(shop.db)).toMatchObject([{ outcome: "failed", code: "not_awaited" }]);
  expect(await written(shop.db)).toEqual([]);
});

test("what a task with writes has logged is kept", async () => {
  const talking = defineHandler("talking", {}, async (_, ctx) => {
    await ctx.db((session) => session.sql`insert into public.written values (${ctx.ordinal})`, { with_finish: true });
    ctx.log.info("last words");
  });
  const shop = await openWriting(talking);
  await shop.worker();
  const { job_id } = await shop.engine.submit("fan", { n: 5 });
  await shop.engine.wait(job_id);
  expect(await shop.db.sql`select ordinal, message from app.task_logs order by ordinal`).toEqual(
    Array.from({ length: 5 }, (_, ordinal) => ({ ordinal, message: "last words" })),
  );
});

async function declareLost({ db, engine }: TestShop): Promise<void> {
  await db.sql`update app.workers set heartbeat_at = now() - interval '1 hour'`;
  await engine.worker_commands.reap_workers(db);
}

async function cutBurst({ db }: TestShop): Promise<void> {
  await db.sql`
    select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name = 'fanfold burst'`;
}
