// Two tenants in one house, one of them hostile in every way we know of. What the other feels of it is measured: how long its jobs take
// from the submit to the end, alone and beside each attack; what it is answered; what Postgres's memory comes to; whether it crashed.
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { openServer } from "../../src/engine/database/server_database.js";
import { bombs } from "../nemesis/faults.js";
import { House } from "../nemesis/house.js";
import { type Answer, call } from "../nemesis/truth.js";

/** Seconds of each attack. */
const seconds = Number(process.env.HOSTILE_S || 20);
const say = (line: string) => process.stdout.write(`${line}\n`);

type Attack = (house: House, over: () => boolean) => Promise<unknown>;

/** So many callers at once, each again and again. */
const flood =
  (callers: number, act: (house: House, n: number) => Promise<unknown>): Attack =>
  (house, over) =>
    Promise.all(
      Array.from({ length: callers }, async (_, caller) => {
        for (let n = caller; !over(); n += callers) await act(house, n).catch(() => sleep(50));
      }),
    );

const evil = (house: House, method: string, path: string, body?: unknown) =>
  call(`${house.url}/api${path}`, house.keys.evil, method, body);
const x = Array.from({ length: 3_000 }, (_, i) => i);

/** A transaction that is left open, with whatever locks its verbs took. */
async function heldOpen(house: House, statements: string[], over: () => boolean): Promise<void> {
  const login = openServer(house.evil_url);
  try {
    await login.transaction(async (tx) => {
      for (const statement of statements) await tx.script(statement);
      while (!over()) await sleep(100);
    });
  } catch {
    // The house may end it: that is its right.
  } finally {
    await login.close();
  }
}

const attacks: Record<string, Attack> = {
  "bombs in blueprints": flood(4, async (house, n) => {
    const bomb = bombs(6)[n % 3];
    await evil(house, "PUT", `/blueprints/bomb_${n % 7}`, bomb);
    await evil(house, "POST", `/jobs/submit/bomb_${n % 7}`, { parameters: { x, n }, mode: "force" });
  }),
  "plans that grow": flood(4, async (house, n) => {
    const plan = { each: "$.x[*]", parameters: { all: "{parameters}" } };
    await evil(house, "PUT", "/blueprints/grows", { stages: [{ name: "a", task: "nemesis.sum", tasks: plan }] });
    await evil(house, "POST", "/jobs/submit/grows", {
      parameters: { x: x.slice(0, 300), pad: "y".repeat(200_000), n },
    });
  }),
  "large submits": flood(16, (house, n) =>
    evil(house, "POST", "/jobs/submit/ledger", {
      parameters: { name: `evil ${n}`, n: 1, ms: 1, pad: "z".repeat(200_000) },
    }),
  ),
  "wide jobs": flood(2, (house, n) =>
    evil(house, "POST", "/jobs/submit/ledger", { parameters: { name: `wide ${n}`, n: 3_000, ms: 150 } }),
  ),
  "the same submit from everybody": flood(64, (house) =>
    evil(house, "POST", "/jobs/submit/ledger", { parameters: { name: "the same", n: 1, ms: 1 } }),
  ),
  "streams opened and left": flood(16, async (house) => {
    const signal = AbortSignal.timeout(300);
    const response = await fetch(`${house.url}/api/stream`, {
      headers: { authorization: `Bearer ${house.keys.evil}` },
      signal,
    });
    await response.text();
  }),
  "lists and searches": flood(16, (house, n) =>
    evil(house, "GET", `/jobs?limit=200&q=${encodeURIComponent(`nothing ${n}`)}`),
  ),
  "claims of many workers": flood(8, async (house, n) => {
    const worker_id = crypto.randomUUID();
    const registered = { worker_id, types: ["nemesis.item"], slots: 100, lease_s: 5, name: `evil ${n}` };
    await evil(house, "POST", "/workers", registered);
    await evil(house, "POST", `/workers/${worker_id}/claim`, { limit: 500, wait_s: 1 });
  }),
  "a login that holds its job": async (house, over) => {
    const blueprint = `{"type": "held", "stages": [{"name": "s", "task": "nemesis.sum"}]}`;
    await Promise.all(
      ["pause", "cancel"].map((verb) => {
        const job = `select app.submit('${blueprint}', '{"for": "${verb}"}', options => '{"deadline_s": 1}') ->> 'job_id'`;
        return heldOpen(house, [`select app.${verb}_job((${job}))`], over);
      }),
    );
  },
  "a login that holds keys and types": (house, over) =>
    heldOpen(
      house,
      [
        "select app.enqueue('nemesis.sum', '{}', idempotency_key => 'mine')",
        "select app.pause_type('nemesis.item')",
        "select pg_advisory_xact_lock(n) from generate_series(1, 2000) n",
      ],
      over,
    ),
  "webhooks to a receiver that never answers": async (house, over) => {
    const hole = createServer(() => {});
    await new Promise<void>((resolve) => hole.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(hole.address() as AddressInfo).port}/`;
    await flood(4, (_, n) =>
      evil(house, "POST", "/jobs/submit/ledger", {
        parameters: { name: `told ${n}`, n: 1, ms: 1 },
        webhooks: [{ url, secret: "secret://none" }],
      }),
    )(house, over);
    hole.closeAllConnections();
    hole.close();
  },
};

interface Felt {
  p50: number;
  p95: number;
  jobs: number;
  broken: Answer[];
  memory_mb: number;
}

/** What the good tenant feels while something goes on. */
async function felt(house: House, word: string, over: () => boolean): Promise<Felt> {
  const lasted: number[] = [];
  const broken: Answer[] = [];
  let memory_mb = 0;
  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await call(`${house.url}/api${path}`, house.keys.good, method, body);
    if (answer.status >= 500) broken.push(answer);
    return answer;
  };
  for (let n = 0; !over(); n++) {
    const began = performance.now();
    const { body } = await ask("POST", "/jobs/submit/ledger", {
      parameters: { name: `${word} ${n}`, n: 8, ms: 150 },
    });
    while ((await ask("GET", `/jobs/${body?.job_id}`)).body?.status !== "completed") await sleep(20);
    lasted.push(performance.now() - began);
    memory_mb = Math.max(memory_mb, serverMemory(house));
    await sleep(150);
  }
  lasted.sort((a, b) => a - b);
  const at = (share: number) =>
    Math.round(lasted[Math.min(lasted.length - 1, Math.floor(lasted.length * share))] ?? Number.NaN);
  return { p50: at(0.5), p95: at(0.95), jobs: lasted.length, broken, memory_mb };
}

/** Each attack is felt alone: what the one before has left in the queue is taken away, and those who wait are let go. */
async function swept(house: House): Promise<void> {
  const { db } = house.database;
  await db.sql`select app.continue_type('nemesis.item', tenant => 'evil')`;
  for (;;) {
    const open = await db.sql<{ job_id: string }>`
      select job_id from app.jobs where tenant_id = 'evil' and finished_at is null limit 200`;
    if (open.length === 0) return;
    for (const { job_id } of open) await db.sql`select app.cancel_job(${job_id}, tenant => 'evil')`.catch(() => {});
  }
}

/** What the server's processes have for themselves, without what they share. */
function serverMemory(house: House): number {
  let kb = 0;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      if (!readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(house.database.name)) continue;
      if (!readFileSync(`/proc/${pid}/comm`, "utf8").startsWith("postgres")) continue;
      kb += Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
    } catch {
      // It ended while it was looked at.
    }
  }
  return Math.round(kb / 1024);
}

test("what one tenant does in any way is hardly felt by another", { timeout: 1_800_000 }, async () => {
  const dir = await mkdtemp(join(tmpdir(), "fanfold-hostile-"));
  const house = await House.open(dir, 9);
  try {
    await house.serves();
    const during = async (word: string, attack: Attack): Promise<Felt> => {
      const until = performance.now() + seconds * 1_000;
      const over = () => performance.now() > until;
      const [result] = await Promise.all([felt(house, word, over), attack(house, over)]);
      await swept(house);
      say(
        `hostile: ${word}: p50 ${result.p50} ms, p95 ${result.p95} ms of ${result.jobs} jobs, ${result.broken.length} × 5xx, backends ${result.memory_mb} MB`,
      );
      return result;
    };
    const nothing: Attack = async () => {};
    await during("warming up", nothing);
    const alone = await during("alone", nothing);
    const starts = house.cluster.startCount();
    const results: Record<string, Felt> = {};
    for (const [word, attack] of Object.entries(attacks).filter(([name]) =>
      name.includes(process.env.HOSTILE_ONLY ?? ""),
    ))
      results[word] = await during(word, attack);
    expect(house.cluster.startCount()).toBe(starts);
    for (const [word, { broken, p95, memory_mb }] of Object.entries(results)) {
      expect([word, broken]).toEqual([word, []]);
      expect(memory_mb, word).toBeLessThan(1_024);
      expect(p95, `${word}: p95 beside it, against ${alone.p95} ms alone`).toBeLessThanOrEqual(2 * alone.p95);
    }
  } finally {
    await house.close();
    await rm(dir, { recursive: true, force: true });
  }
});
