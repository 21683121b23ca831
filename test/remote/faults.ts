// What may happen to a worker over HTTP, and what must hold all the same: nothing lost, nothing done twice that counts, nothing visible that no finish
// has named. The scenarios know nothing of the worker but its command; the handlers it must have are those of worker_main.ts.
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { FileSweep } from "../../src/engine/upkeep/file_sweep.js";
import { createLog } from "../../src/log.js";
import { Zones, zonesBelow } from "../../src/storage/zones.js";
import {
  LEASE_S,
  LONG_LEASE_S,
  type RemoteHouse,
  type RemoteProcess,
  type RemoteScene,
  SENDING_LEASE_S,
  until,
  worker_commands,
} from "./house.js";

type Scenario = (house: RemoteHouse, kind: string) => Promise<void>;

const items = (count: number, more: Record<string, unknown> = {}) =>
  Array.from({ length: count }, (_, n) => ({ n, ...more }));
const sumOf = (count: number) => (count * (count - 1)) / 2;

/** The job is completed, every task of it exactly once, and what was made of them is right. */
async function whole(scene: RemoteScene, job_id: string, count: number): Promise<void> {
  expect(await scene.ended(job_id)).toMatchObject({ status: "completed", result: { sum: sumOf(count), count } });
  const [row] = await scene.house.database.db.sql<{ done: number; others: number }>`
    select count(*) filter (where r.status = 'completed')::integer as done, count(*) filter (where r.status <> 'completed')::integer as others
      from app.results r join app.stages s on s.stage_id = r.stage_id
     where s.tenant_id = ${scene.tenant} and s.job_id = ${job_id}`;
  expect(row).toEqual({ done: count + 1, others: 0 });
}

/** Told to stop, a worker ends well. */
async function leaves(worker: RemoteProcess): Promise<void> {
  const code = await worker.stop();
  expect([code, code === 0 ? "" : worker.said.slice(-20).join("\n")]).toEqual([0, ""]);
}

/** Those that run on their own way, and hold up nobody else. */
export const alone: Record<string, Scenario> = {
  async "kill -9 of a worker in the middle of tasks"(house, kind) {
    const scene = await house.scene("kill");
    const first = scene.worker(kind);
    const job_id = await scene.submit("fault.step", items(24, { ms: 150 }));
    await scene.noted("end", 4);
    await first.kill();
    const second = scene.worker(kind, LONG_LEASE_S);
    await whole(scene, job_id, 24);
    await leaves(second);
    // Only what the dead one had in hand ran again.
    const ends = scene.notes().filter(({ what }) => what === "end");
    expect(ends.length).toBeLessThanOrEqual(24 + 4);
  },

  async "SIGSTOP of a worker past its lease"(house, kind) {
    const scene = await house.scene("stop");
    const first = scene.worker(kind);
    const gate = join(house.dir, `${scene.tenant}.gate`);
    const job_id = await scene.submit("fault.hold", items(4, { gate }));
    const [held] = await scene.noted("start", 4);
    first.signal("SIGSTOP");
    const second = scene.worker(kind, LONG_LEASE_S);
    const tasks = (wanted: string, is_first: boolean) => {
      const found = scene.notes().filter(({ what, pid }) => what === wanted && (pid === held!.pid) === is_first);
      return found.map(({ n }) => n);
    };
    await until("another worker has the tasks", () => new Set(tasks("start", false)).size === 4);
    first.signal("SIGCONT");
    // Thawed, it knows by its own clock that nothing is its own any more.
    await until("the thawed worker has given up", () => new Set(tasks("stopped", true)).size === 4);
    await writeFile(gate, "");
    await whole(scene, job_id, 4);
    // Where the other one was too slow for its lease, it may have been given a task anew; what it had before, it never ends.
    for (let n = 0; n < 4; n++) {
      const count = (what: string) => tasks(what, true).filter((one) => one === n).length;
      expect([n, count("end") < count("start")]).toEqual([n, true]);
    }
    await leaves(first);
    await leaves(second);
  },

  async "the network between worker and server is cut past the lease"(house, kind) {
    const scene = await house.scene("cut");
    const worker = scene.worker(kind);
    const job_id = await scene.submit("fault.step", items(24, { ms: 200 }));
    await scene.noted("end", 4);
    scene.way.cut();
    await until("the worker is declared lost", async () => {
      const [row] = await house.database.db.sql<{ n: number }>`
        select count(*)::integer as n from app.workers where tenant_id = ${scene.tenant} and status = 'lost'`;
      return (row?.n ?? 0) > 0;
    });
    scene.way.heal();
    await whole(scene, job_id, 24);
    await leaves(worker);
  },

  async "a task is cancelled, and another runs into its time-out"(house, kind) {
    const scene = await house.scene("cancel");
    const worker = scene.worker(kind);
    const gate = join(house.dir, `${scene.tenant}.never`);
    const job_id = await scene.submit("fault.hold", items(1, { gate }));
    await scene.noted("start", 1);
    await scene.call("POST", `/api/jobs/${job_id}/cancel`, {});
    await scene.noted("stopped", 1);
    expect(await scene.ended(job_id)).toMatchObject({ status: "cancelled" });
    const late = await scene.submit("fault.hold", items(1, { gate }), { timeout_s: 1, max_attempts: 1 });
    expect(await scene.ended(late)).toMatchObject({ status: "failed" });
    await scene.noted("stopped", 2);
    const { tasks } = await scene.call("GET", `/api/jobs/${late}/tasks?limit=10`);
    expect(tasks[0].error).toMatchObject({ code: "timeout", category: "transient" });
    await leaves(worker);
  },

  async "a handler blocks the loop past the lease"(house, kind) {
    const scene = await house.scene("block");
    const worker = scene.worker(kind);
    const job_id = await scene.submit(
      "fault.block",
      items(1, { ms: (LEASE_S + 2) * 1000, mark: join(house.dir, `${scene.tenant}.mark`) }),
    );
    await whole(scene, job_id, 1);
    // Who beats in a thread of its own keeps its lease; who cannot loses it, says nothing of what it had, and begins anew.
    const kept = worker_commands[kind]!.beats_apart === true;
    if (kept) {
      expect(await registrations(scene)).toBe(1);
      expect(scene.notes().filter(({ what }) => what === "start")).toHaveLength(1);
    }
    await leaves(worker);
  },

  async "kill -9 between the upload and the finish"(house, kind) {
    const scene = await house.scene("upload");
    const first = scene.worker(kind, SENDING_LEASE_S);
    const gate = join(house.dir, `${scene.tenant}.gate`);
    const job_id = await scene.submit("fault.publish", items(1, { gate, bytes: 20_000_000 }));
    const [left] = await scene.noted("uploaded", 1);
    await first.kill();
    const file = join(house.dir, "zones", "silver", `tenant-${scene.tenant}`, left!.key!);
    expect(existsSync(file)).toBe(true);
    const second = scene.worker(kind, LONG_LEASE_S);
    await scene.noted("uploaded", 2);
    expect(await seen(scene)).toEqual([]);
    await writeFile(gate, "");
    await whole(scene, job_id, 1);
    const [, kept] = await scene.noted("uploaded", 2);
    expect(await seen(scene)).toEqual([kept!.key]);
    expect(kept!.key).not.toBe(left!.key);
    const now = () => Date.now() + 25 * 3_600_000;
    const swept = await new FileSweep({
      db: house.database.db,
      zones: new Zones(zonesBelow(join(house.dir, "zones"))),
      log: createLog({ level: "silent" }),
      now,
    }).zone(scene.tenant, "silver");
    expect(swept.found.map(({ key }) => key)).toEqual([left!.key]);
    expect(existsSync(file)).toBe(false);
    expect(await seen(scene)).toEqual([kept!.key]);
    await leaves(second);
  },
};

/** Those of handlers that run in processes of their own: of workers that have such. */
export const of_children: Record<string, Scenario> = {
  async "kill -9 of a handler's process"(house, kind) {
    const scene = await house.scene("child");
    const worker = scene.worker(kind, LONG_LEASE_S);
    const gate = join(house.dir, `${scene.tenant}.never`);
    const job_id = await scene.submit("fault.child", items(4, { how: "wait", gate }));
    const killed = new Set<number>();
    // Each of the four once, however many processes there are at a time.
    await until("four processes are killed", () => {
      for (const { what, attempt, pid } of scene.notes())
        if (what === "start" && attempt === 1 && !killed.has(pid)) {
          process.kill(pid, "SIGKILL");
          killed.add(pid);
        }
      return killed.size === 4;
    });
    await whole(scene, job_id, 4);
    expect(await attempts(scene, job_id)).toEqual(Array(4).fill({ category: "crash", code: "killed" }));
    expect(await registrations(scene)).toBe(1);
    await leaves(worker);
  },

  async "a handler's process uses more memory than it may"(house, kind) {
    const scene = await house.scene("memory");
    const worker = scene.worker(kind, LONG_LEASE_S);
    const job_id = await scene.submit("fault.child", items(4, { how: "memory" }));
    await whole(scene, job_id, 4);
    expect(await attempts(scene, job_id)).toEqual([{ category: "crash", code: "out_of_memory" }]);
    expect(await registrations(scene)).toBe(1);
    await leaves(worker);
  },
};

/** Those that take what all others stand on: workers of all kinds are at work when it happens. */
export const together: Record<string, (house: RemoteHouse, kinds: string[]) => Promise<void>> = {
  async "kill -9 of the server, and another in its place"(house, kinds) {
    await during(house, kinds, "server", async () => {
      await house.killServer();
      await house.startServer();
    });
  },

  async "the database stops as if its machine had lost its power, and comes back"(house, kinds) {
    await during(house, kinds, "database", () => house.cluster.restart("immediate", 500));
  },
};

async function during(house: RemoteHouse, kinds: string[], name: string, fault: () => Promise<void>): Promise<void> {
  const begun = await Promise.all(
    kinds.map(async (kind) => {
      const scene = await house.scene(name);
      const worker = scene.worker(kind);
      const job_id = await scene.submit("fault.step", items(24, { ms: 200 }));
      await scene.noted("end", 4);
      return { scene, worker, job_id };
    }),
  );
  await fault();
  for (const { scene, worker, job_id } of begun) {
    await whole(scene, job_id, 24);
    await leaves(worker);
  }
}

/** Attempts that failed, of the job's first stage. */
async function attempts(scene: RemoteScene, job_id: string): Promise<{ category: string; code: string }[]> {
  return scene.house.database.db.sql`
    select a.category, a.code
      from app.attempts a join app.stages s on s.stage_id = a.stage_id
     where s.tenant_id = ${scene.tenant} and s.job_id = ${job_id} and a.category is not null order by a.ordinal`;
}

/** How often its workers have told the service of themselves. */
async function registrations({ house, tenant }: RemoteScene): Promise<number> {
  const [row] = await house.database.db.sql<{ n: number }>`
    select count(*)::integer as n from app.workers where tenant_id = ${tenant}`;
  return row?.n ?? 0;
}

async function seen({ house, tenant }: RemoteScene): Promise<string[]> {
  const rows = await house.database.db.sql<{ key: string }>`
    select key from app.assets where tenant_id = ${tenant} and retracted_at is null`;
  return rows.map(({ key }) => key);
}
