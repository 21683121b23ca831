// Two tenants in one house, one of them hostile in every way we know of. What the other feels of it is measured: how long its jobs take
// from the submit to the end, alone and beside each attack; what it is answered; what Postgres's memory comes to; whether it crashed.
// Looks at it alone and beside the attack take turns until both have seen so many jobs: a 95th percentile of a dozen is the worst one of them,
// and what else goes on on the machine is in both. HOSTILE_S: seconds of each look; HOSTILE_JOBS: how many jobs; HOSTILE_ONLY: words of the
// attacks that are wanted, with commas between them.
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { House } from "../nemesis/house.js";
import { type Answer, call } from "../nemesis/truth.js";
import { plainScript } from "../plain_code.js";
import { attacks, type Target } from "./attacks.js";

const seconds = Number(process.env.HOSTILE_S || 10);
const jobs = Number(process.env.HOSTILE_JOBS || 100);
/** Beside an attack that lets next to nothing pass the number is never reached, and what was seen is bad enough. */
const most_rounds = 30;
const wanted = (process.env.HOSTILE_ONLY ?? "").split(",");
const say = (line: string) => process.stdout.write(`${line}\n`);

const attacker = plainScript(new URL("./attacker.ts", import.meta.url));

/** What came of a tenant's jobs while something went on. */
class Felt {
  readonly lasted: number[] = [];
  readonly parts = { submit: 0, start: 0, work: 0, seen: 0 };
  readonly broken: Answer[] = [];
  memory_mb = 0;
  cpu = { postgres: 0, server: 0, workers: 0, wall: 0 };

  private at(share: number): number {
    const sorted = [...this.lasted].sort((a, b) => a - b);
    return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN);
  }

  get p50(): number {
    return this.at(0.5);
  }

  get p95(): number {
    return this.at(0.95);
  }

  add(more: Felt): void {
    this.lasted.push(...more.lasted);
    this.broken.push(...more.broken);
    this.memory_mb = Math.max(this.memory_mb, more.memory_mb);
    for (const part of ["submit", "start", "work", "seen"] as const) this.parts[part] += more.parts[part];
    for (const part of ["postgres", "server", "workers", "wall"] as const) this.cpu[part] += more.cpu[part];
  }

  toString(): string {
    const { p50, p95, lasted, broken, memory_mb, parts, cpu } = this;
    const mean = (ms: number) => Math.round(ms / lasted.length);
    const share = (s: number) => `${Math.round((100 * s) / cpu.wall)} %`;
    return [
      `p50 ${p50} ms, p95 ${p95} ms of ${lasted.length} jobs`,
      `on average ${mean(parts.submit)} ms of submit, ${mean(parts.start)} to the start, ${mean(parts.work)} of work, ${mean(parts.seen)} until seen`,
      `processors: Postgres ${share(cpu.postgres)}, server ${share(cpu.server)}, workers ${share(cpu.workers)}`,
      `${broken.length} × 5xx, backends ${memory_mb} MB`,
    ].join("; ");
  }
}

async function felt(house: House, word: string, over: () => boolean): Promise<Felt> {
  const result = new Felt();
  const before = processorSeconds(house);
  const began = performance.now();
  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await call(`${house.url}/api${path}`, house.keys.good, method, body);
    if (answer.status >= 500) result.broken.push(answer);
    return answer;
  };
  for (let n = 0; !over(); n++) {
    const began = performance.now();
    const { body, ms } = await ask("POST", "/jobs/submit/ledger", {
      parameters: { name: `${word} ${n} ${began}`, n: 8, ms: 150 },
    });
    const job = `/jobs/${body?.job_id}`;
    let seen = await ask("GET", job);
    for (; seen.body?.status !== "completed"; seen = await ask("GET", job)) await sleep(20);
    const all_ms = performance.now() - began;
    const [created, started, finished] = [seen.body.created_at, seen.body.started_at, seen.body.finished_at].map(
      Date.parse,
    );
    result.lasted.push(all_ms);
    result.parts.submit += ms;
    result.parts.start += started! - created!;
    result.parts.work += finished! - started!;
    result.parts.seen += all_ms - ms - (finished! - created!);
    result.memory_mb = Math.max(result.memory_mb, serverMemory(house));
    await sleep(150);
  }
  const { postgres, server, workers } = processorSeconds(house);
  const wall = (performance.now() - began) / 1_000;
  result.cpu = {
    postgres: postgres - before.postgres,
    server: server - before.server,
    workers: workers - before.workers,
    wall,
  };
  return result;
}

/** Each attack is felt alone: what the one before has left in the queue is taken away, and those who wait are let go. */
async function swept(house: House): Promise<void> {
  const { db } = house.database;
  await db.sql`select app.continue_type('nemesis.item', tenant => 'evil')`;
  await db.sql`delete from app.schedules where tenant_id = 'evil'`;
  await db.sql`delete from app.ready r using app.stages s where s.stage_id = r.stage_id and r.tenant_id = 'evil' and s.job_id is null`;
  for (;;) {
    const open = await db.sql<{ job_id: string }>`
      select job_id from app.jobs where tenant_id = 'evil' and finished_at is null limit 200`;
    if (open.length === 0) return;
    for (const { job_id } of open) await db.sql`select app.cancel_job(${job_id}, tenant => 'evil')`.catch(() => {});
  }
}

/** The processes of the database's server, with the names they go by now. Of those that have ended its first one knows. */
function backends({ cluster }: House): { pid: string; name: string }[] {
  const found: { pid: string; name: string }[] = [];
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const parent = /PPid:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
      if (Number(parent) === cluster.pid) found.push({ pid, name: readFileSync(`/proc/${pid}/cmdline`, "utf8") });
    } catch {
      // It ended while it was looked at.
    }
  }
  return found;
}

/** What the server's processes have for themselves, without what they share. */
function serverMemory(house: House): number {
  let kb = 0;
  for (const { pid, name } of backends(house)) {
    if (!name.includes(house.database.name)) continue;
    try {
      kb += Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
    } catch {
      // As above.
    }
  }
  return Math.round(kb / 1024);
}

function processorSeconds(house: House): { postgres: number; server: number; workers: number } {
  const of = (pids: (number | string | undefined)[]) =>
    pids.reduce<number>((sum, pid) => {
      try {
        // After the name, which may hold spaces: the times are the 14th to 17th of all, the latter two of children that have ended.
        const times = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ").slice(11, 15);
        return times.reduce((ticks, time) => ticks + Number(time), 0) / 100 + sum;
      } catch {
        return sum;
      }
    }, 0);
  const { server, workers } = house;
  return {
    postgres: of([house.cluster.pid, ...backends(house).map(({ pid }) => pid)]),
    server: of([server.now.child.pid]),
    workers: of(workers.map(({ now }) => now.child.pid)),
  };
}

/** Takes every call and answers none. */
async function openHole(): Promise<{ port: number; close(): void }> {
  const hole = createServer(() => {});
  await new Promise<void>((resolve) => hole.listen(0, "127.0.0.1", resolve));
  const close = () => {
    hole.closeAllConnections();
    hole.close();
  };
  return { port: (hole.address() as AddressInfo).port, close };
}

/** Attacks from a process of its own for as long as somebody looks; and what it was told. */
async function attacked<Seen>(name: string, target: Target, look: () => Promise<Seen>): Promise<[Seen, string]> {
  const argv = [attacker, name, JSON.stringify(target)];
  const child = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "inherit"] });
  let told = "";
  child.stdout.setEncoding("utf8").on("data", (text) => (told += text));
  const ended = new Promise((resolve) => child.once("close", resolve));
  await new Promise((resolve) => child.stdout.once("data", resolve));
  const seen = await look();
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), 5_000);
  await ended;
  clearTimeout(timer);
  return [seen, told.trim()];
}

test("what one tenant does in any way is hardly felt by another", { timeout: 7_200_000 }, async () => {
  const dir = await mkdtemp(join(tmpdir(), "fanfold-hostile-"));
  const hole = await openHole();
  const house = await House.open(dir, hole.port, { catalog: true });
  try {
    await house.serves();
    const look = (word: string) => {
      const until = performance.now() + seconds * 1_000;
      return felt(house, word, () => performance.now() > until);
    };
    const target: Target = {
      url: house.url,
      key: house.keys.evil,
      login_url: house.evil_url,
      hole: `http://127.0.0.1:${hole.port}`,
    };
    await look("warming up");
    const starts = house.cluster.startCount();
    const results: { name: string; alone: Felt; beside: Felt }[] = [];
    for (const name of Object.keys(attacks).filter((one) => wanted.some((word) => one.includes(word)))) {
      const [alone, beside] = [new Felt(), new Felt()];
      let told = "";
      const enough = () => Math.min(alone.lasted.length, beside.lasted.length) >= jobs;
      for (let round = 0; round < most_rounds && !enough(); round++) {
        alone.add(await look("alone"));
        const [seen, words] = await attacked(name, target, () => look(name));
        told = words;
        beside.add(seen);
        await swept(house);
      }
      results.push({ name, alone, beside });
      say(`hostile: ${name}: ${(beside.p95 / alone.p95).toFixed(2)} (p50 ${(beside.p50 / alone.p50).toFixed(2)})`);
      say(`  alone  ${alone}\n  beside ${beside}\n  told   ${told}`);
    }
    expect(house.cluster.startCount()).toBe(starts);
    for (const { name, alone, beside } of results) {
      expect([name, beside.broken]).toEqual([name, []]);
      expect(beside.memory_mb, name).toBeLessThan(1_024);
      expect(beside.p95, `${name}: p95 beside it, against ${alone.p95} ms alone`).toBeLessThanOrEqual(2 * alone.p95);
    }
  } finally {
    hole.close();
    await house.close();
    await rm(dir, { recursive: true, force: true });
  }
});
