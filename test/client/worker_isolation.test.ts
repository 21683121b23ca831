// Handlers in processes of their own, in a worker that has nothing but an address and a key: what one comes to there is what it comes to in
// the worker's own process, and what it breaks is one attempt.
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { keyNoted } from "../../src/client/remote_isolation.js";
import { startRemoteWorker } from "../../src/client/worker.js";
import type { RemoteWorkerOptions } from "../../src/client/worker_options.js";
import { Redaction } from "../../src/core/values/redaction.js";
import { openFolderStore } from "../../src/storage/folder_store.js";
import { openService, type TestService } from "../server/service.js";
import { node_args } from "../worker/isolation_node.js";
import { handlers } from "./isolated_handlers.js";

let service: TestService;
beforeAll(async () => {
  service = await openService({});
});
afterAll(() => service.close());

async function begin(tenant: string, more: Partial<RemoteWorkerOptions> = {}) {
  const dir = await mkdtemp(join(tmpdir(), "fanfold-remote-isolation-"));
  const key = await service.key(tenant, ["work"]);
  const worker = await startRemoteWorker({
    url: service.url,
    key,
    handlers,
    slots: 4,
    abort_grace_s: 0.2,
    memory_mb: 65_536,
    scratch_dir: dir,
    storage: openFolderStore(join(dir, "storage")),
    secrets: (name) => (name === "token" ? "s3cr3t-t0ken" : null),
    isolation_node_args: node_args,
    isolation_env: { ITS_OWN: "given" },
    ...more,
  });
  onTestFinished(async () => {
    await worker.kill();
    await rm(dir, { recursive: true, force: true });
  });
  return worker;
}

/** That users of processes may look into, too. */
async function openFolder() {
  const dir = await mkdtemp(join(tmpdir(), "fanfold-remote-open-"));
  await chmod(dir, 0o755);
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

async function fateOf(tenant: string, type: string, parameters: Record<string, unknown> = { n: 1 }) {
  const engine = service.engine.forTenant(tenant);
  const { task_id } = await engine.enqueue(type, parameters, { max_attempts: 1 });
  return endOf(tenant, task_id);
}

async function endOf(tenant: string, task_id: string) {
  const engine = service.engine.forTenant(tenant);
  for (;;) {
    const task = await engine.task(task_id);
    if (task.status !== "completed" && task.status !== "failed") {
      await new Promise((resolve) => setTimeout(resolve, 20));
      continue;
    }
    const { status, result, error, logs, next_stage_params } = task;
    const { code, category, message } = (error ?? {}) as Record<string, unknown>;
    return { status, result, code, category, message, next_stage_params, logs: logs.map((line) => line.message) };
  }
}

test("what a handler returns, throws or does with ctx comes to the same in its own process", async () => {
  await begin("twins");
  await service.engine.forTenant("twins").zones.store("bronze", "twins").write("in.bin", pieces());
  const names = [
    "files",
    "told",
    "values",
    "large",
    "not_a_number",
    "throws",
    "db",
    "slow",
    "storage",
    "bad_effect",
    "bad_hand_over",
  ];
  const fates: Record<string, unknown> = {};
  for (const name of names) {
    const [inside, apart] = await Promise.all([fateOf("twins", `in.${name}`), fateOf("twins", `apart.${name}`)]);
    expect([name, apart]).toEqual([name, inside]);
    fates[name] = apart;
  }
  expect(fates).toMatchObject({
    files: { status: "completed", result: { bytes: 3, name: "out.bin" } },
    told: { result: { secret: "[redacted]", tenant: "twins" }, logs: ["it is [redacted]"] },
    not_a_number: { category: "contract" },
    throws: { code: "no_place", category: "permanent" },
    db: { code: "no_database", message: expect.stringContaining("startWorker") },
    slow: { code: "timeout", category: "transient" },
    storage: { result: { text: "kept" } },
    bad_effect: { category: "contract", message: expect.stringContaining("effect") },
    bad_hand_over: { category: "contract", code: "bad_result", message: expect.stringContaining("next_stage_params") },
  });
  const assets = await service.db.sql`select 1 from app.assets where tenant_id = 'twins' and retracted_at is null`;
  const declared = await service.db.sql<{ from: string }>`
    select t.parameters ->> 'from' as from from app.tasks t join app.stages s on s.stage_id = t.stage_id
     where s.tenant_id = 'twins' and s.task_type = 'in.values' and t.parameters ? 'from' order by 1`;
  expect([assets.length, declared.map(({ from }) => from)]).toEqual([2, ["apart.files", "in.files"]]);
});

async function* pieces() {
  yield Buffer.from("abc");
}

test("it reads what came before, large results too", async () => {
  await begin("fold");
  const engine = service.engine.forTenant("fold");
  await engine.blueprints.save("fold", {
    stages: [
      {
        name: "made",
        task: "apart.made",
        tasks: { each: "$.items[*]", index: "{name}", parameters: { name: "{name}" } },
      },
      { name: "match", task: "apart.match", parallelism: "match_previous" },
      { name: "fold", task: "apart.fold", parallelism: "fan_in", after: ["made", "match"], of: "match" },
    ],
  });
  const { job_id } = await engine.submit("fold", { items: ["a", "b", "c"].map((name) => ({ name })) });
  const job = await engine.wait(job_id);
  expect(job).toMatchObject({ result: { before: ["a 10 a", "b 1500000 b", "c 10 c"], matched: 3 } });
  const { tasks } = await engine.tasks({ job_id, stage: "match" });
  expect((await engine.task(tasks[1]?.task_id ?? "")).result).toEqual({ length: 1_500_000, status: "completed" });
});

test("it sees no key, is given no file but those of its scratch directory, and is killed when it does not stop", async () => {
  const key = await service.key("bounds", ["work"]);
  vi.stubEnv("FANFOLD_KEY", key).stubEnv("UNDER_ANOTHER_NAME", key).stubEnv("WITHIN_ANOTHER", `Bearer ${key}`);
  const worker = await begin("bounds", { key });
  vi.unstubAllEnvs();
  const seen = await fateOf("bounds", "apart.environment");
  expect(seen).toMatchObject({ result: { own: "given", values: [] } });
  expect((seen.result as { key?: string }).key ?? "").toBe("");
  expect(await fateOf("bounds", "apart.outside")).toMatchObject({ code: "bad_path", category: "permanent" });
  expect(await fateOf("bounds", "apart.stuck")).toMatchObject({ code: "timeout", category: "transient" });
  const [late] = await service.db.sql<{ process: { pid: number } | null }>`
    select a.detail -> 'process' as process from app.attempts a join app.stages s on s.stage_id = a.stage_id
     where s.tenant_id = 'bounds' and a.code = 'timeout'`;
  expect(late?.process).toMatchObject({ pid: expect.any(Number), signal: "SIGTERM" });
  expect(() => process.kill(late?.process?.pid ?? 0, 0)).toThrow("ESRCH");
  expect(await fateOf("bounds", "apart.values")).toMatchObject({ status: "completed" });
  expect(worker.stats()).toMatchObject({ registered: 1 });
});

test("the time of a task that waits for memory has not begun, and it runs after what it waits for", async () => {
  const beats: { task_id: string; elapsed_s: number }[][] = [];
  const watched: typeof fetch = (address, init) => {
    if (String(address).endsWith("/heartbeat")) beats.push(JSON.parse(String(init?.body)).running);
    return fetch(address, init);
  };
  const until = join(await openFolder(), "go-on");
  await service.key("waits");
  const engine = service.engine.forTenant("waits");
  // Both are there before it asks: one claim takes one of each type, and beside what it holds it would ask for no other.
  const tasks = [await engine.enqueue("apart.stays", { until }), await engine.enqueue("apart.stays_too", { until })];
  await begin("waits", { memory_mb: 300, lease_s: 5, fetch: watched });
  await vi.waitUntil(() => beats.filter(({ length }) => length === 2).length >= 2, { timeout: 15_000 });
  await writeFile(until, "");
  const ran = (await Promise.all(tasks.map(({ task_id }) => endOf("waits", task_id)))).map(
    ({ result }) => result as { from: number; to: number },
  );
  const [first, second] = ran.sort((a, b) => a.from - b.from);
  expect(second?.from).toBeGreaterThanOrEqual(first?.to ?? Number.POSITIVE_INFINITY);
  const told = beats.filter(({ length }) => length === 2).map((running) => running.map(({ elapsed_s }) => elapsed_s));
  expect(told.map((both) => Math.min(...both))).toEqual(told.map(() => 0));
  expect(Math.max(...(told.at(-1) ?? []))).toBeGreaterThan(0);
});

test("a key that a function gives is a secret at each reading", async () => {
  const keys = ["the-first-key", "another-key"];
  const secrets = new Redaction();
  const key = keyNoted(() => keys.shift() ?? "", secrets);
  if (typeof key === "function") for (let reading = 0; reading < 2; reading++) await key();
  expect(secrets.text("the-first-key another-key")).toBe("[redacted] [redacted]");
});

test("tasks start only while their memory fits, and a handler that declares more than there is is left to others", async () => {
  const worker = await begin("memory", { memory_mb: 300 });
  const fates = await Promise.all(Array.from({ length: 3 }, () => fateOf("memory", "apart.stays", { ms: 200 })));
  const ran = fates.map(({ result }) => result as { from: number; to: number }).sort((a, b) => a.from - b.from);
  for (const [position, { from }] of ran.entries()) expect(from).toBeGreaterThanOrEqual(ran[position - 1]?.to ?? 0);
  expect(worker.stats()).toMatchObject({ completed: 3, claimed: 3 });
  await worker.stop();
  const small = await begin("memory", { memory_mb: 200 });
  const [row] = await service.db.sql<{ types: string[]; too_large: object; memory_mb: number }>`
    select types, too_large, memory_mb from app.workers where worker_id = ${small.worker_id}::text::uuid`;
  expect(row?.types.filter((type) => type.startsWith("apart."))).toEqual([]);
  expect(row).toMatchObject({ memory_mb: 200, too_large: { "apart.values": 256 } });
});
