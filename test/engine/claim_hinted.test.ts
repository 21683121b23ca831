// The short claim of an idle worker that was told of a type: it gives what the full claim would have given, and nothing else.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database, Queryable } from "../../src/engine/database/database.js";
import { openServer } from "../../src/engine/database/server_database.js";
import { type ClaimReply, type ClaimRequest, worker_commands } from "../../src/engine/work/commands.js";
import { freshDatabase } from "../postgres.js";
import { claim, expectSound, finish, one, register, status, submit } from "./floor.js";

let db: Database;
let beside: Database;
let drop: () => Promise<void>;

beforeAll(async () => {
  const fresh = await freshDatabase();
  ({ db, drop } = fresh);
  beside = openServer(fresh.url);
  await db.sql`select app.create_tenant('acme'), app.create_tenant('globex')`;
});

afterAll(async () => {
  await beside.close();
  await drop();
});

const only = [{ name: "only", task: "t.hint" }];
const enqueue = (at: Queryable, more = "", tenant = "default") =>
  at.sql`select app.enqueue_tasks(${`{"tenant":"${tenant}","task_type":"t.hint","tasks":[{"parameters":"{\\"n\\":1}"${more}}]}`}::text::json)`;
const hinted = (at: Queryable, request: ClaimRequest) => worker_commands.claim_hinted(at, "t.hint", request);
const tasksOf = (reply: ClaimReply) => reply.claims.flatMap(({ tasks }) => tasks).length;

class Undo extends Error {}

/** What is done in it is not kept. */
async function undone(work: (tx: Queryable & { script(text: string): Promise<void> }) => Promise<void>): Promise<void> {
  const done = db.transaction(async (tx) => {
    await work(tx);
    throw new Undo();
  });
  await expect(done).rejects.toThrow(Undo);
}

/** The reply and every row that a claim changes, without the numbers of claims. */
async function outcome(tx: Queryable, reply: ClaimReply) {
  const rows = await tx.sql`
    select (select json_agg(r order by r.ready_id) from app.ready r)::text as ready,
      (select json_agg(to_jsonb(c) - 'claim_id') from app.claims c)::text as claims,
      (select json_agg(json_build_array(j.job_id, j.status, j.started_at)) from app.jobs j)::text as jobs`;
  const { stages, after_tenant } = reply;
  return { rows, stages, after_tenant, claims: reply.claims.map(({ claim_id: _, ...given }) => given) };
}

interface Situation {
  prepare(tx: Queryable): Promise<unknown>;
  tasks: number;
  is_short: boolean;
  known?: boolean;
}

const situations: Record<string, Situation> = {
  "a lone task": { prepare: (tx) => enqueue(tx), tasks: 1, is_short: true },
  "a lone task of a type it knows": { prepare: (tx) => enqueue(tx), tasks: 1, is_short: true, known: true },
  "a task with metadata and a priority": {
    prepare: (tx) => enqueue(tx, `,"priority":7,"metadata":{"a":"b"}`),
    tasks: 1,
    is_short: true,
  },
  "the first task of a job": { prepare: (tx) => submit(tx, only, { a: [1, null] }), tasks: 1, is_short: true },
  "the task of a later stage": {
    prepare: async (tx) => {
      await submit(tx, [{ name: "before", task: "t.before" }, ...only]);
      const worker = await register(tx);
      await finish(tx, worker, await claim(tx, worker, ["t.before"]));
    },
    tasks: 1,
    is_short: true,
  },
  "a task that failed once": {
    prepare: async (tx) => {
      await submit(tx, only);
      const worker = await register(tx);
      const held = await claim(tx, worker, ["t.hint"]);
      await finish(tx, worker, held, () => ({ category: "transient", code: "x", message: "y", retry_after_s: 0 }));
      await tx.sql`update app.ready set run_at = now()`;
    },
    tasks: 1,
    is_short: false,
  },
  "nothing at all": { prepare: async () => {}, tasks: 0, is_short: false },
  "two lone tasks": { prepare: async (tx) => [await enqueue(tx), await enqueue(tx)], tasks: 2, is_short: false },
  "a stage of several tasks": {
    prepare: (tx) => submit(tx, [{ name: "wide", task: "t.hint", plan: { count: 3 } }]),
    tasks: 3,
    is_short: false,
  },
  "a task that is due later": { prepare: (tx) => enqueue(tx, `,"delay_s":60`), tasks: 0, is_short: false },
  "a task that has crashed a worker": {
    prepare: async (tx) => [await enqueue(tx), await tx.sql`update app.ready set crashes = 1`],
    tasks: 1,
    is_short: false,
  },
  "a type that is paused": {
    prepare: async (tx) => [await enqueue(tx), await tx.sql`select app.pause_type('t.hint')`],
    tasks: 0,
    is_short: false,
  },
  "a job that is paused": {
    prepare: async (tx) => {
      const { job_id } = await submit(tx, only);
      await tx.sql`update app.stages set paused = true where job_id = ${job_id}`;
    },
    tasks: 0,
    is_short: false,
  },
  "a job that was cancelled while somebody held its range": {
    prepare: async (tx) => {
      const { job_id } = await submit(tx, only);
      await tx.sql`update app.stages set status = 'cancelled', closed_at = now() where job_id = ${job_id}`;
    },
    tasks: 0,
    is_short: false,
  },
  "a tenant that has as many tasks as it may": {
    prepare: async (tx) => {
      await tx.sql`select app.set_limits('default', 1)`;
      await tx.sql`select app.enqueue('t.other')`;
      expect(await claim(tx, await register(tx), ["t.other"])).toHaveLength(1);
      await enqueue(tx);
    },
    tasks: 0,
    is_short: false,
  },
  "a stage at its max_parallel": {
    prepare: async (tx) => {
      await submit(tx, [{ name: "wide", task: "t.hint", plan: { count: 2 }, max_parallel: 1 }]);
      expect(await claim(tx, await register(tx), ["t.hint"], 1)).toHaveLength(1);
    },
    tasks: 0,
    is_short: false,
  },
  "a task of a tenant that the session may not serve": {
    prepare: async (tx) => {
      await enqueue(tx, "", "globex");
      await tx.sql`select set_config('fanfold.tenant', 'acme', true)`;
    },
    tasks: 0,
    is_short: false,
  },
};

for (const [name, { prepare, tasks, is_short, known }] of Object.entries(situations)) {
  test(`${name}: the short claim and the full one give the same`, async () => {
    await undone(async (tx) => {
      await prepare(tx);
      const worker_id = await register(tx, ["t.hint"]);
      const stages = await tx.sql<{ stage_id: number }>`select stage_id from app.stages`;
      const request: ClaimRequest = {
        worker_id,
        types: ["t.hint"],
        limit: 8,
        after_tenant: null,
        known: known ? stages.map(({ stage_id }) => stage_id) : [],
      };
      await tx.script("savepoint prepared");
      const short = await hinted(tx, request);
      const given = await outcome(tx, short);
      expect(short.held === undefined).toBe(is_short);
      expect(tasksOf(short)).toBe(tasks);
      await tx.script("rollback to prepared");
      expect(given).toEqual(await outcome(tx, await worker_commands.claim(tx, request)));
    });
  });
}

test("a range that somebody's open transaction holds is not waited for where the worker says so, and is had afterwards", async () => {
  const worker_id = await register(db, ["t.hint"]);
  const { job_id } = await submit(db, only, { held: true });
  const request = { worker_id, types: ["t.hint"], limit: 8, after_tenant: null };
  await beside.transaction(async (tx) => {
    await tx.sql`select from app.ready for update`;
    expect(tasksOf(await hinted(db, { ...request, no_wait: ["default"] }))).toBe(0);
    // Not told so, it waits for a moment, and says for whom.
    expect(await hinted(db, request)).toMatchObject({ claims: [], held: ["default"] });
  });
  const reply = await hinted(db, request);
  expect([tasksOf(reply), reply.held]).toEqual([1, undefined]);
  expect(await status(db, job_id)).toMatchObject({ status: "processing" });
  await expectSound(db);
});

test("of two workers that hear the same hint one has the task, however close they come", async () => {
  const workers = await Promise.all([register(db, ["t.hint"]), register(db, ["t.hint"])]);
  for (let round = 0; round < 20; round++) {
    await enqueue(db);
    const replies = await Promise.all(
      workers.map((worker_id, i) =>
        hinted(i === 0 ? db : beside, { worker_id, types: ["t.hint"], limit: 8, after_tenant: null }),
      ),
    );
    expect(replies.reduce((sum, reply) => sum + tasksOf(reply), 0)).toBe(1);
  }
  expect(await one(db.sql`select count(*)::int as left from app.ready`)).toEqual({ left: 0 });
  await expectSound(db);
});

test("a worker that was declared lost, or is another tenant's, is refused", async () => {
  const worker_id = await register(db, ["t.hint"]);
  await enqueue(db);
  const request = { worker_id, types: ["t.hint"], limit: 8, after_tenant: null };
  await undone(async (tx) => {
    await tx.sql`select set_config('fanfold.tenant', 'acme', true)`;
    await tx.script("savepoint asked");
    await expect(hinted(tx, request)).rejects.toMatchObject({ code: "FF007" });
    await tx.script("rollback to asked");
  });
  await db.sql`update app.workers set status = 'lost', ended_at = now() where worker_id = ${worker_id}::text::uuid`;
  await expect(hinted(db, request)).rejects.toMatchObject({ code: "FF007" });
});
