// One tenant that asks for too much at a time is told so, and the others go on being answered.
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { createRegistry } from "../../src/core/declare/registry.js";
import { openEngine } from "../../src/engine/open_engine.js";
import { createAuthentication } from "../../src/server/access/authentication.js";
import { FailedSignIns } from "../../src/server/access/failed_sign_ins.js";
import { createApp } from "../../src/server/app.js";
import type { Service } from "../../src/server/service.js";
import { StreamPlaces, streamSettings } from "../../src/server/stream/stream_settings.js";
import { gate } from "../worker/shop.js";
import { openService, type TestService } from "./service.js";

let service: TestService;
let key: string;
let other: string;
beforeAll(async () => {
  const jobs = [defineJob({ type: "greet", stages: [{ name: "say", task: "t.say" }] })];
  const handlers = [defineHandler("t.say", {}, () => null)];
  service = await openService({ jobs, handlers }, { calls: { under_way: 3, waiting: 2 } });
  key = await service.key("busy");
  other = await service.key("calm");
});
afterAll(() => service.close());

const inside = () => (service.app as unknown as { service: Service }).service;

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(10);
}

/** Nobody can read jobs while `work` runs. */
async function withJobsLocked(work: () => Promise<void>): Promise<void> {
  await service.db.transaction(async (tx) => {
    await tx.script("lock table app.jobs in access exclusive mode");
    await work();
  });
}

describe("calls of one tenant", () => {
  test("that submit the same job are one that is made and others that exist, however many they are", async () => {
    const submit = (parameters: object) =>
      service.call("POST", "/api/jobs/submit/greet", { key, body: { parameters } });
    let held: ReturnType<typeof submit>[] = [];
    await withJobsLocked(async () => {
      held = Array.from({ length: 40 }, () => submit({ storm: 1 }));
      await until(() => inside().calls.taken("busy").compared === 37);
      expect((await submit({ storm: 2 })).status, "another job").toBe(429);
    });
    const answers = await Promise.all(held);
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(39).fill(200), 201]);
    expect(new Set(answers.map(({ body }) => body.job_id)).size).toBe(1);
    await until(() => inside().calls.taken("busy").compared + inside().calls.taken("busy").under_way === 0);
  });

  test("beyond what may be under way are told to come back, and others' are not", async () => {
    const counts = () => service.call("GET", "/api/jobs/counts", { key });
    let held: ReturnType<typeof counts>[] = [];
    await withJobsLocked(async () => {
      held = [counts(), counts(), counts()];
      await until(() => inside().calls.taken("busy").under_way === 3);
      const refused = await service.call("GET", "/api/keys", { key });
      expect(refused).toMatchObject({ status: 429, body: { code: "over_limit", retry_after_s: 1 } });
      expect(refused.body.detail).toBe("a tenant may have 3 calls under way at a time");
      expect(refused.headers.get("retry-after")).toBe("1");
      expect((await service.call("GET", "/api/keys", { key: other })).status).toBe(200);
      expect((await service.call("GET", "/api/session", { key })).status, "who is signed in").toBe(429);
      const sign_in = { key: null, body: { key } };
      expect((await service.call("POST", "/api/session", sign_in)).status, "signing in").toBe(429);
    });
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200, 200]);
    await until(() => inside().calls.taken("busy").under_way === 0);
    expect((await counts()).status).toBe(200);
  });

  test("that wait are counted apart, and give their place back when their caller is gone", async () => {
    const { body } = await service.call("POST", "/api/workers/register", { key, body: { types: ["t.nothing"] } });
    const gone = new AbortController();
    const claim = (signal?: AbortSignal) =>
      service.call("POST", `/api/workers/${body.worker_id}/claim`, {
        key,
        body: { wait_s: signal === undefined ? 0.01 : 20 },
        signal,
      });
    const waiting = [claim(gone.signal), claim(gone.signal)].map((one) => one.catch(() => null));
    await until(() => inside().calls.taken("busy").waiting === 2);
    expect(inside().calls.taken("busy").under_way).toBe(0);
    const refused = await claim();
    expect([refused.status, refused.body.detail]).toEqual([429, "a tenant may have 2 calls that wait at a time"]);
    expect((await service.call("GET", "/api/keys", { key })).status).toBe(200);
    gone.abort();
    await Promise.all(waiting);
    await until(() => inside().calls.taken("busy").waiting === 0);
    expect((await claim()).status).toBe(200);
  });
});

test("of one tenant's calls of the catalogue four are under way, the others wait their turn or go, and others' are not held up", async () => {
  const app = createApp({ engine: service.engine, authenticator: inside().authenticator });
  const { catalogs } = (app as unknown as { service: Service }).service;
  const held: (() => void)[] = [];
  // No catalogue is there: what is looked at is who gets as far as asking for it.
  vi.spyOn(catalogs, "of").mockImplementation(async ({ tenant }) => {
    if (tenant === "busy") await new Promise<void>((resolve) => held.push(resolve));
    return null;
  });
  const gone = new AbortController();
  try {
    await app.listen({ port: 0, host: "127.0.0.1" });
    const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/stac`;
    let came = 0;
    let closed = 0;
    app.server.on("request", (_, answer) => {
      came++;
      answer.once("close", () => closed++);
    });
    const ask = async (key: string, signal: AbortSignal | null = null) =>
      (await fetch(url, { signal, headers: { authorization: `Bearer ${key}` } })).status;
    const first = [1, 2, 3, 4].map(() => ask(key));
    await until(() => held.length === 4);
    const lost = ask(key, gone.signal).catch(() => "gone");
    await until(() => came === 5);
    const last = ask(key);
    await until(() => came === 6);
    expect(await ask(other)).toBe(404);
    expect(held.length).toBe(4);
    gone.abort();
    expect(await lost).toBe("gone");
    // The other tenant's, and the one that is gone.
    await until(() => closed === 2);
    held[0]!();
    await until(() => held.length === 5);
    for (const go of held) go();
    expect(await Promise.all([...first, last])).toEqual([404, 404, 404, 404, 404]);
    expect(held.length).toBe(5);
  } finally {
    for (const go of held) go();
    await app.close();
  }
});

test("of one tenant's long reads four are with the database, and others' are answered meanwhile", async () => {
  const engine = await openEngine({
    database_url: service.server_url,
    storage_dir: service.storage_dir,
    registry: createRegistry({}),
    connections: 6,
  });
  const app = createApp({ engine, authenticator: inside().authenticator });
  try {
    await app.listen({ port: 0, host: "127.0.0.1" });
    const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
    let came = 0;
    app.server.on("request", () => came++);
    const ask = async (path: string, key: string) =>
      (await fetch(url + path, { headers: { authorization: `Bearer ${key}` } })).status;
    let held: Promise<number>[] = [];
    await service.db.transaction(async (tx) => {
      await tx.script("lock table app.events in access exclusive mode");
      held = Array.from({ length: 8 }, () => ask("/api/audit", key));
      await until(() => came === 8);
      for (let waiting = 0; waiting < 4; ) {
        const [row] = await service.engine.db.sql<{ n: number }>`
          select count(*)::integer as n from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock' and query like '%list_audit%'`;
        waiting = row!.n;
      }
      expect(await ask("/api/jobs/counts", other)).toBe(200);
    });
    expect(await Promise.all(held)).toEqual(new Array(8).fill(200));
  } finally {
    await app.close();
    await engine.close();
  }
});

test("of one tenant's submits, of whatever kind, four are with the database, and others' calls are answered meanwhile", async () => {
  const types = Array.from({ length: 6 }, (_, at) =>
    defineJob({ type: `slow_${at}`, stages: [{ name: "a", task: "t.a" }] }),
  );
  const engine = await openEngine({
    database_url: service.server_url,
    storage_dir: service.storage_dir,
    connections: 6,
    registry: createRegistry({ jobs: types, handlers: [defineHandler("t.a", {}, async () => ({}))] }),
  });
  const app = createApp({ engine, authenticator: inside().authenticator });
  try {
    await app.listen({ port: 0, host: "127.0.0.1" });
    const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
    let came = 0;
    app.server.on("request", () => came++);
    const send = async (path: string, body: object) => {
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
      return (await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) })).status;
    };
    let held: Promise<number>[] = [];
    await service.db.transaction(async (tx) => {
      await tx.script("lock table app.stages in access exclusive mode");
      // Gathered ones, forced ones, and batches.
      held = types.flatMap(({ type }) => [
        send(`/api/jobs/submit/${type}`, { parameters: {} }),
        send(`/api/jobs/submit/${type}`, { parameters: {}, mode: "force" }),
        send(`/api/jobs/submit/${type}/batch`, { items: [{ parameters: {} }] }),
      ]);
      await until(() => came === held.length);
      let waiting = 0;
      while (waiting < 4) {
        const [row] = await service.db.sql<{ n: number }>`
          select count(*)::integer as n from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock' and application_name = 'fanfold'`;
        waiting = row!.n;
      }
      const answer = await fetch(`${url}/api/tenants`, { headers: { authorization: `Bearer ${other}` } });
      expect(answer.status).toBe(403);
      const { most, busy } = engine.db.load!();
      expect([most, busy]).toEqual([6, 4]);
    });
    for (const status of await Promise.all(held)) expect([200, 201]).toContain(status);
  } finally {
    await app.close();
    await engine.close();
  }
});

test("callers who go while it is found out who they are leave no place taken", async () => {
  const { passed, open: letIn } = gate();
  const known = inside().authenticator;
  let asked = 0;
  const authenticator = {
    authenticate: async (...given: Parameters<typeof known.authenticate>) => {
      asked++;
      await passed;
      return known.authenticate(...given);
    },
  };
  const app = createApp({ engine: service.engine, authenticator });
  try {
    await app.listen({ port: 0, host: "127.0.0.1" });
    let closed = 0;
    app.server.on("request", (_, answer) => answer.once("close", () => closed++));
    const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
    const gone = new AbortController();
    const ask = (path: string) =>
      fetch(url + path, { signal: gone.signal, headers: { authorization: `Bearer ${key}` } }).catch(() => null);
    const asking = [ask("/api/keys"), ask("/assets/silver/a.tif")];
    await until(() => asked === 2);
    gone.abort();
    await Promise.all(asking);
    await until(() => closed === 2);
    const { calls } = (app as unknown as { service: Service }).service;
    const take = vi.spyOn(calls, "take");
    letIn();
    await until(() => take.mock.calls.length === 2);
    await until(() => calls.taken("busy").under_way === 0);
  } finally {
    await app.close();
  }
});

test("a statement that takes too long is given up and told as 503; what works has bounds of its own", async () => {
  const engine = await openEngine({
    database_url: service.server_url,
    storage_dir: service.storage_dir,
    registry: createRegistry({}),
    statement_timeout_s: 0.2,
  });
  const app = createApp({ engine, check_replies: true });
  const own = engine.openConnection("test", 1);
  try {
    await app.listen({ port: 0, host: "127.0.0.1" });
    const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/api/jobs/counts`;
    const ask = () => fetch(url, { headers: { authorization: `Bearer ${key}` } });
    await withJobsLocked(async () => {
      const answer = await ask();
      expect(answer.status).toBe(503);
      expect(answer.headers.get("retry-after")).toBe("2");
      expect(await answer.json()).toMatchObject({
        code: "unavailable",
        detail: "the database took too long for this call, and was told to stop",
      });
    });
    expect((await ask()).status).toBe(200);
    expect(await own.sql`select current_setting('statement_timeout') as limit`).toEqual([{ limit: "1min" }]);
  } finally {
    await own.close();
    await app.close();
    await engine.close();
  }
});

describe("streams", () => {
  const places = (settings: object) => new StreamPlaces(streamSettings(settings));

  test("of a tenant are bounded, however many keys it has, and leave room for others", () => {
    const all = places({ per_key: 2, per_tenant: 3, in_all: 5 });
    const [leave] = ["a", "b", "c"].map((actor) => all.take({ tenant_id: "busy", actor }));
    expect(() => all.take({ tenant_id: "busy", actor: "d" })).toThrow("a tenant may have 3 streams open");
    all.take({ tenant_id: "calm", actor: "a" });
    all.take({ tenant_id: "calm", actor: "b" });
    expect(() => all.take({ tenant_id: "third", actor: "a" })).toThrow("this server has 5 streams open");
    leave?.();
    leave?.();
    expect(all.taken).toBe(4);
    all.take({ tenant_id: "busy", actor: "d" });
  });

  test("of subjects with one name in two tenants are not counted together", () => {
    const all = places({ per_key: 1 });
    all.take({ tenant_id: "busy", actor: "token:ada" });
    expect(() => all.take({ tenant_id: "busy", actor: "token:ada" })).toThrow("a key may have 1 streams open");
    all.take({ tenant_id: "calm", actor: "token:ada" });
  });
});

test("a tenant has at most 1,000 keys that can be used", async () => {
  const admin = await service.key("hoarder");
  await service.db.script(
    `insert into app.api_keys (key_id, tenant_id, env, name, secret_hash, scopes, operator, created_by)
     select 'hoarded' || lpad(n::text, 5, '0'), tenant_id, env, 'many', secret_hash, scopes, false, 'test'
       from app.api_keys, generate_series(1, 999) n where tenant_id = 'hoarder'`,
  );
  const make = () => service.call("POST", "/api/keys", { key: admin, body: { name: "more", scopes: ["read"] } });
  const refused = await make();
  expect([refused.status, refused.body.detail]).toEqual([422, "a tenant has at most 1000 keys that can be used"]);
  const rotate = await service.call("POST", "/api/keys/hoarded00001/rotate", { key: admin, body: {} });
  expect(rotate.status).toBe(422);
  expect((await service.call("DELETE", "/api/keys/hoarded00002", { key: admin })).status).toBe(200);
  expect((await make()).status).toBe(201);
});

describe("behind a proxy", () => {
  const wrong = { authorization: `Bearer ff_live_${"0".repeat(12)}_${"0".repeat(43)}` };

  async function statuses(trust_proxy: number | string[] | undefined): Promise<number[]> {
    const attempts = new FailedSignIns({ burst: 1, per_s: 0.0001 });
    const authenticator = createAuthentication({ db: service.engine.db, attempts });
    const app = createApp({ engine: service.engine, authenticator, trust_proxy });
    const from = async (forwarded: string) =>
      (await app.inject({ url: "/api/keys", headers: { ...wrong, "x-forwarded-for": forwarded } })).statusCode;
    try {
      return [
        await from("192.0.2.1"),
        await from("192.0.2.1"),
        await from("6.6.6.6, 192.0.2.1"),
        await from("192.0.2.2"),
      ];
    } finally {
      await app.close();
    }
  }

  test("that is trusted, failures count for whom it names; a caller cannot name another", async () => {
    expect(await statuses(1)).toEqual([401, 429, 429, 401]);
    expect(await statuses(["127.0.0.0/8"])).toEqual([401, 429, 429, 401]);
  });

  test("that is not trusted, for the proxy", async () => {
    expect(await statuses(undefined)).toEqual([401, 429, 429, 429]);
    expect(await statuses(["10.0.0.0/8"])).toEqual([401, 429, 429, 429]);
  });
});
