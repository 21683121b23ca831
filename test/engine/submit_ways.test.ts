// A job that is submitted alone takes a shorter way than one among others. Both must leave the same rows.
import { expect, test } from "vitest";
import type { Database } from "../../src/engine/database/database.js";
import { Engine } from "../../src/engine/engine.js";
import { createRegistry, defineHandler, defineJob } from "../../src/index.js";
import { bothDatabases } from "../postgres.js";

const shapes = {
  one_task: [{ name: "only", task: "t.do" }],
  chain: [
    { name: "first", task: "t.do", timeout_s: 60, failure_budget: { percent: 5 } },
    { name: "second", task: "t.do", importance: "optional" as const },
  ],
  wide: [
    { name: "all", task: "t.do", tasks: { each: "$.list[*]", parameters: { n: "{item}" } } },
    { name: "fold", task: "t.do", parallelism: "fan_in" as const },
  ],
  nothing: [{ name: "none", task: "t.do", tasks: { count: 0 } }],
  skipped: [{ name: "never", task: "t.do", when: '$.parameters.at == "never"' }],
  gated: [{ name: "asked", task: "t.do", gate: "May it run?" }],
  two_roots: [
    { name: "left", task: "t.do", after: [] },
    { name: "right", task: "t.do", after: [], tasks: { count: 2 } },
    { name: "both", task: "t.do", after: ["left", "right"], parallelism: "fan_in" as const, of: "left" },
  ],
};

const registry = createRegistry({
  handlers: [defineHandler("t.do", {}, () => ({}))],
  jobs: Object.entries(shapes).map(([type, stages]) => defineJob({ type, stages })),
});

function engineOn(db: Database): Engine {
  const refuse = () => {
    throw new Error("no storage in this test");
  };
  const store = { put: refuse, putStream: refuse, get: refuse, getStream: refuse, remove: refuse };
  return new Engine({ db, tenant: "default", registry, store, openConnection: () => db, close: () => db.close() });
}

/** All that was written for a job, without what must differ: numbers given out, times, and what is made of its parameters. */
async function rowsOf(db: Database, job_id: string) {
  const own = "{job_id,content_hash,parameters,stage_id,event_id,ready_id}";
  const [row] = await db.sql<{ rows: Record<string, unknown[]> }>`
    with mine as (select * from app.stages where job_id = ${job_id})
    select json_build_object(
      'jobs', (select json_agg(to_jsonb(j) - ${own}::text[]) from app.jobs j where j.job_id = ${job_id}),
      'stages', (select json_agg(to_jsonb(s) - ${own}::text[] order by s.number) from mine s),
      'tasks', (select json_agg(to_jsonb(t) - ${own}::text[] || jsonb_build_object('stage', s.number) order by s.number, t.ordinal)
                  from mine s join app.tasks t on t.stage_id = s.stage_id),
      'ledgers', (select json_agg(to_jsonb(p) - ${own}::text[] || jsonb_build_object('stage', s.number) order by s.number)
                  from mine s join app.stage_progress p on p.stage_id = s.stage_id),
      'ready', (select json_agg(to_jsonb(r) - ${own}::text[] || jsonb_build_object('stage', s.number, 'turn', width_bucket(r.turn, array[0, 1, 4503599627370496]::bigint[]))
                  order by s.number, r.lo)
                  from mine s join app.ready r on r.stage_id = s.stage_id),
      'events', (select json_agg(to_jsonb(e) - ${own}::text[] order by e.event_id) from app.events e where e.job_id = ${job_id})) as rows`;
  const plain = JSON.stringify(row!.rows).replace(/"\d{4}-\d\d-\d\dT[^"]*"/g, '"a time"');
  return JSON.parse(plain) as Record<string, unknown[]>;
}

bothDatabases("submitting alone and among others", (open) => {
  test("leaves the same rows, whatever the shape of the job", async () => {
    const db = await open();
    const engine = engineOn(db);
    for (const type of Object.keys(shapes)) {
      const item = (at: string) => ({ parameters: { list: [1, 2, 3], at }, actor: "ada" });
      const alone = await engine.submit(type, item("alone").parameters, { actor: "ada" });
      const [one, two] = await engine.submitMany(type, [item("one"), item("two")]);
      const expected = await rowsOf(db, one!.job_id);
      expect(expected.jobs).toHaveLength(1);
      expect(await rowsOf(db, alone.job_id), type).toEqual(expected);
      expect(await rowsOf(db, two!.job_id), type).toEqual(expected);
      const { job_id, hint, action } = one!;
      expect(alone).toEqual({
        ...one,
        job_id: alone.job_id,
        hint: hint.replaceAll(job_id.slice(0, 12), alone.job_id.slice(0, 12)),
        action: action && { ...action, job_id: alone.job_id },
      });
    }
  });

  test("a blueprint that an older version kept has its stages written down by the next submit", async () => {
    const db = await open();
    const engine = engineOn(db);
    await engine.submit("chain", { at: "before" });
    await db.sql`delete from app.blueprint_stages`;
    const { job_id } = await engine.submit("chain", { at: "after" });
    expect((await engine.status(job_id)).stages).toMatchObject([{ name: "first" }, { name: "second" }]);
    const [hash] = await db.sql<{ hash: string }>`select distinct blueprint_hash as hash from app.blueprint_stages`;
    expect(await db.sql`select app.submit_kept_job(${hash!.hash}, null::text) as reply`).toEqual([{ reply: null }]);
  });

  test("a blueprint that the database has lost since is sent again", async () => {
    const db = await open();
    const engine = engineOn(db);
    await expect(
      db.transaction(async (tx) => {
        await engine.submit("one_task", { at: "rolled back" }, { db: tx });
        throw new Error("roll back");
      }),
    ).rejects.toThrow("roll back");
    expect(await engine.submit("one_task", { at: "kept" })).toMatchObject({ created: true, status: "queued" });
    expect(await engine.submit("one_task", { at: "kept" })).toMatchObject({ created: false });
  });
});
