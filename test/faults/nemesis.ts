// Who does the killing, and does not kill too much: a task held through three crashes is failed, by design, and a worker that
// a busy machine keeps from sending heartbeats counts as one. A nemesis that means to prove that work survives therefore
// spares a worker that holds what was lost before.
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "../worker/shop.js";
import type { Scene } from "./scene.js";
import type { Fleet, WorkerProcess } from "./worker_process.js";

/** Kills a random member every so often, until there have been `most` kills or the jobs have ended. */
export async function killWorkers(
  scene: Scene,
  fleet: Fleet,
  {
    pause_ms,
    most,
    settled = () => scene.settled(),
  }: { pause_ms: number; most: number; settled?: () => Promise<boolean> },
): Promise<number[]> {
  const killed: number[] = [];
  while (killed.length < most && !(await settled())) {
    const { working } = fleet;
    const victim = working[Math.floor(scene.random() * working.length)];
    if (victim !== undefined && (await killUnlessBurdened(scene, victim))) killed.push(victim.pid);
    await sleep(pause_ms);
  }
  return killed;
}

/** Frozen first: what it holds can then be looked at without it changing in between. */
async function killUnlessBurdened(scene: Scene, victim: WorkerProcess): Promise<boolean> {
  const { db } = scene;
  victim.freeze();
  // What it had sent before it froze may still be under way. (A session that waits for its client has not got all of it, and
  // will not as long as that is frozen.)
  const [moment] = await db.sql<{ at: string }>`select clock_timestamp()::text as at`;
  await eventually(async () => {
    const busy = await db.sql`
      select from pg_stat_activity
       where application_name = 'fanfold work' and state = 'active' and wait_event_type is distinct from 'Client'
         and query_start < ${moment!.at}::text::timestamptz`;
    return busy.length === 0;
  });
  const burden = await db.sql`
    select from app.claims join app.workers using (worker_id) where crashes >= 1 and pid = ${victim.pid}::integer`;
  if (burden.length > 0) {
    victim.thaw();
    return false;
  }
  await victim.kill();
  return true;
}
