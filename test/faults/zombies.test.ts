// F11, F12: workers that are given up for dead and go on.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { eventually } from "../worker/shop.js";
import { fault } from "./fault.js";
import { named } from "./proxy.js";
import type { Scene } from "./scene.js";

const held_ordinals = [0, 1, 2, 3];

/** Resolves when the process runs all the held tasks. */
function allStarted(scene: Scene, process: string): Promise<void> {
  return eventually(
    () => scene.effects().filter((effect) => effect.process === process).length >= held_ordinals.length,
  );
}

async function refusals(scene: Scene): Promise<number> {
  const rows = await scene.db.sql`select from app.attempts where outcome = 'refused'`;
  return rows.length;
}

async function owners(scene: Scene) {
  return scene.db.sql`
    select r.stage_id, r.ordinal, r.worker_id::text, r.result, r.spill from app.results r join app.stages s using (stage_id)
     where s.name = 'make' and r.ordinal < 4 order by r.stage_id, r.ordinal`;
}

fault("F11 SIGSTOP of a worker for three leases, then SIGCONT", async (scene) => {
  const proxy = await scene.proxy();
  const zombie = await scene.worker({ via: proxy });
  // A first job has it prepare its statements: from then on a finish is one message, values and all.
  await scene.submit({ n: 4, name: "before" });
  await scene.settle();
  const { until, open } = scene.gate();
  await scene.submit({ n: 200, hold: { stage: "make", ordinals: held_ordinals, until, stubborn: true } });
  await allStarted(scene, zombie.name);
  // What it had claimed ahead goes back, so that nothing but the finish will be on its way.
  await eventually(async () => {
    const [row] = await scene.db.sql<{
      tasks: number;
    }>`select sum(app.held_count(held))::bigint as tasks from app.claims`;
    return row!.tasks === held_ordinals.length;
  });
  const finishes = () =>
    proxy.wires.flatMap(({ statements }) => statements).filter((text) => text.includes("app.finish")).length;
  const before = finishes();
  // Its tasks end and their finish is on its way when it freezes.
  proxy.stall(named("fanfold work"));
  open();
  await eventually(() => finishes() > before);
  zombie.freeze();
  await scene.fleet();
  await scene.settle();
  await eventually(async () => {
    const [row] = await scene.db.sql<{ over: boolean }>`
      select heartbeat_at < now() - make_interval(secs => 3 * lease_s) as over from app.workers where pid = ${zombie.pid}::integer`;
    return row!.over;
  });
  const accepted = await owners(scene);
  // The finish arrives after all, from a worker that was declared lost: refused, on record, and nobody's error.
  proxy.heal();
  await eventually(async () => (await refusals(scene)) > 0);
  zombie.thaw();
  await eventually(() => zombie.logged("tasks abandoned").length > 0);
  const stats = await zombie.stop();
  scene.notes.push(`${await refusals(scene)} refused, ${stats!.dropped} not even sent`);
  expect(stats!.fenced).toBe(1);
  expect(await owners(scene)).toEqual(accepted);
});

fault("F12 a zombie writes outputs after it lost the lease", async (scene) => {
  // So long a lease that it will not ask before it has written: only the database knows that it was given up.
  const zombie = await scene.worker({ options: { lease_s: 600 } });
  const { until, open } = scene.gate();
  const hold = { stage: "make", ordinals: held_ordinals, until, stubborn: true };
  await scene.submit({ n: 20, spill_every: 1, hold });
  await allStarted(scene, zombie.name);
  zombie.freeze();
  await scene.db
    .sql`update app.workers set heartbeat_at = now() - interval '1 hour' where pid = ${zombie.pid}::integer`;
  await scene.fleet();
  open();
  await scene.settle();
  const accepted = await owners(scene);
  zombie.thaw();
  // Usually its finish is refused. If it asks for more before it has finished anything, it hears that it was given up, and says
  // nothing of what it did.
  await eventually(async () => (await refusals(scene)) > 0 || zombie.logged("tasks abandoned").length > 0);
  scene.notes.push(`${await refusals(scene)} refused`);
  // Its files are there, beside the accepted ones and under names of their own; what consumers read is as it was.
  const refused = await scene.db.sql<{ stage_id: number; ordinal: number }>`
    select stage_id, ordinal from app.attempts where outcome = 'refused'`;
  for (const { stage_id, ordinal } of refused) {
    expect(
      readdirSync(join(scene.storage_dir, "tenant-default", "results", String(stage_id), String(ordinal))),
    ).toHaveLength(2);
  }
  expect(await owners(scene)).toEqual(accepted);
});
