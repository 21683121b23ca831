// Races around tasks that stand alone: each is in one place, whoever comes first.
import { describe, expect, test } from "vitest";
import { worker_commands } from "../../src/engine/work/commands.js";
import { claim, drain, expectSound, finish, type Held, one, register } from "./floor.js";
import { twoSessions, type Verb } from "./interleave.js";

interface Scene {
  ann: string;
  bob: string;
  /** Tasks 1 and 2 are held by Ann; 3 to 6 are ready as one range. */
  held: Held[];
  waiting_id: string;
  held_id: string;
}

const verbs: Record<string, Verb<Scene>> = {
  enqueue: (db) => db.sql`select app.enqueue('t.lone', '{}', idempotency_key => 'same')`,
  enqueue_range: (db) => db.sql`select app.enqueue_alike('t.lone', '[{},{}]')`,
  claim: (db, { bob }) => claim(db, bob, ["t.lone"], 2),
  finish: (db, { ann, held }) => finish(db, ann, held),
  retry: (db, { ann, held }) => finish(db, ann, held, () => ({ category: "throttled", retry_after_s: 0 })),
  release: (db, { ann, held }) =>
    worker_commands.release(db, {
      worker_id: ann,
      items: [{ c: held[0]!.claim_id, o: held.map(({ ordinal }) => ordinal) }],
    }),
  cancel_waiting: (db, { waiting_id }) => db.sql`select app.cancel_task(${waiting_id})`,
  cancel_held: (db, { held_id }) => db.sql`select app.cancel_task(${held_id})`,
  reschedule: (db, { waiting_id }) => db.sql`select app.reschedule_task(${waiting_id}, now(), 5)`,
};

describe("races around lone tasks", () => {
  const floor = twoSessions();

  async function setScene(): Promise<Scene> {
    const { db } = floor;
    await floor.clear();
    const [ann, bob] = [await register(db, [], 3600), await register(db, [], 3600)];
    const { reply } = await one(db.sql<{ reply: { stage_id: number; ordinals: number[] } }>`
      select app.enqueue_alike('t.lone', '[{},{},{},{},{},{}]') as reply`);
    const held = await claim(db, ann, ["t.lone"], 2);
    const id = (position: number) => `${reply.stage_id}-${reply.ordinals[position]}`;
    return { ann, bob, held, waiting_id: id(4), held_id: id(0) };
  }

  for (const [a, first] of Object.entries(verbs)) {
    test(`${a} against each other verb leaves every task in one place`, async () => {
      for (const [b, second] of Object.entries(verbs)) {
        const scene = await setScene();
        const { db } = floor;
        await floor.meet(scene, [a, first], [b, second]);
        await expectSound(db);
        await db.sql`update app.workers set heartbeat_at = 'epoch' where status = 'live'`;
        await worker_commands.reap_workers(db);
        await drain(db, await register(db, [], 3600), ["t.lone"]);
        const open = await one(db.sql`
          select (select count(*)::integer from app.tasks) - (select count(*)::integer from app.results) as unfinished`);
        expect([a, b, open]).toEqual([a, b, { unfinished: 0 }]);
        await expectSound(db);
      }
    });
  }
});
