// F29, F30: handlers that harm the process they run in, and handlers that obey nobody, in a real worker beside healthy tasks.
import { expect } from "vitest";
import { eventually } from "../worker/shop.js";
import { fault } from "./fault.js";
import { crash_job, type Deed, deaf_job, hang_job, hang_s, patient_deaf_job } from "./poison.js";
import { isAlive, readNotes } from "./processes.js";
import { endedAs, type Scene } from "./scene.js";
import type { WorkerProcess } from "./worker_process.js";

const slots = 4;

interface AttemptRow {
  ordinal: number;
  attempt: number;
  outcome: string;
  category: string;
  code: string;
  duration_ms: number;
  process: { pid: number; signal?: string; exit_code?: number } | null;
}

function attemptsOf(scene: Scene, job_id: string): Promise<AttemptRow[]> {
  return scene.db.sql<AttemptRow>`
    select a.ordinal, a.attempt, a.outcome, a.category, a.code, a.duration_ms, a.detail -> 'process' as process
      from app.attempts a join app.stages s using (stage_id) where s.job_id = ${job_id} order by a.ordinal, a.attempt_id`;
}

/** Alive under the one id it has had from the start: the lease never lapsed. */
async function expectUnharmed(scene: Scene, worker: WorkerProcess): Promise<void> {
  expect(worker.alive).toBe(true);
  expect(worker.logged("tasks abandoned")).toEqual([]);
  const rows = await scene.db.sql`
    select status, heartbeat_at > now() - make_interval(secs => lease_s) as beats from app.workers where pid = ${worker.pid}::integer`;
  expect(rows).toEqual([{ status: "live", beats: true }]);
}

/** As many tasks as it has slots run at once, so none is held by a dead one. */
async function expectAllSlotsFree(scene: Scene): Promise<void> {
  const { until, open } = scene.gate();
  const ordinals = Array.from({ length: slots }, (_, n) => n);
  const { job_id } = await scene.submit({ n: slots, name: "all slots", hold: { stage: "make", ordinals, until } });
  await eventually(() => scene.effects().filter((effect) => effect.job_id === job_id).length === slots);
  open();
  await scene.settle();
}

const pidsIn = (notes: string) => [...new Set(readNotes(notes).map(({ pid }) => pid))];

fault("F29 poison handlers, each in a process of its own, beside healthy tasks", async (scene) => {
  const worker = await scene.worker({ options: { slots, lease_s: hang_s - 1, abort_grace_s: 0.5 } });
  const notes = scene.gate().until;
  const hanging: Deed[] = ["loop", "never", "throw"];
  const crashing: Deed[] = ["exit", "abort", "memory", "flood"];
  const returning: Deed[] = ["reject_late", "breed"];
  const among = (deeds: Deed[]) => Object.fromEntries(deeds.map((deed, n) => [n * 2, deed]));
  const partial = endedAs("partial_success");
  const hang = await scene.submitJob(hang_job, { n: 10, deeds: among(hanging), notes }, partial);
  const crash = await scene.submitJob(crash_job, { n: 20, deeds: among([...crashing, ...returning]), notes }, partial);
  const other = await scene.submit({ n: 50, ms: 40 });
  await scene.settle();
  await expectUnharmed(scene, worker);

  // Three crashes each, and then no more; the neighbours of the same type and of the other were never touched.
  const crashes = await attemptsOf(scene, crash.job_id);
  const codes = ["exited", "killed", "out_of_memory", "output_limit"];
  expect(
    crashes.map(({ ordinal, attempt, outcome, category, code }) => [ordinal, attempt, outcome, category, code]),
  ).toEqual(codes.flatMap((code, n) => [1, 2, 3].map((attempt) => [n * 2, attempt, "failed", "crash", code])));
  const failed = await scene.db.sql<{ ordinal: number; quarantined: boolean | null; type: string }>`
    select r.ordinal, (r.error ->> 'quarantined')::boolean as quarantined, j.job_type as type
      from app.results r join app.stages s using (stage_id) join app.jobs j on j.job_id = s.job_id
     where r.status = 'failed' order by j.job_type, r.ordinal`;
  expect(failed).toEqual([
    ...crashing.map((_, n) => ({ ordinal: n * 2, quarantined: true, type: "crash" })),
    ...hanging.map((_, n) => ({ ordinal: n * 2, quarantined: null, type: "hang" })),
  ]);
  expect(await attemptsOf(scene, other.job_id)).toEqual([]);

  // Whoever hangs is ended after the time-out and the grace, and not before.
  const [loop, never, threw, ...more] = await attemptsOf(scene, hang.job_id);
  for (const attempt of [loop, never]) {
    expect(attempt).toMatchObject({ category: "transient", code: "timeout", process: { signal: "SIGTERM" } });
    expect(attempt!.duration_ms).toBeGreaterThanOrEqual(hang_s * 1000);
  }
  expect(threw).toMatchObject({ code: "unexpected", process: null });
  expect(more).toEqual([]);

  // Nothing of what misbehaved is left while the worker lives, and nothing at all once it has gone.
  const bred = readNotes(notes).filter(({ what }) => what === "child");
  expect(bred).toHaveLength(4);
  await eventually(() => !bred.some(({ pid }) => isAlive(pid)));
  const ended = [...crashes, loop!, never!].map(({ process }) => process!.pid);
  expect(ended.filter(isAlive)).toEqual([]);
  await expectAllSlotsFree(scene);
  await expectUnharmed(scene, worker);
  const stats = await worker.stop();
  expect(stats).toMatchObject({ fenced: 0, running: 0 });
  expect(pidsIn(notes).length).toBeGreaterThan(crashes.length);
  expect(pidsIn(notes).filter(isAlive)).toEqual([]);
  scene.notes.push(`${pidsIn(notes).length} processes, all gone`);
});

fault("F30 a handler that ignores its abort and SIGTERM", async (scene) => {
  const worker = await scene.worker({ options: { slots, abort_grace_s: 0.5 } });
  const notes = [scene.gate().until, scene.gate().until] as const;
  const [late, unwanted] = [
    await scene.submitJob(deaf_job, { n: 2, notes: notes[0] }, endedAs("failed")),
    await scene.submitJob(patient_deaf_job, { n: 2, notes: notes[1] }, endedAs("cancelled")),
  ];
  await eventually(() => readNotes(notes[1]).filter(({ what }) => what === "process").length === 2);
  await scene.engine.cancelJob(unwanted.job_id, "not wanted any more");
  await scene.settle();
  for (const attempt of await attemptsOf(scene, late.job_id)) {
    expect(attempt).toMatchObject({ code: "timeout", process: { signal: "SIGKILL" } });
  }
  expect(await attemptsOf(scene, late.job_id)).toHaveLength(2);
  // Asked in words, asked by signal, killed with what it had started; and its slot is another's.
  for (const file of notes) {
    await eventually(() => !pidsIn(file).some(isAlive));
    expect(pidsIn(file)).toHaveLength(4);
    for (const ordinal of [0, 1]) {
      const heard = readNotes(file).filter((line) => line.ordinal === ordinal);
      expect(heard.map(({ what }) => what)).toEqual(["child", "process", "abort", "SIGTERM"]);
    }
  }
  await expectAllSlotsFree(scene);
  await expectUnharmed(scene, worker);
});
