// The fault harness. A fault is a sentence from the matrix and a function that makes it happen:
//
//   fault("F1 kill -9 of a worker in the middle of tasks", async (scene) => {
//     const fleet = await scene.fleet();              3 worker processes, 4 slots each, lease 3 s; the dead are replaced
//     await scene.submit({ ms: 20 });                 the 200-task, 4-stage job of job.ts; parameters say how it behaves
//     await scene.progress(40);                       wait for conditions, never for time
//     await fleet.working[0]!.kill();                 the fault
//   });                                               what must hold is then checked, always the same way:
//
// every submitted job completes with the right total, unattended; nobody died who was not killed; workers leave when asked;
// and the history checker (history.ts) finds nothing wrong between what handlers did and what the database says. A fault
// adds only what is particular to it: after `await scene.settle()` the jobs have ended and the database can be asked.
//
// scene.db        superuser, straight to the server       scene.engine   a submitter's engine (scene.connect: another one)
// scene.proxy()   a TCP proxy that drops, stalls and cuts; hand it to scene.fleet / scene.worker / scene.connect as `via`
// scene.cluster   the file's own Postgres server: stop, restart, kill a backend, read the log
// scene.client()  a submitter or an operator as a process of its own
// scene.random    seeded: FANFOLD_TEST_SEED repeats a run   scene.gate()  a file that tasks can be held at (`hold`)
//
// Each fault runs once as a test and 20 times in the soak run (npm run test:soak; FANFOLD_TEST_SOAK says how often). A new
// file of faults needs a .soak.ts beside it, one import long. A server of its own per file; a fresh
// database per run. Files run two at a time, so put a fault into the file it shares a subject with.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Cluster, startCluster } from "./cluster.js";
import { checkHistory, type Verdict } from "./history.js";
import { readHistory } from "./read_history.js";
import { Scene } from "./scene.js";

export type FaultBody = (scene: Scene) => Promise<void>;

/** All faults of the files that were loaded, by name. */
export const faults = new Map<string, FaultBody>();

const repeats = Number(process.env.FANFOLD_TEST_SOAK || 1);
/** No fault takes half as long; what hangs is told with its story before the runner gives up. */
const usual_limit_s = 90;
/** The soak run takes hours, in which the machine may have other things to do: slow is not stuck. */
const patience = repeats > 1 ? 4 : 1;
const seed = Number(process.env.FANFOLD_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));

let cluster: Cluster;
/** For a file whose server needs something in its environment from the start. */
let server_env: Record<string, string> | undefined;

/** Once for each file of faults. */
let declared = false;

function declareCluster(): void {
  if (declared) return;
  declared = true;
  beforeAll(async () => {
    say(`seed ${seed} (repeat with FANFOLD_TEST_SEED=${seed})`);
    cluster = await startCluster(server_env);
  });
  afterAll(async () => {
    declared = false;
    server_env = undefined;
    await cluster?.close();
  });
}

export function serverEnvironment(env: Record<string, string>): void {
  server_env = env;
}

export interface FaultOptions {
  /** For a fault that takes longer than others do. */
  limit_s?: number;
  /** How often in a row; once as a test, and as often as the soak run says. */
  rounds?: number;
}

export function fault(
  name: string,
  body: FaultBody,
  { limit_s = usual_limit_s, rounds = repeats }: FaultOptions = {},
): void {
  if (faults.has(name)) throw new Error(`there is a fault "${name}" already`);
  faults.set(name, body);
  declareCluster();
  const patient_s = limit_s * patience;
  test(name, { timeout: (patient_s + 30) * 1000 * rounds }, async () => {
    const all: Verdict["counts"][] = [];
    for (let round = 1; round <= rounds; round++)
      all.push(await once(name, body, { round, rounds, limit_s: patient_s }));
    if (rounds > 1) say(`${name}: ${rounds} rounds, together ${inWords(sumOf(all))}`);
  });
}

interface Turn extends Required<FaultOptions> {
  round: number;
}

async function once(name: string, body: FaultBody, { round, rounds, limit_s }: Turn): Promise<Verdict["counts"]> {
  const began = performance.now();
  const scene = await Scene.open(cluster, `${seed} ${name} ${round}`);
  try {
    await inTime(
      (async () => {
        await body(scene);
        await scene.settle();
        await scene.leave();
      })(),
      limit_s,
    );
    const { problems, counts } = checkHistory(await readHistory(scene.source));
    expect(problems).toEqual([]);
    expect(scene.unasked_deaths, "workers died unasked").toEqual([]);
    const notes = scene.notes.length === 0 ? "" : `; ${scene.notes.join(", ")}`;
    const took = ((performance.now() - began) / 1000).toFixed(1);
    say(`${name.split(" ")[0]}${rounds > 1 ? ` ${round}/${rounds}` : ""} in ${took} s: ${inWords(counts)}${notes}`);
    return counts;
  } catch (error) {
    say(`${name}, round ${round}, seed ${seed}, failed.\n${scene.story()}`);
    throw error;
  } finally {
    await scene.close();
  }
}

async function inTime(work: Promise<void>, limit_s: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not over after ${limit_s} s`)), limit_s * 1000);
  });
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}

function sumOf(all: Verdict["counts"][]): Verdict["counts"] {
  const sum = { ...all[0]! };
  for (const counts of all.slice(1)) {
    for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += counts[key];
  }
  return sum;
}

function inWords(counts: Verdict["counts"]): string {
  return Object.entries(counts)
    .map(([what, count]) => `${count} ${what}`)
    .join(", ");
}

function say(text: string): void {
  process.stdout.write(`[faults] ${text}\n`);
}
