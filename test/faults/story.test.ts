// The main story, on real processes and a real server, with the program as it ships.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect } from "vitest";
import { build, spawnFanfold } from "../cli/built_program.js";
import type { Effect } from "./effects.js";
import { fault } from "./fault.js";
import { inputName, mosaic_job } from "./mosaic.js";
import { killWorkers } from "./nemesis.js";
import { completedWith, endedAs, type Scene } from "./scene.js";

const is_soak = Boolean(process.env.FANFOLD_TEST_SOAK);
const tiles = is_soak ? 2000 : 600;
const batch = 100;
/** In five batches of the merge; two of these have two. */
const missing = is_soak ? [41, 333, 334, 750, 1204, 1299, 1999] : [41, 133, 134, 250, 304, 399, 599];
const batches = is_soak ? [0, 3, 7, 12, 19] : [0, 1, 2, 3, 5];

beforeAll(build, 60_000);

/** Tile n holds n + 1, and shading doubles it. */
const total = (ordinals: number[]) => ordinals.reduce((sum, ordinal) => sum + 2 * (ordinal + 1), 0);

async function fanfold(scene: Scene, ...argv: string[]): Promise<string> {
  const env = { DATABASE_URL: scene.database.url, FANFOLD_STORAGE_DIR: scene.storage_dir, NO_COLOR: "1" };
  const { code, out, err } = await spawnFanfold(argv, { env }).ended;
  expect({ argv, code, err }).toMatchObject({ argv, code: 0 });
  if (process.env.TELL_STORY) process.stdout.write(`$ fanfold ${argv.join(" ")}\n${out}${err}\n`);
  return out;
}

const ran = (effects: Effect[]) =>
  effects
    .filter(({ what }) => what === "start")
    .map(({ stage, ordinal }) => [stage, ordinal] as const)
    .sort(([a, x], [b, y]) => a.localeCompare(b) || x - y);

fault(`${tiles} tasks, 7 that fail, two kills and a database crash`, async (scene) => {
  const inputs = join(scene.storage_dir, "..", "inputs");
  mkdirSync(inputs);
  const all = Array.from({ length: tiles }, (_, ordinal) => ordinal);
  const good = all.filter((ordinal) => !missing.includes(ordinal));
  for (const ordinal of good) writeFileSync(join(inputs, inputName(ordinal)), String(ordinal + 1));

  const fleet = await scene.fleet();
  const { job_id } = await scene.submitJob(
    mosaic_job,
    { tiles, inputs, ms: is_soak ? 20 : 60 },
    endedAs("partial_success"),
  );
  await scene.progress(0.1 * tiles);
  expect(await killWorkers(scene, fleet, { pause_ms: 0, most: 1 })).toHaveLength(1);
  // Whoever is started while the server is away leaves again, and that would be a death more.
  await fleet.ready();
  await scene.progress(0.35 * tiles);
  await scene.cluster.restart("immediate", 500);
  await scene.progress(0.6 * tiles);
  expect(await killWorkers(scene, fleet, { pause_ms: 0, most: 1 })).toHaveLength(1);
  await scene.settle();
  expect(fleet.deaths.map(({ signal }) => signal)).toEqual(["SIGKILL", "SIGKILL"]);
  expect(scene.cluster.log()).toContain("database system was not properly shut down");

  // Seven of ten that the budget allows: the job goes through without them, and says so.
  const before = await scene.engine.status(job_id);
  expect(before.stages.map(({ name, status }) => [name, status])).toEqual([
    ["tile", "partial_success"],
    ["shade", "completed"],
    ["merge", "completed"],
    ["mosaic", "completed"],
  ]);
  expect(before).toMatchObject({ resumable: true, resume_from_stage: 1, result: { value: total(good) } });
  const [group, ...more] = await scene.engine.operate.errorGroups(job_id);
  expect(more).toEqual([]);
  expect(group).toMatchObject({ code: "input_missing", tasks: missing.length, stages: ["tile"] });
  expect(await scene.engine.operate.verify(job_id)).toMatchObject({ ok: true, problems: [] });

  // The inputs arrive. Exactly the seven run, and downstream exactly what has another input then.
  const executed = scene.effects().length;
  for (const ordinal of missing) writeFileSync(join(inputs, inputName(ordinal)), String(ordinal + 1));
  const short = job_id.slice(0, 12);
  await fanfold(scene, "status", short);
  await fanfold(scene, "errors", short);
  await fanfold(scene, "resume", short, "--dry-run");
  expect(scene.effects()).toHaveLength(executed);
  scene.repairing(job_id, completedWith(total(all)));
  await fanfold(scene, "resume", short, "--reason", "the seven scenes have arrived");
  await scene.settle();
  await fanfold(scene, "status", short);

  const after = scene.effects().slice(executed);
  expect(ran(after)).toEqual([
    ...batches.map((ordinal) => ["merge", ordinal]),
    ["mosaic", 0],
    ...missing.map((ordinal) => ["shade", ordinal]),
    ...missing.map((ordinal) => ["tile", ordinal]),
  ]);
  expect(batches).toEqual([...new Set(missing.map((ordinal) => Math.floor(ordinal / batch)))]);
  expect(await scene.engine.operate.verify(job_id)).toMatchObject({
    ok: true,
    problems: [],
    status: "completed",
    epoch: 2,
  });
  scene.notes.push(
    `${ran(after).length} tasks run again of ${before.stages.reduce((sum, stage) => sum + stage.total!, 0)}`,
  );
});
