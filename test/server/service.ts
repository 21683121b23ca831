// The HTTP service on a database of its own, as it runs in production: a login role without rights of its own, several
// tenants with their keys, answers checked against the contract. All closed when the test (or the file) ends.
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import { vi } from "vitest";
import { type Scope, scopes } from "../../src/core/api/endpoint.js";
import { createRegistry, type RegistryParts } from "../../src/core/declare/registry.js";
import type { OutboundPolicy } from "../../src/core/places/outbound.js";
import type { Database } from "../../src/engine/database/database.js";
import { openServer } from "../../src/engine/database/server_database.js";
import type { Engine } from "../../src/engine/engine.js";
import { openEngine } from "../../src/engine/open_engine.js";
import { createAuthentication } from "../../src/server/access/authentication.js";
import { FailedSignIns } from "../../src/server/access/failed_sign_ins.js";
import { type AppOptions, createApp } from "../../src/server/app.js";
import { WorkSignal } from "../../src/server/stream/work_signal.js";
import type { ZoneSettings } from "../../src/storage/zones.js";
import type { WorkerOptions } from "../../src/worker/options.js";
import { startWorker, type Worker } from "../../src/worker/worker.js";
import { freshDatabase, realServer, type Variant } from "../postgres.js";

export interface Answered {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came
  body: any;
}

export interface TestService {
  app: FastifyInstance;
  /** http://127.0.0.1:port */
  url: string;
  /** As the server's role. */
  engine: Engine;
  /** Superuser. */
  db: Database;
  database_url: string;
  /** The server's login. */
  server_url: string;
  storage_dir: string;
  /** A key of a tenant (made when new) with all scopes, or some. */
  key(tenant?: string, some?: readonly Scope[], more?: { operator?: boolean }): Promise<string>;
  /** One call; `key` null sends none. */
  call(method: string, path: string, options?: CallOptions): Promise<Answered>;
  worker(options?: WorkerOptions): Promise<Worker>;
  close(): Promise<void>;
}

export interface CallOptions {
  key?: string | null;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export interface ServiceParts {
  variant?: Variant;
  /** A database that no other test gets: its sequences are altered. */
  own?: boolean;
  /** Another way to the database. */
  through?: (url: string) => string;
  /** What the service knows of what its workers may call. */
  outbound?: Partial<OutboundPolicy>;
  /** Of the engine's own pool. */
  connections?: number;
  /** Where zones are that are not folders. */
  zones?: Partial<ZoneSettings>;
}

export async function openService(
  parts: RegistryParts = {},
  app_options: Partial<AppOptions> = {},
  { variant = "app", own = false, through = (url) => url, outbound, connections = 4, zones }: ServiceParts = {},
): Promise<TestService> {
  const { db, url: database_url, drop } = await freshDatabase(own ? { variant, own } : { variant });
  const login = `ff_server_${Math.random().toString(36).slice(2, 10)}`;
  await db.script(`create role ${login} login; grant fanfold_api, fanfold_worker to ${login}`);
  await db.sql`select app.map_role(${login}::text::name, null)`;
  const as_server = new URL(through(database_url));
  as_server.username = login;
  const storage_dir = await mkdtemp(join(tmpdir(), "fanfold-test-"));
  const engine = await openEngine({
    database_url: as_server.href,
    storage_dir,
    registry: createRegistry(parts),
    connections,
    apart: true,
    secret_keys: [randomBytes(32)],
    outbound,
    ...(zones === undefined ? {} : { zones }),
  });
  // Tests fail to get in far more often than a caller should: without this they would be told to wait.
  const authenticator = createAuthentication({ db: engine.db, attempts: new FailedSignIns({ burst: 1_000_000 }) });
  const app = createApp({ engine, authenticator, check_replies: true, ...app_options });
  await app.listen({ port: 0, host: "127.0.0.1" });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  const workers: Worker[] = [];
  const keys = new Map<string, Promise<string>>();

  async function makeKey(tenant: string, some: readonly Scope[], more: { operator?: boolean }): Promise<string> {
    await db.sql`select app.create_tenant(${tenant})`;
    return (await engine.forTenant(tenant).keys.create({ name: "test", scopes: some, ...more })).key;
  }
  const key: TestService["key"] = (tenant = "default", some = scopes, more = {}) => {
    const name = JSON.stringify([tenant, some, more]);
    const known = keys.get(name) ?? makeKey(tenant, some, more);
    keys.set(name, known);
    return known;
  };

  return {
    app,
    url,
    engine,
    db,
    database_url,
    server_url: as_server.href,
    storage_dir,
    key,
    call: (method, path, options) => callService(url, key, method, path, options),
    async worker(options) {
      const worker = await startWorker(engine, options);
      workers.push(worker);
      return worker;
    },
    async close() {
      for (const worker of workers) await worker.stop();
      await app.close();
      await engine.close();
      await drop();
      await rm(storage_dir, { recursive: true, force: true });
      const { admin_url } = await realServer();
      const admin = openServer(admin_url);
      await admin.script(`drop role if exists ${login}`);
      await admin.close();
    },
  };
}

/** One call, with a key of the default tenant unless another (or null: none) is given. */
export async function callService(
  url: string,
  key: TestService["key"],
  method: string,
  path: string,
  { key: given, body, headers = {}, signal }: CallOptions = {},
): Promise<Answered> {
  const credential = given === undefined ? await key() : given;
  const answer = await fetch(url + path, {
    method,
    headers: {
      ...(credential === null ? {} : { authorization: `Bearer ${credential}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    signal,
    redirect: "manual",
  });
  const text = await answer.text();
  const is_json = /json/.test(answer.headers.get("content-type") ?? "");
  return { status: answer.status, headers: answer.headers, body: is_json && text !== "" ? JSON.parse(text) : text };
}

/** Resolves when a claim has looked, found nothing, and waits: from then on it is woken, by a hint or, behind a pooler, by a look. Asked before it. */
export function nextWait(): Promise<void> {
  const { wait } = WorkSignal.prototype;
  return new Promise((resolve) => {
    const spy = vi.spyOn(WorkSignal.prototype, "wait").mockImplementation(function (this: WorkSignal, ...given) {
      spy.mockRestore();
      const waiting = wait.apply(this, given);
      resolve();
      return waiting;
    });
  });
}
