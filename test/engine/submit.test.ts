// Submitting: the same content is the same job, whoever submits it and however often.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { createRegistry } from "../../src/core/declare/registry.js";
import { jobId } from "../../src/core/values/ids.js";
import type { Database } from "../../src/engine/database/database.js";
import { openServer } from "../../src/engine/database/server_database.js";
import { Engine } from "../../src/engine/engine.js";
import { bothDatabases, freshDatabase } from "../postgres.js";
import { one, status, submit } from "./floor.js";
import { untilWaiting } from "./lock_waits.js";

const greet = defineJob({
  type: "greet",
  parameters: z.object({ name: z.string(), times: z.int().min(1).default(1), shout: z.boolean().optional() }),
  stages: [{ name: "say", task: "t.say" }],
});
const dataset = defineJob({
  type: "dataset",
  parameters: z.object({ source: z.string(), note: z.string().optional() }),
  identity: ["source"],
  stages: [{ name: "read", task: "t.say" }],
});
const registry = createRegistry({ jobs: [greet, dataset], handlers: [defineHandler("t.say", {}, () => ({}))] });

function engineOn(db: Database, tenant = "default"): Engine {
  const store = { put: refuse, putStream: refuse, get: refuse, getStream: refuse, remove: refuse };
  return new Engine({ db, tenant, registry, store, openConnection: () => db, close: () => db.close() });
}
function refuse(): never {
  throw new Error("no storage in this test");
}

bothDatabases("submitting", (open) => {
  test("the id is the SHA-256 of tenant, type, parameters and run, the same from TypeScript, from SQL and from core", async () => {
    const db = await open();
    const engine = engineOn(db);
    const { job_id, created } = await engine.submit(greet, { name: "Ada" });
    expect(created).toBe(true);
    expect(job_id).toBe(jobId("default", "greet", '{"name":"Ada","times":1}', 1));
    const [row] = await db.sql<{ reply: { job_id: string; created: boolean } }>`select app.submit(
      ${JSON.stringify(greet.blueprint)}::text::jsonb, '{"times": 1.0, "name": "Ada"}') as reply`;
    expect(row!.reply).toMatchObject({ job_id, created: false });
  });

  test("SQL submits by the name of a type that a worker has in code, or that is saved", async () => {
    const db = await open();
    const engine = engineOn(db);
    const named = async (type: string, parameters: object) => {
      const [row] = await db.sql<{ reply: { job_id: string; created: boolean } }>`
        select app.submit(${type}, ${JSON.stringify(parameters)}::text::jsonb) as reply`;
      return row!.reply;
    };
    await expect(named("greet", { name: "Ada" })).rejects.toMatchObject({
      code: "FF001",
      message: 'there is no job type "greet"',
    });
    const planned = defineJob({
      type: "planned",
      stages: [{ name: "say", task: "t.say", tasks: () => [{ index: "a", parameters: {} }] }],
    });
    const blueprints = [greet.blueprint, dataset.blueprint, planned.blueprint];
    await engine.worker_commands.register_blueprints(db, { blueprints });
    expect(await engine.worker_commands.register_blueprints(db, { blueprints })).toBe(0);
    // Defaults are filled in and the identity is the same as TypeScript's.
    expect((await named("greet", { name: "Ada" })).job_id).toBe((await engine.submit(greet, { name: "Ada" })).job_id);
    const { job_id } = await engine.submit(dataset, { source: "a", note: "one" });
    expect(await named("dataset", { source: "a", note: "another" })).toMatchObject({ job_id, created: false });
    expect(await named("planned", {})).toMatchObject({ created: true, job_type: "planned" });
    await expect(named("greet", { times: "twice", who: 1 })).rejects.toMatchObject({
      detail: expect.stringMatching(
        /name.*is missing.*times.*is string, not integer.*who.*is not one of its parameters/,
      ),
    });
    await engine.blueprints.save("kept", { stages: [{ name: "say", task: "t.say" }] });
    expect(await named("kept", {})).toMatchObject({ created: true, job_type: "kept" });
    await engine.blueprints.remove("kept");
    await expect(named("kept", { n: 2 })).rejects.toMatchObject({ code: "FF001" });
    // A literal of either kind finds its way, and so does what was cast.
    const blueprint = JSON.stringify(greet.blueprint);
    await db.script(`select app.submit('greet', '{"name": "Bob"}'), app.submit('${blueprint}', '{"name": "Cy"}')`);
    await db.script(
      `select app.submit('${blueprint}'::jsonb, '{"name": "Di"}'), app.submit(job_type => 'greet', parameters => '{"name": "Ed"}')`,
    );
  });

  test("resubmitting returns the job whatever its status, says what can be done, and writes nothing", async () => {
    const db = await open();
    const engine = engineOn(db);
    const first = await engine.submit("greet", { name: "Ada" });
    const before = await snapshot(db);
    const again = await engine.submit("greet", { times: 1, name: "Ada" });
    expect(again).toEqual({ ...first, created: false });
    expect(again.hint).toContain("fanfold watch");
    expect(await snapshot(db)).toEqual(before);
  });

  test("force starts the next run and keeps the one before", async () => {
    const engine = engineOn(await open());
    const first = await engine.submit(greet, { name: "Ada" });
    const second = await engine.submit(greet, { name: "Ada" }, { mode: "force" });
    expect([second.run, second.created, second.job_id === first.job_id]).toEqual([2, true, false]);
    expect((await engine.submit(greet, { name: "Ada" })).job_id).toBe(second.job_id);
    expect((await engine.jobs()).jobs.length).toBe(2);
  });

  test("a blueprint may choose which parameters form the identity", async () => {
    const engine = engineOn(await open());
    const first = await engine.submit(dataset, { source: "a.tif", note: "monday" });
    const again = await engine.submit(dataset, { source: "a.tif", note: "tuesday" });
    expect([again.job_id, again.created]).toEqual([first.job_id, false]);
    expect((await engine.submit(dataset, { source: "b.tif" })).job_id).not.toBe(first.job_id);
  });

  test("the same parameters of two tenants are two jobs", async () => {
    const db = await open();
    await db.sql`select app.create_tenant('other')`;
    const mine = await engineOn(db).submit(greet, { name: "Ada" });
    const theirs = await engineOn(db, "other").submit(greet, { name: "Ada" });
    expect(theirs.created).toBe(true);
    expect(theirs.job_id).not.toBe(mine.job_id);
    await expect(engineOn(db, "other").status(mine.job_id)).rejects.toMatchObject({ code: "not_found" });
  });

  test("a bulk submit gives every job in order, duplicates included", async () => {
    const engine = engineOn(await open());
    const names = ["a", "b", "a", "c", "b"];
    const replies = await engine.submitMany(
      greet,
      names.map((name) => ({ parameters: { name }, priority: 3 })),
    );
    expect(replies.map(({ created }) => created)).toEqual([true, true, false, true, false]);
    expect(replies[2]!.job_id).toBe(replies[0]!.job_id);
    expect((await engine.status(replies[0]!.job_id)).priority).toBe(3);
  });

  test("a submit inside the caller's transaction exists when that commits, or not at all", async () => {
    const db = await open();
    const engine = engineOn(db);
    await expect(
      db.transaction(async (tx) => {
        await engine.submit(greet, { name: "Eve" }, { db: tx });
        throw new Error("changed my mind");
      }),
    ).rejects.toThrow("changed my mind");
    expect((await engine.jobs()).jobs).toEqual([]);
    await db.transaction((tx) => engine.submit(greet, { name: "Eve" }, { db: tx }));
    expect((await engine.jobs()).jobs.length).toBe(1);
  });

  test("a running job keeps the shape it was submitted with, though the blueprint changes", async () => {
    const db = await open();
    const { job_id } = await submit(
      db,
      [
        { name: "one", task: "t.one" },
        { name: "two", task: "t.two" },
      ],
      {},
      { type: "shape" },
    );
    await submit(db, [{ name: "only", task: "t.one" }], { other: 1 }, { type: "shape" });
    expect((await status(db, job_id)).stages.map(({ name }) => name)).toEqual(["one", "two"]);
    expect(await one(db.sql`select count(*)::integer as n from app.blueprints`)).toEqual({ n: 2 });
  });

  test("jobs are listed newest first in pages that neither repeat nor leave out", async () => {
    const engine = engineOn(await open());
    await engine.submitMany(
      greet,
      Array.from({ length: 25 }, (_, n) => ({ parameters: { name: `n${n}` } })),
    );
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page = await engine.jobs({ limit: 10, cursor });
      seen.push(...page.jobs.map(({ job_id }) => job_id));
      cursor = page.next;
    } while (cursor !== null);
    expect([seen.length, new Set(seen).size]).toEqual([25, 25]);
  });
});

describe("submitting at once", () => {
  test("1,000 identical submits in parallel give one job and no error", async () => {
    const { db, url, drop } = await freshDatabase();
    const many = openServer(url, { max: 20 });
    const engine = engineOn(many);
    const replies = await Promise.all(Array.from({ length: 1000 }, () => engine.submit(greet, { name: "storm" })));
    expect(new Set(replies.map(({ job_id }) => job_id)).size).toBe(1);
    expect(replies.filter(({ created }) => created).length).toBe(1);
    expect(await one(db.sql`select count(*)::integer as jobs from app.jobs`)).toEqual({ jobs: 1 });
    expect(await one(db.sql`select count(*)::integer as tasks from app.tasks`)).toEqual({ tasks: 1 });
    await many.close();
    await drop();
  });

  test("two simultaneous force submits share one new run", async () => {
    const { db, url, drop } = await freshDatabase();
    const [first, second] = [openServer(url), openServer(url)];
    await engineOn(db).submit(greet, { name: "twin" });
    let other: Promise<{ run: number; created: boolean }> | undefined;
    const mine = await first.transaction(async (tx) => {
      const reply = await engineOn(db).submit(greet, { name: "twin" }, { mode: "force", db: tx });
      other = engineOn(second).submit(greet, { name: "twin" }, { mode: "force" });
      await untilWaiting(db);
      return reply;
    });
    expect([mine.run, mine.created]).toEqual([2, true]);
    expect(await other).toMatchObject({ run: 2, created: false, job_id: mine.job_id });
    await first.close();
    await second.close();
    await drop();
  });

  test("bulk submits of the same jobs in opposite order wait for each other and do not deadlock", async () => {
    const { url, drop } = await freshDatabase();
    const sessions = [openServer(url), openServer(url)];
    const items = Array.from({ length: 500 }, (_, n) => ({ parameters: { name: `n${n}` } }));
    const [up, down] = await Promise.all([
      engineOn(sessions[0]!).submitMany(greet, items),
      engineOn(sessions[1]!).submitMany(greet, [...items].reverse()),
    ]);
    expect(new Set([...up, ...down].map(({ job_id }) => job_id)).size).toBe(500);
    expect([...up, ...down].filter(({ created }) => created).length).toBe(500);
    for (const session of sessions) await session.close();
    await drop();
  });
});

async function snapshot(db: Database): Promise<unknown> {
  return db.sql`
    select (select json_agg(j.xmin::text order by j.job_id) from app.jobs j) as jobs,
      (select json_agg(s.xmin::text order by s.stage_id) from app.stages s) as stages,
      (select count(*)::integer from app.tasks) as tasks, (select count(*)::integer from app.events) as events,
      (select count(*)::integer from app.blueprints) as blueprints`;
}
