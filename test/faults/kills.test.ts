// F1–F4: workers that die at the worst moments.
import { expect } from "vitest";
import { eventually } from "../worker/shop.js";
import { fault } from "./fault.js";
import { expectedTotal } from "./job.js";
import { killWorkers } from "./nemesis.js";

fault("F1 kill -9 of workers in the middle of tasks", async (scene) => {
  const fleet = await scene.fleet();
  await scene.submit({ ms: 80, fail_every: 50 });
  await scene.progress(20);
  const killed = await killWorkers(scene, fleet, { pause_ms: 1000, most: 6 });
  scene.notes.push(`${killed.length} kills`);
  expect(killed.length).toBeGreaterThan(0);
  await scene.settle();
  // A kill costs a crash, and never one of the attempts that errors have.
  const [costs] = await scene.db.sql<{ attempts: number; lost: number }>`
    select (select max(attempt) from app.results) as attempts,
           (select count(*) from app.attempts where outcome = 'lost') as lost`;
  expect(costs!.attempts).toBe(2);
  expect(costs!.lost).toBeGreaterThan(0);
});

fault("F2 kill -9 between claim commit and handler start", async (scene) => {
  const doomed = await scene.worker({ faults: "after-claim:kill9" });
  await scene.submit();
  expect(await doomed.exited).toMatchObject({ signal: "SIGKILL" });
  // Claimed, never started: the claim is there, its worker ran nothing, and no handler was called.
  const [held] = await scene.db.sql<{ tasks: number; running: unknown[]; status: string }>`
    select sum(app.held_count(held))::bigint as tasks, w.running, w.status
      from app.claims join app.workers w using (worker_id) where w.pid = ${doomed.pid}::integer group by w.worker_id`;
  expect(held).toMatchObject({ running: [], status: "live" });
  expect(held!.tasks).toBeGreaterThan(0);
  expect(scene.effects()).toEqual([]);
  await scene.fleet();
  await scene.settle();
  const [lost] = await scene.db.sql<{ tasks: number }>`
    select count(distinct (stage_id, ordinal)) as tasks from app.attempts join app.workers w using (worker_id)
     where outcome = 'lost' and w.pid = ${doomed.pid}::integer`;
  expect(lost!.tasks).toBe(held!.tasks);
});

fault("F3 kill -9 after a handler's effect, before the finish commits", async (scene) => {
  await scene.db.script(
    "create table public.effects (effect_key text primary key); grant all on public.effects to public",
  );
  const fleet = await scene.fleet({ first: (place) => (place === 0 ? { faults: "before-finish:kill9@3" } : {}) });
  await scene.submit({ n: 200, mark: true });
  await eventually(() => fleet.deaths.length > 0);
  const doomed = fleet.deaths[0]!.name;
  await scene.settle();
  // It ran again, and the same key made one effect of it.
  const effects = scene.effects();
  const done_in_vain = effects.filter(
    (effect) => effect.process === doomed && effect.outcome === "returned" && runsOf(effect).length > 1,
  );
  function runsOf(task: { stage_id: number; ordinal: number }) {
    return effects.filter(
      ({ what, stage_id, ordinal }) => what === "start" && stage_id === task.stage_id && ordinal === task.ordinal,
    );
  }
  expect(done_in_vain.length).toBeGreaterThan(0);
  const [kept] = await scene.db.sql<{ n: number }>`select count(*) as n from public.effects`;
  const [tasks] = await scene.db.sql<{ n: number }>`select count(*) as n from app.tasks`;
  expect(kept!.n).toBe(tasks!.n);
});

fault("F4 kill -9 after the finish commits, before the worker hears of it", async (scene) => {
  // Its first finish is the last of the stage: it closes it, opens the next one, and nobody is left to know.
  const doomed = await scene.worker({ faults: "after-finish-commit:kill9" });
  const { job_id } = await scene.submit({ n: 1 });
  await doomed.exited;
  const { stages } = await scene.engine.status(job_id);
  expect(stages.map(({ name, status }) => [name, status]).slice(0, 2)).toEqual([
    ["make", "completed"],
    ["double", "processing"],
  ]);
  await scene.fleet({ first: (place) => (place === 0 ? { faults: "after-finish-commit:kill9@5" } : {}) });
  await scene.submit({ n: 300 });
  await scene.settle();
  // What it had finished before it died, nobody ran again.
  const runs = scene.effects().filter(({ what, process }) => what === "start" && process === doomed.name);
  expect(runs.length).toBe(1);
  const again = scene.effects().filter(({ what, stage_id }) => what === "start" && stage_id === runs[0]!.stage_id);
  expect(again.length).toBe(1);
  expect(await scene.engine.result(job_id)).toMatchObject({ value: expectedTotal(1) });
});
