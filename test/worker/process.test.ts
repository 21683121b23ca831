import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import type { WorkerOptions } from "../../src/worker/options.js";
import { plainScript } from "../plain_code.js";
import { child_handler, child_job } from "./child.js";
import { attemptsOf, eventually, openShop, type TestShop } from "./shop.js";

interface Child {
  process: ChildProcess;
  lines: string[];
  /** Resolves when it has said a line that starts so. */
  said(start: string): Promise<void>;
  exited: Promise<unknown>;
}

async function startChild(shop: TestShop, options: WorkerOptions, env: Record<string, string> = {}): Promise<Child> {
  const script = plainScript(new URL("./child.ts", import.meta.url));
  const args = [script, shop.url, shop.storage_dir, JSON.stringify(options)];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  const lines: string[] = [];
  createInterface({ input: child.stdout! }).on("line", (line) => lines.push(line));
  const said = (start: string) => eventually(() => lines.some((line) => line.startsWith(start)));
  await said("ready");
  return { process: child, lines, said, exited };
}

const openHere = () => openShop({ jobs: [child_job], handlers: [child_handler] });

test("the tasks of a worker killed with -9 run again, at the cost of a crash and not of an attempt", async () => {
  const shop = await openHere();
  const child = await startChild(shop, { lease_s: 1, slots: 2 });
  const { job_id } = await shop.engine.submit("child_job", { n: 2, ms: 600_000 } as never);
  await child.said("started 1");
  child.process.kill("SIGKILL");
  await child.exited;
  await shop.db.sql`update app.jobs set parameters = parameters || '{"ms": 0}'`;
  await shop.worker({ lease_s: 1 });
  const status = await shop.engine.wait(job_id);
  expect(status).toMatchObject({ status: "completed", stages: [{ completed: 2 }, { completed: 1 }] });
  expect((await attemptsOf(shop.db)).map((row) => [row.outcome, row.attempt])).toEqual([
    ["lost", 1],
    ["lost", 1],
  ]);
  expect(await shop.db.sql`select distinct attempt from app.results`).toEqual([{ attempt: 1 }]);
});

for (const point of ["after-claim", "before-finish", "after-finish-commit"] as const) {
  test(`a worker that dies at ${point} loses nothing and does nothing twice in the database`, async () => {
    const shop = await openHere();
    await shop.db.script(`
      create table public.effects (effect_key text primary key, attempt int);
      grant all on public.effects to public;`);
    const { job_id } = await shop.engine.submit("child_job", { n: 5, mark: true } as never);
    const child = await startChild(shop, {}, { FANFOLD_FAULTS: `${point}:kill9` });
    await child.exited;
    await shop.db.sql`update app.workers set heartbeat_at = now() - interval '1 hour'`;
    await shop.engine.worker_commands.reap_workers(shop.db);
    await shop.worker();
    const status = await shop.engine.wait(job_id);
    expect(status).toMatchObject({ status: "completed", stages: [{ completed: 5, failed: 0 }, { completed: 1 }] });
    const [effects] = await shop.db.sql<{ n: number }>`select count(*)::int as n from public.effects`;
    expect(effects!.n).toBe(6);
    const [events] = await shop.db.sql<{ n: number }>`
      select count(*)::int as n from app.events where kind = 'stage.completed'`;
    expect(events!.n).toBe(2);
  });
}

for (const point of ["before-writes", "after-writes", "after-writes-commit"] as const) {
  test(`what a worker that dies at ${point} was to write with the finish is written once`, async () => {
    const shop = await openHere();
    await shop.db.script(`
      create table public.effects (effect_key text primary key, attempt int);
      grant all on public.effects to public;`);
    const { job_id } = await shop.engine.submit("child_job", { n: 3, kept: true } as never);
    const child = await startChild(shop, {}, { FANFOLD_FAULTS: `${point}:kill9` });
    await child.exited;
    const [before] = await shop.db.sql<{ n: number }>`select count(*)::int as n from public.effects`;
    expect(before!.n).toBe(point === "after-writes-commit" ? 1 : 0);
    await shop.db.sql`update app.workers set heartbeat_at = now() - interval '1 hour'`;
    await shop.engine.worker_commands.reap_workers(shop.db);
    await shop.worker();
    const status = await shop.engine.wait(job_id);
    expect(status).toMatchObject({ status: "completed", stages: [{ completed: 3, failed: 0 }, { completed: 1 }] });
    const [after] = await shop.db.sql<{ n: number }>`select count(*)::int as n from public.effects`;
    expect(after!.n).toBe(4);
  });
}

test("a worker that was frozen for longer than its lease finishes nothing when it wakes", async () => {
  const shop = await openHere();
  const child = await startChild(shop, { lease_s: 1, slots: 1 });
  const { job_id } = await shop.engine.submit("child_job", { n: 1, ms: 300 } as never);
  await child.said("started 0");
  child.process.kill("SIGSTOP");
  await shop.worker({ lease_s: 1 });
  await shop.engine.wait(job_id);
  const finished = await shop.db.sql`select worker_id from app.results order by stage_id, ordinal`;
  child.process.kill("SIGCONT");
  child.process.kill("SIGTERM");
  await child.exited;
  expect(await shop.db.sql`select worker_id from app.results order by stage_id, ordinal`).toEqual(finished);
  expect((await attemptsOf(shop.db))[0]).toMatchObject({ outcome: "lost" });
});

test("SIGTERM lets the running task finish and the process exits with 0", async () => {
  const shop = await openHere();
  const child = await startChild(shop, { slots: 1 });
  const { job_id } = await shop.engine.submit("child_job", { n: 3, ms: 300 } as never);
  await child.said("started 0");
  child.process.kill("SIGTERM");
  expect(await child.exited).toEqual([0, null]);
  expect(child.lines.at(-1)).toBe("stopped gracefully");
  expect(await attemptsOf(shop.db)).toEqual([]);
  const [row] = await shop.db.sql<{ done: number }>`select count(*)::int as done from app.results`;
  expect(row!.done).toBe(1);
  await shop.worker();
  expect(await shop.engine.wait(job_id)).toMatchObject({ status: "completed" });
});

test("a second SIGTERM ends at once and hands the task back", async () => {
  const shop = await openHere();
  const child = await startChild(shop, { slots: 1 });
  await shop.engine.submit("child_job", { n: 1, ms: 2_000_000 } as never);
  await child.said("started 0");
  child.process.kill("SIGTERM");
  await child.said("asked to stop");
  child.process.kill("SIGTERM");
  await child.said("stopped at once");
  const [row] = await shop.db.sql<{ ready: number }>`select coalesce(sum(hi - lo), 0)::int as ready from app.ready`;
  expect(row!.ready).toBe(1);
});
