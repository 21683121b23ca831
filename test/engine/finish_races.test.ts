// What a finish may take, and who closes a stage when two of them end it between them: the first has stored its results and
// not committed when the second comes.
import { describe, expect, test } from "vitest";
import type { Queryable } from "../../src/engine/database/database.js";
import { worker_commands } from "../../src/engine/work/commands.js";
import { claim, drain, expectSound, finish, type Held, one, register, status, submit } from "./floor.js";
import { twoSessions } from "./interleave.js";

const stages = [
  { name: "pair", task: "t.pair", plan: { count: 2 } },
  { name: "next", task: "t.next" },
];
const types = ["t.pair", "t.next"];

describe("finishes on a real server", () => {
  const floor = twoSessions();

  /** Both tasks of a stage, held by two workers. */
  async function setScene(): Promise<{ job_id: string; ann: string; bob: string; hers: Held[]; his: Held[] }> {
    const { db } = floor;
    await floor.clear();
    const [ann, bob] = [await register(db, [], 3600), await register(db, [], 3600)];
    const { job_id } = await submit(db, stages, { scene: 1 });
    return { job_id, ann, bob, hers: await claim(db, ann, types, 1), his: await claim(db, bob, types, 1) };
  }

  const results = async () => {
    const rows = await floor.db.sql<{ ordinal: number; owner: string }>`
      select ordinal, worker_id::text as owner from app.results order by stage_id, ordinal`;
    return rows.map(({ ordinal, owner }) => [ordinal, owner]);
  };

  test("of two workers who end a stage together the second closes it, whoever that is and however its task ended", async () => {
    for (const fate of [() => ({}), () => ({ category: "permanent" })]) {
      for (const swapped of [false, true]) {
        const { job_id, ann, bob, hers, his } = await setScene();
        const finishHers = (db: Queryable) => finish(db, ann, hers);
        const finishHis = (db: Queryable) => finish(db, bob, his, fate);
        const [first, second] = swapped
          ? await floor.both(finishHis, finishHers)
          : await floor.both(finishHers, finishHis);
        expect([first.advanced, second.advanced]).toEqual([false, true]);
        const closed = await floor.db
          .sql`select from app.events where job_id = ${job_id} and kind in ('stage.completed', 'stage.failed')
          and event_id > (select max(event_id) from app.events where kind = 'job.submitted')`;
        expect(closed).toHaveLength(1);
        await expectSound(floor.db);
        await drain(floor.db, ann, types);
        expect(["completed", "failed"]).toContain((await status(floor.db, job_id)).status);
      }
    }
  });

  test("under several claims a finish takes what its worker holds, and nothing of another worker's", async () => {
    const { ann, bob, hers, his } = await setScene();
    await submit(floor.db, stages, { scene: 2 });
    const more = await claim(floor.db, ann, types, 2);
    const reply = await finish(floor.db, ann, [...hers, ...his, ...more]);
    expect(reply).toMatchObject({ accepted: 3, refused: [[his[0]!.claim_id, his[0]!.ordinal, "not_held"]] });
    expect((await results()).filter(([, owner]) => owner === ann)).toHaveLength(3);
    await expectSound(floor.db);
    expect(await finish(floor.db, bob, his)).toMatchObject({ accepted: 1, refused: [] });
    await expectSound(floor.db);
  });

  test("under one claim a finish of another worker is refused", async () => {
    const { ann, bob, hers } = await setScene();
    expect(await finish(floor.db, bob, hers)).toMatchObject({
      accepted: 0,
      refused: [[hers[0]!.claim_id, hers[0]!.ordinal, "not_held"]],
    });
    expect(await results()).toEqual([]);
    expect(await finish(floor.db, ann, hers)).toMatchObject({ accepted: 1 });
    await expectSound(floor.db);
  });

  test("under one claim a finish takes only what that still holds", async () => {
    const { db } = floor;
    await floor.clear();
    const ann = await register(db, [], 3600);
    await submit(db, stages, { scene: 1 });
    const held = await claim(db, ann, types, 2);
    const { claim_id } = held[0]!;
    await worker_commands.release(db, { worker_id: ann, items: [{ c: claim_id, o: [1] }] });
    expect(await finish(db, ann, held)).toMatchObject({ accepted: 1, refused: [[claim_id, 1, "not_held"]] });
    expect((await results()).map(([ordinal]) => ordinal)).toEqual([0]);
    await expectSound(db);
  });

  test("under several claims a finish takes only what each of them still holds", async () => {
    const { db } = floor;
    await floor.clear();
    const ann = await register(db, [], 3600);
    for (const scene of [1, 2]) await submit(db, stages, { scene });
    const held = await claim(db, ann, types, 4);
    const claims = [...new Set(held.map(({ claim_id }) => claim_id))];
    expect([held.length, claims.length]).toEqual([4, 2]);
    await worker_commands.release(db, { worker_id: ann, items: claims.map((c) => ({ c, o: [1] })) });
    const reply = await finish(db, ann, held);
    expect(reply).toMatchObject({ accepted: 2, refused: claims.map((c) => [c, 1, "not_held"]) });
    expect((await results()).map(([ordinal]) => ordinal)).toEqual([0, 0]);
    expect(await one(db.sql`select count(*)::integer as n from app.attempts where outcome = 'refused'`)).toEqual({
      n: 2,
    });
    await expectSound(db);
  });

  test("what was finished into a stage whose rows are gone is gone as well", async () => {
    const { ann, hers } = await setScene();
    await floor.db.script("delete from app.stage_progress; delete from app.stages; delete from app.jobs");
    await finish(floor.db, ann, hers);
    expect(await results()).toEqual([]);
    expect(await floor.db.sql`select from app.claims where worker_id = ${ann}::text::uuid`).toEqual([]);
  });
});
