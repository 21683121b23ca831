// F60: a house of real processes, attacked two faults at a time for 20 minutes (FANFOLD_TEST_SOAK_MINUTES), and judged from outside:
// callers write down what they were promised, handlers what they did, a receiver what it was told. Then peace, and everything that was
// promised must be there, exactly once in the sums, through HTTP, webhooks and the command line. The seed is printed.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { seededRandom } from "../faults/scene.js";
import { nemeses } from "./faults.js";
import { House } from "./house.js";
import { call, patience_ms, Truth } from "./truth.js";

const minutes = Number(process.env.FANFOLD_TEST_SOAK_MINUTES || 20);
const seed = process.env.FANFOLD_TEST_SEED ?? String(Math.floor(Math.random() * 2 ** 31));
const say = (line: string) => process.stdout.write(`${line}\n`);
const CALLERS = 4;

/** What does not come in peace is stuck, and is told. */
async function inPeace(left: () => Promise<string[]> | string[]): Promise<void> {
  for (const until = Date.now() + 5 * 60_000; ; await sleep(500)) {
    const open = await left();
    if (open.length === 0) return;
    if (Date.now() > until) throw new Error(`${open.length} are stuck: ${open.slice(0, 5).join("; ")}`);
  }
}

test("whatever happens two at a time, what was promised is there in the end", {
  timeout: (minutes + 30) * 60_000,
}, async () => {
  say(`nemesis: seed ${seed} (repeat with FANFOLD_TEST_SEED=${seed})`);
  const random = seededRandom(seed);
  const chance = {
    pick: <T>(among: readonly T[]): T => among[Math.floor(random() * among.length)]!,
    ms: (least: number, most: number) => least + random() * (most - least),
  };
  const dir = await mkdtemp(join(tmpdir(), "fanfold-nemesis-"));
  const truth = new Truth(dir);
  const receiver = await truth.receiver();
  const house = await House.open(dir, receiver.port);
  try {
    const { url, keys } = house;
    await house.serves();
    const hook = await call(`${url}/api/webhooks`, keys.good, "POST", {
      url: `http://127.0.0.1:${receiver.port}/`,
      events: ["job.completed", "job.failed"],
    });
    expect([hook.status, hook.body]).toEqual([201, expect.anything()]);

    say("nemesis: the house stands");
    const until = performance.now() + minutes * 60_000;
    const over = () => performance.now() > until;
    const callers = Array.from({ length: CALLERS }, async (_, caller) => {
      for (let n = 0; !over(); n++) {
        const [width, ms] = [Math.floor(chance.ms(1, 400)), Math.floor(chance.ms(1, 40))];
        await truth.submit(url, keys.good, `job ${caller}-${n}`, width, ms, over);
        await truth.ask(() => call(`${url}/api/jobs?limit=5`, keys.good, "GET"));
        // As many as can be worked off.
        await sleep(chance.ms(200, 1_500));
      }
    });

    const done = new Map<string, number>();
    const attack = async () => {
      const what = chance.pick(Object.keys(nemeses));
      const began = performance.now();
      await nemeses[what]!(house, chance);
      say(`nemesis: ${what}, ${Math.round(performance.now() - began)} ms`);
      done.set(what, (done.get(what) ?? 0) + 1);
    };
    while (!over()) {
      await Promise.all([attack(), attack()]);
      await sleep(chance.ms(0, 3_000));
    }
    await Promise.all(callers);
    const silent = truth.hung.length;
    say(`nemesis: ${truth.promised.length} jobs were promised; peace`);

    // Peace. Whatever the faults did to jobs that were under way heals by itself; nobody resumes anything.
    const states = new Map<string, string>();
    await inPeace(async () => {
      for (const { job_id } of truth.promised) {
        if (states.get(job_id) === "completed") continue;
        const answer = await truth.ask(() => call(`${url}/api/jobs/${job_id}`, keys.good, "GET"));
        if (answer?.status === 200) states.set(job_id, answer.body.status);
      }
      return truth.promised
        .filter(({ job_id }) => ["queued", "processing", undefined].includes(states.get(job_id)))
        .map(({ name, job_id }) => `${name} ${job_id} ${states.get(job_id)}`);
    });
    const odd = truth.promised.filter(({ job_id }) => states.get(job_id) !== "completed");
    for (const { job_id } of odd.slice(0, 3)) say((await house.fanfold("why", job_id)).out);
    expect(odd.map(({ job_id, name }) => [name, job_id, states.get(job_id)])).toEqual([]);

    // Sums: an item that counted twice, or not at all, would show.
    const effects = truth.effects();
    let runs = 0;
    for (const { job_id, name, n } of truth.promised) {
      const { body } = await call(`${url}/api/jobs/${job_id}`, keys.good, "GET");
      expect([name, body.result]).toEqual([name, { total: (n * (n + 1)) / 2 }]);
      for (let i = 0; i < n; i++) {
        const times = effects.get(`${name} ${i}`) ?? 0;
        if (times === 0) throw new Error(`${name} ${i} completed, and no handler ever did it`);
        runs += times;
      }
    }
    // Every end was told, whatever the receiver answered at first.
    await inPeace(() =>
      truth.promised.filter(({ job_id }) => !truth.told.has(job_id)).map(({ job_id }) => `webhook of ${job_id}`),
    );
    for (const { job_id } of truth.promised.filter((_, i) => i % 10 === 0)) {
      const { code, out } = await house.fanfold("verify", job_id);
      expect([job_id, code, out]).toEqual([job_id, 0, expect.anything()]);
    }

    const items = truth.promised.reduce((sum, { n }) => sum + n, 0);
    const deaths = house.processes.map(({ name, deaths: times }) => `${name} ${times}`).join(", ");
    say(
      `nemesis: ${truth.promised.length} jobs, ${items} items, ${runs} runs of them; ${truth.answered} calls answered, slowest ${Math.round(truth.slowest_ms)} ms; deaths: ${deaths}`,
    );
    for (const [what, count] of done) say(`nemesis: ${count} × ${what}`);
    expect(truth.broken).toEqual([]);
    // A frozen server answers nobody; no fault freezes it for as long as a caller's patience.
    expect(silent, `calls that got no answer within ${patience_ms} ms`).toBe(0);
    if (minutes >= 10) expect([...done.keys()].sort()).toEqual(Object.keys(nemeses).sort());
  } finally {
    receiver.server.close();
    await house.close();
    await rm(dir, { recursive: true, force: true });
  }
});
