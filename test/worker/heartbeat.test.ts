import pino from "pino";
import { expect, onTestFinished, test } from "vitest";
import type { WorkerCommands } from "../../src/engine/commands.js";
import { type Database, DatabaseError } from "../../src/engine/database.js";
import { Heartbeat, Lease } from "../../src/worker/heartbeat.js";
import { eventually } from "./shop.js";

test("a worker looks for dead workers, then for jobs past their deadline, whatever came of the first", async () => {
  const calls: string[] = [];
  const refused = (name: string) => () => {
    calls.push(name);
    return Promise.reject(new DatabaseError("57014", "cancelled"));
  };
  const commands = {
    heartbeat: async () => ({ ok: true, lost: [], abort: [] }),
    reap_workers: refused("reap"),
    expire_jobs: refused("expire"),
  } as unknown as WorkerCommands;
  const lease = new Lease(60_000, performance.now(), () => {});
  onTestFinished(() => lease.end());
  const db = {} as Database;
  const heartbeat = new Heartbeat({
    ...{ worker_id: "w", lease_s: 0.03, lease, db, work_db: db, commands, log: pino({ enabled: false }) },
    state: () => ({ running: [], claims: [] }),
    onReply: () => {},
    onStale: () => {},
  });
  await eventually(() => calls.length >= 4);
  await heartbeat.stop();
  expect(calls.slice(0, 4)).toEqual(["reap", "expire", "reap", "expire"]);
});
