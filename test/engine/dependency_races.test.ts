// Races of jobs that depend on each other, proven by holding a transaction open on a second connection: no release is lost, no job
// is released twice, groups count right, and no two verbs wait for each other.
import { describe, expect, test } from "vitest";
import type { Queryable } from "../../src/engine/database/database.js";
import { claim, drain, expectSound, finish, type Held, one, register, submit } from "./floor.js";
import { twoSessions, type Verb } from "./interleave.js";
import { untilWaiting } from "./lock_waits.js";

const stages = [{ name: "only", task: "t.only" }];
const types = ["t.only"];

/**
 * a and b run, held by Ann. w waits for both, x for w, v for w and b. All of them are in a group that is sealed; u, which runs too,
 * is in one that is not.
 */
interface Scene {
  ann: string;
  held: { a: Held[]; b: Held[]; u: Held[] };
  id: Record<"a" | "b" | "u" | "w" | "x" | "v", string>;
}

type Names = keyof Scene["id"];
const end = (...names: ("a" | "b" | "u")[]): Verb<Scene> => {
  return (db, { ann, held }) =>
    finish(
      db,
      ann,
      names.flatMap((name) => held[name]),
    );
};
const fail = (...names: ("a" | "b")[]): Verb<Scene> => {
  return (db, { ann, held }) =>
    finish(
      db,
      ann,
      names.flatMap((name) => held[name]),
      () => ({ category: "permanent" }),
    );
};
const cancel = (name: Names): Verb<Scene> => {
  return (db, { id }) => db.sql`select app.cancel_job(${id[name]})`;
};
let fresh = 0;
const depend = (...names: Names[]): Verb<Scene> => {
  return (db, { id }) =>
    submit(
      db,
      stages,
      { fresh: fresh++ },
      { options: { group_id: "open", depends_on: names.map((name) => id[name]) } },
    );
};

const verbs: Record<string, Verb<Scene>> = {
  end_a: end("a"),
  end_b_and_u: end("b", "u"),
  end_all: end("u", "b", "a"),
  fail_a: fail("a"),
  cancel_w: cancel("w"),
  cancel_b: cancel("b"),
  pause_and_continue_w: async (db, { id }) => {
    await db.sql`select app.pause_job(${id.w})`;
    await db.sql`select app.continue_job(${id.w})`;
  },
  depend_on_running: depend("a", "b"),
  depend_on_waiting: depend("x", "a", "w", "u"),
  seal_open: (db) => db.sql`select app.seal_group('open')`,
};

describe("jobs that depend on each other, on a real server", () => {
  const floor = twoSessions();

  async function setScene(): Promise<Scene> {
    const { db } = floor;
    await floor.clear();
    const ann = await register(db, [], 3600);
    const id = {} as Scene["id"];
    const make = async (name: Names, group_id: string, depends_on: Names[] = []) => {
      const options = {
        group_id,
        ...(depends_on.length === 0 ? {} : { depends_on: depends_on.map((one) => id[one]) }),
      };
      id[name] = (await submit(db, stages, { name }, { options })).job_id;
    };
    await make("a", "sealed");
    await make("b", "sealed");
    await make("u", "open");
    const tasks = await claim(db, ann, types);
    await make("w", "sealed", ["a", "b"]);
    await make("x", "sealed", ["w"]);
    await make("v", "sealed", ["w", "b"]);
    await db.sql`select app.seal_group('sealed')`;
    const stage_of = new Map(
      (await db.sql<{ stage_id: number; job_id: string }>`select stage_id, job_id from app.stages`).map((row) => [
        row.stage_id,
        row.job_id,
      ]),
    );
    const of = (name: Names) => tasks.filter(({ stage_id }) => stage_of.get(stage_id) === id[name]);
    return { ann, id, held: { a: of("a"), b: of("b"), u: of("u") } };
  }

  /** Whatever met, the rows agree with each other, and an honest worker brings everything to an end. */
  async function expectWell({ ann, held }: Scene, story: string): Promise<void> {
    const { db } = floor;
    expect([story, await troubles(db)]).toEqual([story, []]);
    await finish(db, ann, [...held.a, ...held.b, ...held.u]);
    await drain(db, ann, types);
    await db.sql`select app.seal_group('open')`;
    expect([story, await troubles(db)]).toEqual([story, []]);
    expect([story, await db.sql`select job_id from app.jobs where finished_at is null`]).toEqual([story, []]);
    const ends = await db.sql<{ group_id: string; n: number }>`
      select g.group_id, (select count(*)::integer from app.events e
          where e.data ->> 'group_id' = g.group_id and e.kind ~ '^group.(completed|partial_success|failed|cancelled)$') as n
        from app.job_groups g order by 1`;
    expect([story, ends]).toEqual([
      story,
      [
        { group_id: "open", n: 1 },
        { group_id: "sealed", n: 1 },
      ],
    ]);
    await expectSound(db);
  }

  for (const [a, first] of Object.entries(verbs)) {
    test(`${a} against each other verb loses no release and counts each end once, whoever commits first`, async () => {
      for (const [b, second] of Object.entries(verbs)) {
        const scene = await setScene();
        await floor.meet(scene, [a, first], [b, second]);
        await expectWell(scene, `${a} then ${b}`);
      }
    });
  }

  test("a dependency that ends while its dependent is being submitted releases it, whoever commits first", async () => {
    const { db } = floor;
    for (const submit_first of [true, false]) {
      const scene = await setScene();
      const { ann, held, id } = scene;
      const ending = (tx: Queryable) => finish(tx, ann, held.a);
      const submitting = (tx: Queryable) =>
        submit(tx, stages, { late: submit_first }, { options: { depends_on: [id.a] } });
      if (submit_first) await floor.both(submitting, ending);
      else await floor.both(ending, submitting);
      const row = await one(db.sql`
        select j.waits_for, s.status::text from app.jobs j join app.stages s using (job_id)
         where j.parameters ? 'late'`);
      expect([submit_first, row]).toEqual([submit_first, { waits_for: 0, status: "processing" }]);
    }
  });

  test("the last two dependencies ending at once release the job exactly once", async () => {
    const { db } = floor;
    const { ann, held, id } = await setScene();
    await floor.both(
      (tx) => finish(tx, ann, held.a),
      (tx) => finish(tx, ann, held.b),
    );
    expect(await db.sql`select kind from app.events where job_id = ${id.w} and kind = 'job.released'`).toEqual([
      { kind: "job.released" },
    ]);
    expect((await claim(db, ann, types)).length).toBe(1);
  });

  test("a cancel that is held up half-way and the end of what its job waits for do not wait for each other", async () => {
    const { db, first, second } = floor;
    await floor.clear();
    const ann = await register(db, [], 3600);
    const a = await submit(db, stages, { name: "a" });
    const held = await claim(db, ann, types);
    const w = await submit(db, stages, { name: "w" }, { options: { group_id: "g", depends_on: [a.job_id] } });
    const x = await submit(db, stages, { name: "x" }, { options: { depends_on: [w.job_id] } });
    let met: Promise<unknown>[] = [];
    await db.transaction(async (holder) => {
      // Counting the end in its group is what comes between the row of w and those that wait for w.
      await holder.sql`select 1 from app.job_groups where group_id = 'g' for update`;
      const cancelling = first.sql`select app.cancel_job(${w.job_id})`;
      await untilWaiting(db);
      const ending = finish(second, ann, held);
      met = [cancelling, ending];
      for (const one of met) one.catch(() => {});
      await untilWaiting(db, 2);
    });
    await Promise.all(met);
    const ends = await db.sql`select parameters ->> 'name' as name, status::text from app.jobs order by 1`;
    expect([x.created, ends]).toEqual([
      true,
      [
        { name: "a", status: "completed" },
        { name: "w", status: "cancelled" },
        { name: "x", status: "cancelled" },
      ],
    ]);
  });

  const repairs: Record<string, Verb<Scene>> = {
    resume_a: (db, { id }) => db.sql`select app.resume_job(${id.a})`,
    resume_w: (db, { id }) => db.sql`select app.resume_job(${id.w})`,
    resume_x: (db, { id }) => db.sql`select app.resume_job(${id.x})`,
    end_b: end("b"),
    cancel_w: cancel("w"),
    depend: depend("a", "w", "b"),
  };

  for (const [a, first] of Object.entries(repairs)) {
    test(`after a failure, ${a} meets each other repair, and everything comes to an end`, async () => {
      for (const [b, second] of Object.entries(repairs)) {
        const { db } = floor;
        const scene = await setScene();
        await finish(db, scene.ann, scene.held.a, () => ({ category: "permanent" }));
        await floor.meet(scene, [a, first], [b, second]);
        const story = `${a} then ${b}`;
        expect([story, await troubles(db)]).toEqual([story, []]);
        await finish(db, scene.ann, [...scene.held.b, ...scene.held.u]);
        await drain(db, scene.ann, types);
        expect([story, await troubles(db)]).toEqual([story, []]);
        expect([story, await db.sql`select job_id from app.jobs where finished_at is null`]).toEqual([story, []]);
        await expectSound(db);
      }
    });
  }

  /** Whatever the rows of jobs, dependencies and groups disagree about. */
  async function troubles(db: Queryable): Promise<unknown[]> {
    return db.sql`
      select 'waits_for is not what its rows say' as trouble, j.parameters
        from app.jobs j
       where j.waits_for <> (
         select count(*) from app.job_dependencies d
          where d.tenant_id = j.tenant_id and d.job_id = j.job_id and d.satisfied_at is null)
      union all
      select 'it waits for a job that has ended', j.parameters
        from app.jobs j
        join app.job_dependencies d using (tenant_id, job_id)
        join app.jobs q on q.tenant_id = d.tenant_id and q.job_id = d.depends_on
       where j.finished_at is null and d.satisfied_at is null and q.finished_at is not null
      union all
      select t.trouble, j.parameters
        from app.jobs j cross join lateral app.job_trouble(j.tenant_id, j.job_id) t
       where j.finished_at is null and t.trouble is not null
      union all
      select 'the counts of group ' || g.group_id || ' are wrong', null
        from app.job_groups g cross join lateral app.count_group(g) c
       where g.sealed_at is not null
         and (g.total, g.completed, g.partial_success, g.failed, g.cancelled)
           is distinct from (c.total, c.completed, c.partial_success, c.failed, c.cancelled)
      union all
      select 'changes of a group are left over', null from app.group_changes`;
  }
});
