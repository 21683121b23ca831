// Tasks that stand alone: enqueue, list, cancel, reschedule, from TypeScript and from psql.
import { expect, test } from "vitest";
import { z } from "zod";
import { defineHandler } from "../../src/core/declare/declare.js";
import { createRegistry } from "../../src/core/declare/registry.js";
import type { Database } from "../../src/engine/database/database.js";
import { Engine } from "../../src/engine/engine.js";
import { bothDatabases } from "../postgres.js";
import { claim, expectSound, finish, one, register } from "./floor.js";

const registry = createRegistry({
  handlers: [
    defineHandler(
      "mail.send",
      { parameters: z.object({ to: z.string(), body: z.string().default("hello") }) },
      () => ({}),
    ),
  ],
});

function engineOn(db: Database): Engine {
  const store = { put: refuse, putStream: refuse, get: refuse, getStream: refuse, remove: refuse };
  return new Engine({ db, tenant: "default", registry, store, openConnection: () => db, close: () => db.close() });
}
function refuse(): never {
  throw new Error("no storage in this test");
}

bothDatabases("lone tasks", (open) => {
  test("the same key and the same body return the same task, from TypeScript and from psql", async () => {
    const db = await open();
    const engine = engineOn(db);
    const first = await engine.enqueue("mail.send", { to: "ada" }, { idempotency_key: "k" });
    expect(first.created).toBe(true);
    expect(await engine.enqueue("mail.send", { to: "ada" }, { idempotency_key: "k" })).toEqual({
      ...first,
      created: false,
    });
    const [row] = await db.sql`select app.enqueue('mail.send', '{"to": "ada"}', idempotency_key => 'k') as reply`;
    expect(row).toEqual({ reply: { ...first, created: false } });
    expect(await one(db.sql`select count(*)::integer as n from app.tasks`)).toEqual({ n: 1 });
  });

  test("the same key with another body is a clear conflict, and nothing of the call is written", async () => {
    const db = await open();
    const engine = engineOn(db);
    await engine.enqueue("mail.send", { to: "ada" }, { idempotency_key: "k" });
    const call = engine.enqueueMany("mail.send", [
      { parameters: { to: "new" }, idempotency_key: "fresh" },
      { parameters: { to: "bob" }, idempotency_key: "k" },
    ]);
    await expect(call).rejects.toMatchObject({ code: "conflict", message: expect.stringContaining('"k"') });
    expect(await one(db.sql`select count(*)::integer as n from app.tasks`)).toEqual({ n: 1 });
    expect(await one(db.sql`select count(*)::integer as n from app.idempotency_keys`)).toEqual({ n: 1 });
  });

  test("keys may be 10 KB, emoji or any text, and a key used twice in one call is one task", async () => {
    const engine = engineOn(await open());
    for (const idempotency_key of ["x".repeat(10_000), "🦉🦉", "a b\tc", "'; drop table app.jobs; --"]) {
      const first = await engine.enqueue("mail.send", { to: "ada" }, { idempotency_key });
      expect((await engine.enqueue("mail.send", { to: "ada" }, { idempotency_key })).task_id).toBe(first.task_id);
    }
    const twice = await engine.enqueueMany("mail.send", [
      { parameters: { to: "eve" }, idempotency_key: "twice" },
      { parameters: { to: "eve" }, idempotency_key: "twice" },
    ]);
    expect([twice.created, new Set(twice.task_ids).size]).toEqual([1, 1]);
  });

  test("the same moment written in two time zones is the same body", async () => {
    const db = await open();
    const call = (zone: string) =>
      db.transaction(async (tx) => {
        await tx.script(`set local timezone = '${zone}'`);
        return tx.sql`select app.enqueue('mail.send', '{"to": "x"}', idempotency_key => 'z', run_at => '2030-01-01T00:00Z') as reply`;
      });
    const [first] = await call("UTC");
    const [again] = await call("Europe/Madrid");
    expect(again).toMatchObject({ reply: { ...(first!.reply as object), created: false } });
  });

  test("bulk tasks that may run alike share one ready range", async () => {
    const db = await open();
    const engine = engineOn(db);
    const { task_ids, created } = await engine.enqueueMany(
      "mail.send",
      Array.from({ length: 3000 }, (_, n) => ({ parameters: { to: `n${n}` } })),
    );
    expect([created, new Set(task_ids).size]).toEqual([3000, 3000]);
    expect(
      await one(db.sql`select count(*)::integer as ranges, sum(hi - lo)::integer as tasks from app.ready`),
    ).toEqual({ ranges: 1, tasks: 3000 });
    expect((await engine.task(task_ids[1234]!)).parameters).toEqual({ to: "n1234" });
  });

  test("a delayed task waits for its time and can be moved", async () => {
    const db = await open();
    const engine = engineOn(db);
    const worker = await register(db);
    const { task_id } = await engine.enqueue("mail.send", { to: "later" }, { delay_s: 3600 });
    expect(await claim(db, worker, ["mail.send"])).toEqual([]);
    await engine.rescheduleTask(task_id, new Date(0), 7);
    expect((await engine.task(task_id)).priority).toBe(7);
    expect((await claim(db, worker, ["mail.send"])).length).toBe(1);
    await expect(engine.rescheduleTask(task_id, new Date())).rejects.toMatchObject({ code: "not_allowed_now" });
  });

  test("cancelling one task of a range leaves its neighbours", async () => {
    const db = await open();
    const engine = engineOn(db);
    const worker = await register(db);
    const { task_ids } = await engine.enqueueMany(
      "mail.send",
      Array.from({ length: 5 }, (_, n) => ({ parameters: { to: `n${n}` } })),
    );
    expect(await engine.cancelTask(task_ids[2]!, "not wanted")).toMatchObject({ status: "cancelled", changed: true });
    expect(await engine.cancelTask(task_ids[2]!)).toMatchObject({ status: "cancelled", changed: false });
    expect((await claim(db, worker, ["mail.send"])).map(({ parameters }) => parameters)).toEqual([
      { to: "n0" },
      { to: "n1" },
      { to: "n3" },
      { to: "n4" },
    ]);
    await expectSound(db);
  });

  test("cancelling a running task refuses its finish and tells the worker at the next heartbeat", async () => {
    const db = await open();
    const engine = engineOn(db);
    const worker = await register(db);
    const { task_id } = await engine.enqueue("mail.send", { to: "ada" });
    const [task] = await claim(db, worker, ["mail.send"]);
    await engine.cancelTask(task_id);
    const running = [
      { claim_id: task!.claim_id, stage_id: task!.stage_id, ordinal: task!.ordinal, elapsed_s: 1, progress: null },
    ];
    expect(
      await engine.worker_commands.heartbeat(db, { worker_id: worker, running, claims: [task!.claim_id] }),
    ).toMatchObject({ lost: [task!.claim_id] });
    expect((await finish(db, worker, [task!])).accepted).toBe(0);
    expect((await engine.task(task_id)).status).toBe("cancelled");
  });

  test("max_attempts of a task overrides its type's", async () => {
    const db = await open();
    const engine = engineOn(db);
    const worker = await register(db);
    const { task_id } = await engine.enqueue("mail.send", { to: "ada" }, { max_attempts: 1 });
    const [task] = await claim(db, worker, ["mail.send"]);
    expect((await finish(db, worker, [task!], () => ({ category: "transient" }))).retried).toBe(0);
    expect(await engine.task(task_id)).toMatchObject({
      status: "failed",
      attempts: [{ outcome: "failed", category: "transient" }],
    });
  });

  test("lone tasks are listed by type and status, in pages", async () => {
    const db = await open();
    const engine = engineOn(db);
    const { task_ids } = await engine.enqueueMany(
      "mail.send",
      Array.from({ length: 7 }, (_, n) => ({ parameters: { to: `n${n}` } })),
    );
    const first = await engine.tasks({ task_type: "mail.send", limit: 4 });
    const rest = await engine.tasks({ task_type: "mail.send", limit: 4, cursor: first.next });
    expect([...first.tasks, ...rest.tasks].map(({ task_id }) => task_id)).toEqual(task_ids);
    expect((await engine.tasks({ task_type: "mail.send", status: "failed" })).tasks).toEqual([]);
    const [row] = await db.sql<{ reply: { tasks: { task_id: string }[]; next: string } }>`
      select app.list_tasks(task_type => 'mail.send', page_rows => 3, cursor => ${first.next}) as reply`;
    expect(row!.reply).toMatchObject({ tasks: task_ids.slice(4).map((task_id) => ({ task_id })), next: null });
  });

  test("ordinals beyond 2^31 are as good as any", async () => {
    const db = await open();
    const engine = engineOn(db);
    const worker = await register(db);
    await db.sql`select setval('app.lone_ordinals', 2147483648)`;
    const { task_id } = await engine.enqueue("mail.send", { to: "far" });
    expect(task_id.endsWith("-2147483649")).toBe(true);
    const tasks = await claim(db, worker, ["mail.send"]);
    expect((await finish(db, worker, tasks)).accepted).toBe(1);
    expect((await engine.task(task_id)).status).toBe("completed");
  });
});
