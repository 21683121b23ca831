// F50: everything at once. A nemesis draws from all faults for half an hour (FANFOLD_TEST_SOAK_MINUTES) while jobs are
// submitted; then it stops, whatever did not end well is resumed, and the usual checks are made of all of it. The seed is
// printed; FANFOLD_TEST_SEED draws the same faults again, though at other moments of the workers' lives.
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { isTerminal } from "../../src/core/shown/statuses.js";
import type { JobRecord } from "../../src/engine/verbs/records.js";
import { eventually } from "../worker/shop.js";
import { fault } from "./fault.js";
import { named } from "./proxy.js";
import type { Scene } from "./scene.js";

const minutes = Number(process.env.FANFOLD_TEST_SOAK_MINUTES || 30);

/** Being told no is a fine answer to whoever comes in between: the job has ended, is under way, or was opened by another. */
const told_no = ["conflict", "not_allowed_now", "not_found"];

fault(
  "F50 everything at once",
  async (scene) => {
    const { random, cluster, database } = scene;
    // A worker that is started while nobody answers says so and leaves; whoever keeps it running starts it again.
    scene.accounts_for = ({ started, stderr }) => !started && /code: '(08...|57P0.|53300)'/.test(stderr.join("\n"));
    const over = performance.now() + minutes * 60_000;
    const proxy = await scene.proxy();
    const fleets = [await scene.fleet({ size: 2 }), await scene.fleet({ size: 2, via: proxy })];
    const done = new Map<string, number>();
    const chance = (least: number, most: number) => least + random() * (most - least);
    const pick = <T>(among: readonly T[]): T | undefined => among[Math.floor(random() * among.length)];
    const someone = () => pick(fleets.flatMap(({ working }) => working));

    const jobs: string[] = [];
    const submitting = (async () => {
      for (let n = 0; performance.now() < over; n++) {
        const shape = {
          n: Math.floor(chance(1, 150)),
          ms: chance(1, 30),
          fail_every: pick([0, 0, 40]),
          spill_every: pick([0, 0, 60]),
        };
        const { job_id } = await scene.patiently(() => scene.submit({ name: `job ${n}`, ...shape }));
        jobs.push(job_id);
        // Not more than can be worked off: about ten are open at any time.
        await eventually(async () => performance.now() > over || (await open(scene)) < 10);
      }
    })();

    const verb = async (ask: (job_id: string) => Promise<unknown>) => {
      const job_id = pick(jobs.slice(-20));
      if (job_id === undefined) return;
      await scene
        .patiently(() => ask(job_id))
        .catch((error: { code?: string }) => {
          if (!told_no.includes(String(error.code))) throw error;
        });
    };
    const { engine } = scene;
    const by = { actor: "nemesis", reason: "for the test" };
    const nemesis: [weight: number, what: string, act: () => Promise<unknown>][] = [
      [6, "kill -9", async () => someone()?.kill()],
      [
        4,
        "freeze",
        async () => {
          const victim = someone();
          victim?.freeze();
          await sleep(chance(100, 8000));
          victim?.thaw();
        },
      ],
      [4, "terminate", () => scene.patiently(() => cluster.terminateAll(database))],
      [2, "crash", () => cluster.restart("immediate", chance(0, 2000))],
      [1, "restart", () => cluster.restart("fast", chance(0, 1000))],
      [4, "reset", async () => proxy.drop()],
      [
        3,
        "stall",
        async () => {
          proxy.stall(pick([() => true, named("fanfold work"), named("fanfold heartbeat listen")]));
          await sleep(chance(100, 8000));
          proxy.heal();
        },
      ],
      [3, "cancel", () => verb((job_id) => engine.cancelJob(job_id, by.reason, { actor: by.actor }))],
      [4, "resume", () => verb((job_id) => engine.operate.resume(job_id, by))],
      [
        3,
        "retry-stage",
        () => verb((job_id) => engine.operate.retryStage(job_id, pick(["make", "double", "sum"])!, by)),
      ],
      [
        3,
        "pause",
        async () => {
          const chosen = pick(jobs.slice(-20));
          if (chosen === undefined) return;
          await verb(() => engine.operate.pause(chosen, by));
          await sleep(chance(100, 3000));
          await verb(() => engine.operate.continue(chosen, by));
        },
      ],
    ];
    const bag = nemesis.flatMap((entry) => Array.from({ length: entry[0] }, () => entry));
    while (performance.now() < over) {
      const [, what, act] = pick(bag)!;
      await act();
      done.set(what, (done.get(what) ?? 0) + 1);
      await sleep(chance(0, 1500));
    }
    proxy.heal();
    await submitting;
    scene.notes.push(`${jobs.length} jobs`, ...[...done].map(([what, count]) => `${count} × ${what}`));

    // Peace: everything ends by itself; what was cancelled, or was in the hands of the dead too often, is resumed.
    let resumed = 0;
    await eventually(async () => {
      const records = await Promise.all(jobs.map((job_id) => scene.patiently(() => engine.status(job_id))));
      for (const job of records.filter(needsHelp)) {
        if (job.paused_at !== null) await verb(() => engine.operate.continue(job.job_id, by));
        else if (isTerminal(job.status)) {
          await verb(() => engine.operate.resume(job.job_id, by));
          resumed++;
        }
      }
      return records.every(({ status }) => status === "completed");
    });
    scene.notes.push(`${resumed} resumed in the end`);
    await scene.settle();
    for (const job_id of jobs) {
      const { problems } = await engine.operate.verify(job_id);
      expect([job_id, problems]).toEqual([job_id, []]);
    }
    // Each kind of fault had its turn, or the run proves less than it says.
    if (minutes >= 10) expect([...done.keys()].sort()).toEqual(nemesis.map(([, what]) => what).sort());
  },
  { limit_s: minutes * 60 + 900, rounds: 1 },
);

function needsHelp({ status, paused_at }: JobRecord): boolean {
  return paused_at !== null || (isTerminal(status) && status !== "completed");
}

async function open(scene: Scene): Promise<number> {
  const [row] = await scene.patiently(
    () =>
      scene.db.sql<{ n: number }>`select count(*) as n from app.jobs where finished_at is null and paused_at is null`,
  );
  return row!.n;
}
