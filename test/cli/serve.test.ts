// fanfold serve and the HTTP side of fanfold up, as processes and in this one; and the end of a server with a hundred calls
// under way.
import { access, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server as NetServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openServer } from "../../src/engine/database/server_database.js";
import { dashboard_folder, hasDashboard } from "../../src/server/pages/dashboard.js";
import { type FreshDatabase, freshDatabase, realServer } from "../postgres.js";
import { build, spawnFanfold } from "./built_program.js";
import { migratedFolder } from "./embedded_folder.js";
import { fanfold, start } from "./fake_terminal.js";

let database: FreshDatabase;
let folder: string;
let key: string;
/** As the server's role. */
let env: Record<string, string>;
const role = `ff_serve_${Math.random().toString(36).slice(2, 10)}`;

beforeAll(async () => {
  await build();
  database = await freshDatabase();
  folder = await mkdtemp(path.join(tmpdir(), "fanfold-serve-"));
  await database.db.script(`create role ${role} login; grant fanfold_api, fanfold_worker to ${role}`);
  await database.db.sql`select app.map_role(${role}::text::name, null)`;
  const url = new URL(database.url);
  url.username = role;
  env = { DATABASE_URL: url.href, FANFOLD_DATA_DIR: folder };
  const scope = ["submit", "read", "admin"].flatMap((one) => ["--scope", one]);
  const made = await fanfold(["keys", "create", "test", ...scope, "--operator", "--json"], {
    env: { ...env, DATABASE_URL: database.url },
  });
  ({ key } = made.json());
});
afterAll(async () => {
  await database.drop();
  const admin = openServer((await realServer()).admin_url);
  await admin.script(`drop role if exists ${role}`);
  await admin.close();
  await rm(folder, { recursive: true, force: true });
});

function urlIn(text: string): string {
  const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(text) ?? [];
  expect(url).toBeDefined();
  return url as string;
}

function post(url: string, body: unknown, given = key): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { authorization: `Bearer ${given}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

async function taken(): Promise<{ port: number; close(): Promise<unknown> }> {
  const listener: NetServer = createServer();
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const { port } = listener.address() as { port: number };
  return { port, close: () => new Promise((resolve) => listener.close(resolve)) };
}

describe("serve", () => {
  test("answers HTTP, with --worker also runs jobs, and a signal ends it with 0", async () => {
    const server = start(["serve", "--port", "0", "--worker", "--slots", "2"], { env });
    await server.until("serves");
    await server.until("stop      Ctrl-C");
    for (const word of ["/api/docs", "fanfold keys create", "2 slots"]) expect(server.out()).toContain(word);
    const url = urlIn(server.out());
    const submitted = await post(`${url}/api/jobs/submit/hello_world`, { parameters: { n: 2 } });
    expect(submitted.status).toBe(201);
    const { job_id } = (await submitted.json()) as { job_id: string };
    const waited = await fanfold(["watch", job_id, "--json"], { env });
    expect(waited.lines().at(-1)).toMatchObject({ status: "completed" });
    expect(await (await fetch(`${url}/api/health/ready`)).json()).toMatchObject({ status: "ready" });
    server.signal("SIGTERM");
    const { code, err } = await server.done;
    expect({ code, err }).toMatchObject({ code: 0, err: expect.stringContaining("stopped gracefully") });
    await expect(fetch(`${url}/api/health/live`)).rejects.toThrow();
  });

  test("refuses a superuser with the SQL to run, and a port that is taken with the next command", async () => {
    const superuser = await fanfold(["serve", "--port", "0"], { env: { ...env, DATABASE_URL: database.url } });
    expect(superuser).toMatchObject({
      code: 4,
      err: expect.stringMatching(/(create role|fanfold_worker to) fanfold_server/),
    });
    const { port, close } = await taken();
    const { code, err } = await fanfold(["serve", "--port", String(port)], { env });
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining(`fanfold serve --port ${port + 1}`) });
    expect((await fanfold(["serve", "--port", "99999"], { env })).code).toBe(2);
    const elsewhere = await fanfold(["serve", "--host", "192.0.2.1", "--port", "0"], { env });
    expect(elsewhere).toMatchObject({ code: 2, err: expect.stringContaining("fanfold serve --host 127.0.0.1") });
    await close();
  });

  test("a second signal ends it although somebody holds a call open", async () => {
    const server = start(["serve", "--port", "0", "--json"], { env });
    await server.until('"http"');
    const { http } = JSON.parse(server.out());
    const lock = openServer(database.url);
    await lock.transaction(async (tx) => {
      await tx.sql`lock table app.jobs in share mode`;
      const held = post(`${http.url}/api/jobs/submit/hello_world`, { parameters: { n: 1 } });
      const cut = expect(held).rejects.toThrow();
      await blocked(1);
      server.signal("SIGTERM");
      server.signal("SIGTERM");
      await cut;
    });
    expect((await server.done).code).toBe(0);
    await lock.close();
  });
});

/** Until so many submits wait for the lock. */
async function blocked(least: number): Promise<void> {
  for (;;) {
    const [row] = await database.db.sql<{ n: number }>`
      select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    if ((row?.n ?? 0) >= least) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test("SIGTERM with a hundred submits under way: each is answered for good or cut off, and no job is half there", async () => {
  const server = spawnFanfold(["serve", "--port", "0"], { env });
  await server.until("stop      Ctrl-C");
  const url = urlIn(server.out());
  const lock = openServer(database.url);
  const before = await count("jobs");
  const tries: Promise<{ status: number; job_id?: string } | null>[] = [];
  await lock.transaction(async (tx) => {
    await tx.sql`lock table app.jobs in share mode`;
    for (let n = 0; n < 100; n++) {
      const answered = post(`${url}/api/jobs/submit/hello_world`, { parameters: { n: n + 3 } })
        .then(async (answer) => ({ ...((await answer.json()) as object), status: answer.status }))
        .catch(() => null);
      tries.push(answered);
    }
    // Submits of one type are sent together: one of them waits for all.
    await blocked(1);
    server.child.kill("SIGTERM");
    await server.until("SIGTERM");
  });
  const answers = await Promise.all(tries);
  expect(await server.ended).toMatchObject({ code: 0 });
  const accepted = answers.filter((one) => one?.status === 201);
  expect(accepted.length).toBeGreaterThan(0);
  for (const one of answers) expect([201, 503, undefined]).toContain(one?.status);
  // A refused one may have been cut off after it was done, but never one that was told 503; and each has all its stages.
  const refused = answers.filter((one) => one?.status === 503).length;
  const made = (await count("jobs")) - before;
  expect(made).toBeGreaterThanOrEqual(accepted.length);
  expect(made).toBeLessThanOrEqual(100 - refused);
  const half = await database.db.sql`
    select j.job_id from app.jobs j
     where j.status = 'queued' and not exists (select from app.ready r join app.stages s using (stage_id) where s.job_id = j.job_id)`;
  expect(half).toEqual([]);
  for (const one of accepted) {
    expect(await database.db.sql`select 1 as n from app.jobs where job_id = ${one?.job_id as string}`).toHaveLength(1);
  }
  await lock.close();
});

async function count(table: "jobs"): Promise<number> {
  const rows = table === "jobs" ? await database.db.sql<{ n: number }>`select count(*)::int as n from app.jobs` : [];
  return rows[0]?.n ?? 0;
}

/** The blueprint of docs/http-api.md and the submit that follows it: what is printed there must run. */
async function documented(): Promise<{ blueprint: string; submit: string }> {
  const text = await readFile(new URL("../../docs/http-api.md", import.meta.url), "utf8");
  const [, blueprint = ""] = /blueprints\/greet_all -d '([^']+)'/.exec(text) ?? [];
  const [, submit = ""] = /submit\/greet_all -d '([^']+)'/.exec(text) ?? [];
  return { blueprint, submit };
}

test("dashboard prints a link that signs in once: asked for with a key, or made where the database is at hand", async () => {
  const server = start(["serve", "--port", "0"], { env });
  await server.until("stop      Ctrl-C");
  const url = urlIn(server.out());
  expect(server.out(), "what a server writes is read by many").not.toContain("code=");
  const signedIn = async (link: string) => {
    const code = new URL(link.trim()).hash.replace("#code=", "");
    return (await post(`${url}/api/session`, { code })).json();
  };
  const asked = await fanfold(["dashboard", "--url", `${url}/`], { env: { ...env, FANFOLD_KEY: key } });
  expect(asked).toMatchObject({ code: 0, err: expect.stringContaining("signs in once") });
  expect(asked.out).toMatch(new RegExp(`^${url}/sign-in#code=ffl_[\\w-]{43}\n$`));
  expect(await signedIn(asked.out)).toMatchObject({ key_name: "test", scopes: ["submit", "read", "admin"] });
  const made = (await fanfold(["dashboard", "--json"], { env: { ...env, FANFOLD_PUBLIC_URL: url } })).json();
  expect(await signedIn(made.url)).toMatchObject({ key_name: "dashboard", operator: true });
  const again = (await fanfold(["dashboard", "--json"], { env: { ...env, FANFOLD_PUBLIC_URL: url } })).json();
  expect(again.key_id, "no second key is made").toBe(made.key_id);
  const chosen = await fanfold(["dashboard", "--url", url, "--as", key.split("_")[2]!, "--json"], { env });
  expect(await signedIn(chosen.json().url)).toMatchObject({ key_name: "test" });
  const wrong = await fanfold(["dashboard", "--url", url, "--key", `${key.slice(0, -4)}AAAA`], { env });
  expect(wrong).toMatchObject({ code: 4, err: expect.stringContaining("not valid") });
  server.signal("SIGTERM");
  expect((await server.done).code).toBe(0);
});

describe("up", () => {
  beforeAll(async () => {
    await migratedFolder(path.join(folder, "embedded"));
    // A link to a page that is not there would be none: a page stands in for the built one.
    if (hasDashboard()) return;
    await mkdir(path.join(dashboard_folder, "ui"), { recursive: true });
    await writeFile(path.join(dashboard_folder, "index.html"), "<!doctype html><base href='/'>");
    return () => rm(dashboard_folder, { recursive: true, force: true });
  });
  const data = () => ["--data-dir", path.join(folder, "embedded")];

  test("on the embedded database serves HTTP, with a first key that is shown once and may do everything", async () => {
    const first = start(["up", "--port", "0", ...data()]);
    await first.until("stop      Ctrl-C");
    const url = urlIn(first.out());
    const [shown = ""] = /ff_live_\w{12}_[\w-]{43}/.exec(first.out()) ?? [];
    expect((await fetch(`${url}/api/jobs`)).status).toBe(401);
    const submitted = await post(`${url}/api/jobs/submit/hello_world`, { parameters: { n: 2 } }, shown);
    expect(submitted.status).toBe(201);
    const preflight = await fetch(`${url}/api/health/preflight`, { headers: { authorization: `Bearer ${shown}` } });
    expect(await preflight.json()).toMatchObject({ ok: true });
    first.signal("SIGINT");
    expect(await first.done).toMatchObject({ code: 0, err: expect.stringContaining("stopped gracefully") });
    const again = start(["up", "--port", "0", "--json", ...data()]);
    await again.until('"http"');
    expect(again.out()).not.toContain("ff_live_");
    const { http, sign_in } = JSON.parse(again.out());
    expect(sign_in).toMatch(new RegExp(`^${http.url}/sign-in#code=ffl_[\\w-]{43}$`));
    const code = new URL(sign_in).hash.replace("#code=", "");
    const signIn = () => post(`${http.url}/api/session`, { code });
    expect(await (await signIn()).json()).toMatchObject({ tenant_id: "default", operator: true });
    expect((await signIn()).status, "it signs in once").toBe(401);
    const jobs = await fetch(`${http.url}/api/jobs`, { headers: { authorization: `Bearer ${shown}` } });
    expect(jobs.status).toBe(200);
    again.signal("SIGTERM");
    expect((await again.done).code).toBe(0);
  });

  test("while it holds the embedded database, other commands are told where it answers", async () => {
    const up = start(["up", "--port", "0", ...data()]);
    await up.until("stop      Ctrl-C");
    const url = urlIn(up.out());
    const refused = await fanfold(["jobs", ...data()]);
    expect(refused).toMatchObject({ code: 5, err: expect.stringContaining(`its HTTP API at ${url}`) });
    up.signal("SIGTERM");
    expect((await up.done).code).toBe(0);
    await expect(access(path.join(folder, "embedded", "serving.json"))).rejects.toThrow();
    const serve = start(["serve", "--port", "0", ...data()]);
    await serve.until("stop      Ctrl-C");
    expect(serve.out()).toContain("none in this process: fanfold serve --worker");
    expect(serve.err()).not.toContain("FANFOLD_SECRET_KEY");
    serve.signal("SIGTERM");
    expect((await serve.done).code).toBe(0);
  });

  test("on the embedded database a port that is taken is an error; --no-http needs none", async () => {
    const { port, close } = await taken();
    const refused = await fanfold(["up", ...data()], { env: { FANFOLD_PORT: String(port) } });
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining("fanfold up --no-http") });
    const without = start(["up", "--no-http", ...data()], { env: { FANFOLD_PORT: String(port) } });
    await without.until("is up");
    expect(without.out()).not.toContain("http://");
    without.signal("SIGTERM");
    expect((await without.done).code).toBe(0);
    await close();
  });

  test("on a server it goes on without HTTP as a role that must not serve, unless a port was asked for", async () => {
    const as_superuser = { ...env, DATABASE_URL: database.url };
    const up = start(["up"], { env: as_superuser });
    await up.until("is up");
    expect(up.err()).toContain("no HTTP here: the service must not run as role");
    up.signal("SIGTERM");
    expect((await up.done).code).toBe(0);
    expect((await fanfold(["up", "--port", "0"], { env: as_superuser })).code).toBe(4);
    const served = start(["up", "--port", "0"], { env });
    await served.until("stop      Ctrl-C");
    expect((await fetch(`${urlIn(served.out())}/api/health/live`)).status).toBe(200);
    served.signal("SIGTERM");
    expect((await served.done).code).toBe(0);
  });

  test("the server's role sees whether there are workers, which, and what they can run", async () => {
    const workersOf = async () => {
      const { findings } = (await fanfold(["doctor", "--json"], { env })).json();
      return findings.find(({ name }: { name: string }) => name === "workers");
    };
    expect(await workersOf()).toMatchObject({ level: "warn", message: expect.stringContaining("no live worker") });
    expect((await fanfold(["workers"], { env })).out).toContain("start one: fanfold up");
    const up = start(["up", "--port", "0"], { env });
    await up.until("stop      Ctrl-C");
    expect(up.err()).toContain("openssl rand -base64 32");
    expect(await workersOf()).toMatchObject({ level: "ok", message: expect.stringContaining("1 live") });
    for (const width of [100, Number.POSITIVE_INFINITY]) {
      const { out } = await fanfold(["workers"], { env, width });
      expect(out).toMatch(/WORKER +STATUS +HOST[^\n]+HEARD OF\n\S+ +live .+ ago\n/);
      expect(out).toMatch(/\n {2}types {3}connector\./);
      expect(Math.max(...out.split("\n").map((line) => line.length))).toBeLessThanOrEqual(100);
    }
    const listed = (await fanfold(["workers", "--json"], { env })).json();
    expect(listed.workers).toMatchObject([{ status: "live", slots: 8, held: expect.any(Number) }]);

    const url = urlIn(up.out());
    const saved = await fetch(`${url}/api/blueprints/greet_all`, {
      method: "PUT",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: (await documented()).blueprint,
    });
    expect(saved.status, await saved.text()).toBe(201);
    const body = JSON.parse((await documented()).submit);
    const { job_id } = (await (await post(`${url}/api/jobs/submit/greet_all`, body)).json()) as { job_id: string };
    expect((await fanfold(["watch", job_id, "--json"], { env })).lines().at(-1)).toMatchObject({ status: "completed" });
    expect((await fanfold(["blueprints"], { env })).out).toMatch(/greet_all +saved, version 1 +greet → reply/);
    const shown = await fanfold(["blueprints", "show", "hello_world"], { env });
    expect(shown.out).toContain("stage 2     reply: hello.reply (match_previous)");
    expect(await fanfold(["blueprints", "show", "helo_world"], { env })).toMatchObject({ code: 2 });
    up.signal("SIGTERM");
    expect((await up.done).code).toBe(0);
  });
});
