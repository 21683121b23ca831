// A worker as an OS process, started by worker_process.ts. Its log goes to stderr, one JSON object per line; what the
// test waits for goes to stdout.
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import pino from "pino";
import { createRegistry } from "../../src/core/declare/registry.js";
import { patienceFor } from "../../src/engine/database/await_database.js";
import { openEngine } from "../../src/engine/open_engine.js";
import { armFault } from "../../src/fault.js";
import { builtinRegistry } from "../../src/jobs/index.js";
import type { WorkerOptions } from "../../src/worker/options.js";
import { stopOnSignals } from "../../src/worker/signals.js";
import { startWorker } from "../../src/worker/worker.js";
import { faultRegistry } from "./cast.js";
import { openEffects } from "./effects.js";

export interface WorkerTask {
  name: string;
  database_url: string;
  storage_dir: string;
  effects_dir: string;
  /** The jobs that come with Fanfold instead of those of the faults. */
  registry?: "builtin";
  options: WorkerOptions;
  /** Waits at this fault point until the file is there. */
  pause?: { at: string; until: string };
}

const task = JSON.parse(process.argv[2]!) as WorkerTask;
const say = (line: string) => process.stdout.write(`${line}\n`);

const log = pino({ base: { process: task.name } }, pino.destination({ fd: 2, sync: true }));
const effects = openEffects(task.effects_dir, task.name);
const registry = task.registry === "builtin" ? createRegistry(builtinRegistry()) : faultRegistry(effects.record);
const { database_url, storage_dir, pause } = task;
// Isolated handlers keep an effect log too, each process its own.
const isolation_env = { FAULT_EFFECTS: task.effects_dir, FAULT_PROCESS: task.name };
const options = { isolation_env, ...task.options };
if (pause !== undefined) {
  armFault(pause.at, async () => {
    say(`paused ${pause.at}`);
    while (!existsSync(pause.until)) await sleep(20);
  });
}
// As `fanfold up` does. After a restart of the server PgBouncer turns everybody away for up to 15 s.
const patience = patienceFor({ seconds: 30, tell: (why) => log.info({ why }, "the database is waited for") });
const engine = await openEngine({ database_url, storage_dir, registry, log, patience });
// What the database has confirmed is noted before the worker itself learns of it.
const { finish } = engine.worker_commands;
engine.worker_commands.finish = async (db, request) => {
  const reply = await finish(db, request);
  effects.acknowledged(request, reply);
  return reply;
};
const worker = await patience(() => startWorker(engine, { isolation_user: "same", ...options }));
const watch = stopOnSignals(worker);
say(`ready ${process.pid} ${Date.now()}`);
const how = await watch.stopped;
say(`stats ${JSON.stringify(worker.stats())}`);
say(`stopped ${how}`);
watch.dispose();
await engine.close();
