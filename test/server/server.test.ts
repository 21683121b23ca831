// The server as something that starts and stops.
import { afterAll, beforeAll, expect, test } from "vitest";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { createRegistry } from "../../src/core/declare/registry.js";
import { Conflict, Forbidden } from "../../src/core/errors/errors.js";
import { Engine } from "../../src/engine/engine.js";
import { type ServerOptions, startServer } from "../../src/server/server.js";
import { openFolderStore } from "../../src/storage/index.js";
import { freshEmbedded } from "../postgres.js";
import { readEvents } from "./event_reader.js";
import { nextWait, openService, type TestService } from "./service.js";

let service: TestService;
let key: string;
const parts = {
  jobs: [defineJob({ type: "one", stages: [{ name: "do", task: "t.do" }] })],
  handlers: [defineHandler("t.do", {}, () => null)],
};
beforeAll(async () => {
  service = await openService(parts);
  key = await service.key();
});
afterAll(() => service.close());

const begin = (more: Partial<ServerOptions> = {}) =>
  startServer({ engine: service.engine, port: 0, janitor: false, ...more });

function post(url: string, body: unknown): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  return fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
}

test("it listens where it is told, does the janitor's duties, and stops more than once without harm", async () => {
  await service.db.sql`update app.janitor set last_success_at = null`;
  const server = await begin({ janitor: true });
  expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect((await fetch(`${server.url}/api/health/live`)).status).toBe(200);
  for (;;) {
    const [row] = await service.db.sql<{ ran: boolean }>`select last_success_at is not null as ran from app.janitor`;
    if (row?.ran) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await Promise.all([server.stop(), server.stop(), server.kill()]);
  await expect(fetch(`${server.url}/api/health/live`)).rejects.toThrow();
});

test("a port that is taken and a role that must not serve are refused in words", async () => {
  const port = Number(new URL(service.url).port);
  await expect(begin({ port })).rejects.toThrow(Conflict);
  await expect(begin({ host: "192.0.2.1" })).rejects.toThrow(Conflict);
  const superuser = new Engine({
    db: service.db,
    tenant: "default",
    registry: createRegistry(parts),
    store: openFolderStore(service.storage_dir),
    openConnection: () => service.db,
    close: async () => {},
  });
  await expect(startServer({ engine: superuser, port: 0 })).rejects.toThrow(Forbidden);
});

test("told to stop it is not ready, lets waiting workers and readers go, answers what runs, and takes nothing more", async () => {
  const server = await begin({ drain_s: 60 });
  const { worker_id } = (await (await post(`${server.url}/api/workers/register`, { types: ["t.do"] })).json()) as {
    worker_id: string;
  };
  const reader = await readEvents(`${server.url}/api/stream`, { key });
  await reader.until(({ event }) => event === "ready");
  const begun = nextWait();
  const waiting = post(`${server.url}/api/workers/${worker_id}/claim`, { wait_s: 20 });
  await begun;
  const stopped = server.stop();
  expect(await (await waiting).json()).toEqual({ tasks: [], stages: [] });
  expect((await reader.until(({ event }) => event === "end")).data.reason).toBe("stopping");
  const ready = await fetch(`${server.url}/api/health/ready`);
  expect(ready.status).toBe(503);
  expect(ready.headers.get("connection")).toBe("close");
  expect(await ready.json()).toMatchObject({ detail: "the server is stopping" });
  // It drains for a minute, unless it is told that nobody waits for that.
  expect((await post(`${server.url}/api/jobs/submit/one`, {})).status).toBe(201);
  await server.kill();
  await stopped;
  await expect(post(`${server.url}/api/jobs/submit/one`, {})).rejects.toThrow();
});

test("a call that does not end is cut off after the grace", async () => {
  const server = await begin({ grace_s: 0.2 });
  await service.db.transaction(async (tx) => {
    await tx.sql`lock table app.jobs in share mode`;
    const held = expect(post(`${server.url}/api/jobs/submit/one`, { parameters: { n: 1 } })).rejects.toThrow();
    for (let waits = 0; waits === 0; ) {
      const [row] = await service.db.sql<{ n: number }>`
        select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      waits = row?.n ?? 0;
    }
    await server.stop();
    await held;
  });
});

test("on the embedded database a job is submitted, worked on over HTTP and followed", async () => {
  const embedded = await freshEmbedded();
  const db = embedded.as("fanfold_admin");
  const engine = new Engine({
    db,
    tenant: "default",
    registry: createRegistry(parts),
    store: openFolderStore(service.storage_dir),
    openConnection: () => embedded.as("fanfold_admin"),
    close: () => embedded.close(),
  });
  const scopes = ["submit", "read", "work"];
  const made = await engine.keys.create({ name: "test", scopes });
  const server = await startServer({ engine, port: 0, stream: { period_ms: 20 } });
  const call = async (method: string, path: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${made.key}`, "content-type": "application/json" };
    const answer = await fetch(server.url + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (await answer.json()) as Record<string, never>;
  };
  const reader = await readEvents(`${server.url}/api/stream`, { key: made.key });
  await reader.until(({ event }) => event === "ready");
  const { worker_id } = await call("POST", "/api/workers/register", { types: ["t.do"] });
  const waiting = call("POST", `/api/workers/${worker_id}/claim`, { wait_s: 20 });
  const { job_id } = await call("POST", "/api/jobs/submit/one", {});
  const [{ task_id, claim_id }] = (await waiting).tasks as unknown as [{ task_id: string; claim_id: number }];
  await call("POST", `/api/workers/${worker_id}/finish`, { tasks: [{ task_id, claim_id, result: { ok: true } }] });
  expect((await reader.until(({ event }) => event === "job.completed")).data.job_id).toBe(job_id);
  reader.close();
  await server.stop();
  await engine.close();
});
