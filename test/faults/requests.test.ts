// F38–F40: workers, the service and the database die while platform requests are submitted, opened and ended.
import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { createClient } from "../../src/client/index.js";
import { plainScript } from "../plain_code.js";
import { eventually } from "../worker/shop.js";
import { chained_jobs } from "./cast.js";
import { fault } from "./fault.js";
import { killWorkers } from "./nemesis.js";
import { RequestLoad, TASKS } from "./requests.js";
import type { Scene } from "./scene.js";

fault("F38 kill -9 of workers while requests run, also between the end of a job and the word of it", async (scene) => {
  const points = ["after-finish-commit:kill9@4", "before-finish:kill9@5"];
  const fleet = await scene.fleet({ first: (place) => (points[place] === undefined ? {} : { faults: points[place] }) });
  const load = new RequestLoad(scene, 20);
  await load.submit(10);
  await scene.progress(20);
  const killed = await killWorkers(scene, fleet, { pause_ms: 500, most: 2, settled: load.settled });
  await eventually(() => fleet.deaths.length >= killed.length);
  scene.notes.push(`${fleet.deaths.length} deaths`);
  expect(fleet.deaths.length).toBeGreaterThanOrEqual(1);
  await load.settle();
});

fault("F39 kill -9 of the service while requests are submitted over HTTP, and a restart", async (scene) => {
  await scene.fleet();
  const role = `ff_requests_${Math.floor(scene.random() * 1e9).toString(36)}`;
  await scene.db.script(`create role ${role} login; grant fanfold_api, fanfold_worker to ${role}`);
  await scene.db.sql`select app.map_role(${role}::text::name, null)`;
  const { key } = await scene.engine.keys.create({ name: "hub", scopes: ["read", "submit"], actor: "test" });
  // The service has no code of the workers': it knows the recipe as data.
  await scene.engine.recipes.save("hub", { jobs: chained_jobs });
  let service = await startService(scene, role, 0);
  const { port } = service;
  try {
    const client = createClient({ url: `http://127.0.0.1:${port}`, key, retries: 0 });
    const load = new RequestLoad(scene, 10, async (request) => {
      // What is not answered is asked again, as a client system does: it is the same request.
      for (;;) {
        try {
          return (await client.requests.submit({ ...request, data_type: "hub", parameters: { n: TASKS, ms: 10 } }))
            .request_id;
        } catch (error) {
          if ((error as { code?: string }).code === "bad_request") throw error;
          await sleep(50);
        }
      }
    });
    const submitting = load.submit(30);
    submitting.catch(() => {});
    for (const after of [5, 15]) {
      await eventually(() => load.answered.size >= after);
      service.child.kill("SIGKILL");
      await service.gone;
      service = await startService(scene, role, port);
    }
    await submitting;
    await load.settle();
    const ended = await client.requests.get([...load.answered.values()][0]!);
    expect(ended).toMatchObject({ status: "completed", result_data: { counts: { completed: 3 } } });
  } finally {
    service.child.kill("SIGKILL");
    await service.gone;
  }
});

fault(
  "F40 the database is stopped at once, and loses a backend, while requests are submitted and run",
  async (scene) => {
    const { cluster } = scene;
    await scene.fleet({ options: { lease_s: 15 } });
    const load = new RequestLoad(scene, 20);
    const submitting = load.submit(40);
    await scene.progress(40);
    await cluster.restart("immediate", scene.random() * 1000);
    await scene.progress(150);
    const backends = await scene.patiently(
      () => scene.db.sql<{ pid: number }>`
      select pid from pg_stat_activity where datname = current_database() and application_name = 'fanfold work'`,
    );
    cluster.killBackend(backends[Math.floor(scene.random() * backends.length)]!.pid);
    await submitting;
    await load.settle();
  },
);

interface Service {
  child: ChildProcess;
  port: number;
  gone: Promise<void>;
}

async function startService(scene: Scene, role: string, port: number): Promise<Service> {
  const address = new URL(scene.database.url);
  address.username = role;
  const program = plainScript(new URL("../../src/cli/main.ts", import.meta.url));
  const env = {
    ...process.env,
    DATABASE_URL: address.href,
    FANFOLD_DATA_DIR: scene.storage_dir,
    FANFOLD_LOG_LEVEL: "silent",
  };
  const child = spawn(process.execPath, [program, "serve", "--port", String(port), "--json"], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (text: Buffer) => {
    said = (said + text.toString()).slice(-5_000);
  });
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const told = await new Promise<string>((resolve, reject) => {
    child.stdout.once("data", (text: Buffer) => resolve(text.toString()));
    child.once("exit", () => reject(new Error(`the service did not start:\n${said}`)));
  });
  return { child, port: Number(new URL(JSON.parse(told).http.url).port), gone };
}
