// Races of requests, proven by holding a transaction open on a second connection: the last two jobs end at once, cancel and resume meet the
// end, each in both orders. No next job is opened twice or not at all, no request stays open, and no two verbs wait for each other.
import { describe, expect, test } from "vitest";
import type { Queryable } from "../../src/engine/database/database.js";
import { claim, drain, expectSound, finish, type Held, register } from "../engine/floor.js";
import { twoSessions, type Verb } from "../engine/interleave.js";
import { ask, recipe, seen, statuses } from "./floor.js";

const types = ["t.a", "t.b", "t.c", "t.d"];

/** a and b run side by side, held by Ann; c waits for both, and d for c. `done` is a request whose b failed. */
interface Scene {
  ann: string;
  held: Held[][];
  id: string;
  done: string;
  job: Record<string, string>;
}

const body = { dataset_id: "race", resource_id: "r", parameters: {} };
const end = (...which: number[]): Verb<Scene> => {
  return (db, { ann, held }) =>
    finish(
      db,
      ann,
      which.flatMap((one) => held[one]!),
    );
};
const fail = (which: number): Verb<Scene> => {
  return (db, { ann, held }) => finish(db, ann, held[which]!, () => ({ category: "permanent" }));
};

const verbs: Record<string, Verb<Scene>> = {
  end_a: end(0),
  end_b: end(1),
  end_both: end(1, 0),
  fail_b: fail(1),
  cancel: (db, { id }) => db.sql`select platform.cancel_request(${id})`,
  cancel_job_a: (db, { job }) => db.sql`select app.cancel_job(${job.a!})`,
  resume_done: (db, { done }) => db.sql`select platform.resume_request(${done})`,
  resume_job_of_done: (db, { job }) => db.sql`select app.resume_job(${job.done_b!})`,
  resume_other_job_of_done: (db, { job }) => db.sql`select app.resume_job(${job.done_a!})`,
  submit_again: (db) => ask(db, "pair", { ...body, mode: "resume" }),
  force: (db) => ask(db, "pair", { ...body, mode: "force" }),
};

describe("requests, on a real server", () => {
  const floor = twoSessions();

  async function setScene(): Promise<Scene> {
    const { db } = floor;
    await floor.clear();
    const ann = await register(db, [], 3600);
    await recipe(db, "pair", [
      { name: "a", after: [] },
      { name: "b", after: [] },
      { name: "c", after: [1, 2], sequence: 2 },
      { name: "d", after: [3], sequence: 3 },
    ]);
    const { request_id: done } = await ask(db, "pair", { dataset_id: "done" });
    await finish(db, ann, await claim(db, ann, types), () => ({ category: "permanent" }));
    const { request_id: id } = await ask(db, "pair", body);
    const tasks = await claim(db, ann, types);
    const [mine, theirs] = [await seen(db, id), await seen(db, done)];
    expect(theirs.status).toBe("failed");
    const job = {
      a: mine.job("a").job_id!,
      b: mine.job("b").job_id!,
      done_a: theirs.job("a").job_id!,
      done_b: theirs.job("b").job_id!,
    };
    const stages = await db.sql<{
      stage_id: number;
      job_id: string;
    }>`select stage_id::integer, job_id from app.stages where job_id is not null`;
    const held = [job.a, job.b].map((job_id) =>
      tasks.filter(({ stage_id }) => stages.some((stage) => stage.stage_id === stage_id && stage.job_id === job_id)),
    );
    expect(held.map(({ length }) => length)).toEqual([1, 1]);
    return { ann, held, id, done, job };
  }

  /** Whatever happened: every request has ended once everything that may run has run, and nothing was made twice. */
  async function expectEnd(db: Queryable, { ann, held }: Scene, story: string): Promise<void> {
    await finish(db, ann, held.flat()).catch(() => {});
    await drain(db, ann, types);
    const open = await db.sql`
      select r.dataset_id, r.status, (
        select json_agg(json_build_array(j.name, j.phase, q.status) order by j.number)
          from platform.request_jobs j left join app.jobs q using (tenant_id, job_id) where j.request_id = r.request_id) as jobs
        from platform.requests r where r.finished_at is null`;
    expect([story, open]).toEqual([story, []]);
    const doubled = await db.sql`
      select request_id, job_type from app.jobs where request_id is not null group by 1, 2, run having count(*) > 1`;
    expect(doubled).toEqual([]);
    const wrong = await db.sql`
      select r.request_id from platform.requests r
       where r.status <> (
         select app.job_outcome(array_agg(platform.status_of(j.phase, q.status)), array_agg(j.importance))::text
           from platform.request_jobs j left join app.jobs q on q.tenant_id = j.tenant_id and q.job_id = j.job_id
          where j.tenant_id = r.tenant_id and j.request_id = r.request_id)`;
    expect(wrong).toEqual([]);
    await expectSound(db);
  }

  for (const first of Object.keys(verbs)) {
    test(`${first} meets every other verb, and goes first`, async () => {
      for (const second of Object.keys(verbs)) {
        const scene = await setScene();
        await floor.meet(scene, [first, verbs[first]!], [second, verbs[second]!]);
        await expectEnd(floor.db, scene, `${first} then ${second}`);
      }
    }, 60_000);
  }

  test("the last two jobs end at once, and the next one opens once", async () => {
    const scene = await setScene();
    await floor.both(
      (db) => end(0)(db, scene),
      (db) => end(1)(db, scene),
    );
    expect(await statuses(floor.db, scene.id)).toEqual(["processing", "completed", "completed", "queued", "waiting"]);
    await drain(floor.db, scene.ann, types);
    expect((await seen(floor.db, scene.id)).status).toBe("completed");
  });

  test("a thousand submits of the same at once make one request", async () => {
    await floor.clear();
    await recipe(floor.db, "pair", [{ name: "a" }]);
    const replies = await Promise.all(
      Array.from({ length: 1_000 }, (_, n) => ask(n % 2 === 0 ? floor.first : floor.second, "pair", body)),
    );
    expect(replies.filter(({ created }) => created)).toHaveLength(1);
    expect(new Set(replies.map(({ request_id }) => request_id)).size).toBe(1);
    const [counted] = await floor.db.sql<{ requests: number; jobs: number }>`
      select (select count(*)::int from platform.requests) as requests, (select count(*)::int from app.jobs) as jobs`;
    expect(counted).toEqual({ requests: 1, jobs: 1 });
  }, 60_000);
});
