// A fresh database with an engine and workers on it, all closed when the test ends.
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Handler, Job } from "../../src/core/declare/declare.js";
import { createRegistry } from "../../src/core/declare/registry.js";
import type { Database, Queryable } from "../../src/engine/database/database.js";
import { Engine } from "../../src/engine/engine.js";
import { openEngine } from "../../src/engine/open_engine.js";
import { openFolderStore } from "../../src/storage/folder_store.js";
import type { WorkerOptions } from "../../src/worker/options.js";
import { startWorker, type Worker } from "../../src/worker/worker.js";
import { emptyEmbedded, freshDatabase } from "../postgres.js";

export interface Parts {
  jobs?: readonly Job[];
  handlers?: readonly Handler[];
}

export interface TestShop {
  engine: Engine;
  /** Superuser. */
  db: Database;
  url: string;
  storage_dir: string;
  worker(options?: WorkerOptions): Promise<Worker>;
  /** Another process's engine, as it were. */
  otherEngine(parts: Parts): Promise<Engine>;
}

export async function openShop(parts: Parts): Promise<TestShop> {
  const { db, url, drop } = await freshDatabase();
  onTestFinished(drop);
  const storage_dir = await mkdtemp(join(tmpdir(), "fanfold-test-"));
  // Isolated handlers, who may be another user, look there for files that tests put down for them.
  await chmod(storage_dir, 0o755);
  onTestFinished(() => rm(storage_dir, { recursive: true, force: true }));
  const open = async (given: Parts) => {
    const engine = await openEngine({ database_url: url, registry: createRegistry(given), storage_dir });
    onTestFinished(() => engine.close());
    return engine;
  };
  const engine = await open(parts);
  return { engine, db, url, storage_dir, otherEngine: open, worker: (options) => runWorker(engine, options) };
}

/** On the embedded database, in memory. */
export async function openEmbeddedShop(parts: Parts): Promise<{ engine: Engine; worker: TestShop["worker"] }> {
  const storage_dir = await mkdtemp(join(tmpdir(), "fanfold-test-"));
  onTestFinished(() => rm(storage_dir, { recursive: true, force: true }));
  const embedded = await emptyEmbedded();
  const open = () => embedded.as("fanfold_admin");
  const engine = new Engine({
    db: open(),
    tenant: "default",
    registry: createRegistry(parts),
    store: openFolderStore(storage_dir),
    openConnection: open,
    close: async () => {},
  });
  onTestFinished(() => engine.close());
  return { engine, worker: (options) => runWorker(engine, options) };
}

export async function runWorker(engine: Engine, options?: WorkerOptions): Promise<Worker> {
  const worker = await startWorker(engine, options);
  onTestFinished(() => worker.kill());
  return worker;
}

/** Attempts that did not simply succeed, oldest first. */
export function attemptsOf(
  db: Queryable,
): Promise<{ ordinal: number; attempt: number; outcome: string; code: string | null }[]> {
  return db.sql`select ordinal, attempt, outcome, code from app.attempts order by attempt_id`;
}

/**
 * Waits for a condition the database will meet; the test's own time-out is the limit. The longer it takes, the more seldom it is looked
 * at: most of a busy machine's time would otherwise go into looking.
 */
export async function eventually(holds: () => Promise<boolean> | boolean, at_most_ms = 50): Promise<void> {
  for (let pause_ms = 5; !(await holds()); pause_ms = Math.min(pause_ms * 1.1, at_most_ms)) {
    await new Promise((resolve) => setTimeout(resolve, pause_ms));
  }
}

/** A promise one can keep from outside: how tests hold a handler at a known place. */
export function gate(): { passed: Promise<void>; open(): void } {
  let open!: () => void;
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}
