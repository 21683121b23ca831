// F5–F7: the server crashes, loses a backend, or throws everybody out.
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { eventually } from "../worker/shop.js";
import { fault } from "./fault.js";
import { usual_tasks } from "./job.js";
import { keepSubmitting } from "./load.js";

/**
 * Longer than the outages: a lease that runs out while the server is away counts as a crash of the worker, and a task is
 * failed at its third, which on a busy machine two outages and a slow recovery can come to.
 */
const options = { lease_s: 15 };

fault("F5 pg_ctl stop -m immediate in the middle of a drain, and a restart", async (scene) => {
  const { cluster } = scene;
  await scene.fleet({ options });
  const submitting = keepSubmitting(scene);
  await scene.submit({ ms: 40, spill_every: 100 });
  const starts = cluster.startCount();
  for (const progress of [usual_tasks / 5, usual_tasks]) {
    await scene.progress(progress);
    await cluster.restart("immediate", scene.random() * 2000);
  }
  const jobs = await submitting.stop();
  scene.notes.push(`${jobs} small jobs acknowledged`);
  expect(cluster.startCount()).toBe(starts + 2);
  expect(cluster.log()).toContain("database system was not properly shut down");
});

fault("F6 kill -9 of a backend, which takes all others down", async (scene) => {
  const { cluster } = scene;
  await scene.fleet({ options });
  const submitting = keepSubmitting(scene);
  await scene.submit({ ms: 40 });
  for (const progress of [usual_tasks / 5, usual_tasks]) {
    await scene.progress(progress);
    const crashes = crashCount(cluster.log());
    const backends = await scene.patiently(
      () => scene.db.sql<{ pid: number }>`
        select pid from pg_stat_activity where datname = current_database() and application_name = 'fanfold work'`,
    );
    expect(backends.length).toBeGreaterThan(0);
    cluster.killBackend(backends[Math.floor(scene.random() * backends.length)]!.pid);
    await eventually(() => crashCount(cluster.log()) > crashes);
  }
  scene.notes.push(`${await submitting.stop()} small jobs acknowledged`);
});

function crashCount(log: string): number {
  return log.split("all server processes terminated; reinitializing").length - 1;
}

fault("F7 pg_terminate_backend on everybody, every 500 ms", async (scene) => {
  const { cluster, database } = scene;
  await scene.fleet();
  await scene.submit({ ms: 40, fail_every: 50 });
  await scene.progress(20);
  let ended = 0;
  let rounds = 0;
  for (; rounds < 12 && !(await scene.settled()); rounds++) {
    // The engine that asks may be thrown out as well.
    ended += await scene.patiently(() => cluster.terminateAll(database));
    await sleep(500);
  }
  scene.notes.push(`${ended} sessions ended in ${rounds} rounds`);
  expect(ended).toBeGreaterThan(rounds);
  await scene.settle();
  // Of the attempts that errors have, it cost none: only those that fail by themselves did.
  const failed = await scene.db.sql`select from app.attempts where outcome = 'failed'`;
  expect(failed).toHaveLength(usual_tasks / 50);
});
