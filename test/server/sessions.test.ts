// Signing in with a browser: a session has its key's rights and its key's life, a link works once, and a cookie that another page
// sends opens nothing.
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { tokenHash } from "../../src/core/values/session_token.js";
import { openServer } from "../../src/engine/database/server_database.js";
import { createSignInLink, findSession, openSession, takeSignInLink } from "../../src/engine/verbs/sessions.js";
import { KeyAuthenticator } from "../../src/server/access/auth.js";
import { Authentication, createAuthentication } from "../../src/server/access/authentication.js";
import { FailedSignIns } from "../../src/server/access/failed_sign_ins.js";
import { SessionAuthenticator, sessionAuthorization } from "../../src/server/access/sessions.js";
import { readEvents } from "./event_reader.js";
import { type Answered, openService, type TestService } from "./service.js";

let service: TestService;
const own = { "x-fanfold-request": "1" };

beforeAll(async () => {
  service = await openService(
    {
      jobs: [defineJob({ type: "greet", stages: [{ name: "say", task: "t.say" }] })],
      handlers: [defineHandler("t.say", {}, () => null)],
    },
    { cors_origins: ["*"] },
  );
});
afterAll(() => service.close());

interface SignedIn {
  cookie: string;
  token: string;
  answer: Answered;
}

async function signIn(body: unknown, headers: Record<string, string> = {}): Promise<SignedIn> {
  const answer = await service.call("POST", "/api/session", { key: null, body, headers });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  const cookie = answer.headers.get("set-cookie")!.split(";")[0]!;
  return { cookie, token: cookie.split("=")[1]!, answer };
}

const as = (cookie: string, method: string, path: string, headers: Record<string, string> = own, body?: unknown) =>
  service.call(method, path, { key: null, headers: { cookie, ...headers }, body });

describe("signing in", () => {
  test("a key becomes a cookie that scripts cannot read, and the session tells who it is", async () => {
    const { answer, cookie } = await signIn({ key: await service.key("acme", ["read", "submit"]) });
    const set = answer.headers.get("set-cookie")!;
    expect(set).toMatch(/^fanfold_session_\d+=ffs_[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict$/);
    const known = {
      tenant_id: "acme",
      tenant_name: null,
      key_name: "test",
      scopes: ["submit", "read"],
      operator: false,
      catalog: false,
      version: expect.any(String),
      actor: expect.stringMatching(/^key:/),
    };
    expect(answer.body).toMatchObject(known);
    expect((await as(cookie, "GET", "/api/session")).body).toEqual(answer.body);
    const hours = (Date.parse(answer.body.expires_at) - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(11.9);
    expect(hours).toBeLessThan(12.1);
    expect(await service.call("GET", "/api/session")).toMatchObject({ status: 200, body: { expires_at: null } });
    expect((await service.call("GET", "/api/session", { key: null })).status).toBe(401);
  });

  test("over TLS the cookie is Secure, as the browser's own Origin says where the proxy says nothing", async () => {
    const host = new URL(service.url).host;
    const { answer } = await signIn({ key: await service.key() }, { origin: `https://${host}` });
    expect(answer.headers.get("set-cookie")).toMatch(/; Secure$/);
  });

  test("over TLS a browser takes the cookie from this host only, and one that a neighbour planted does not stand in for it", async () => {
    const origin = `https://${new URL(service.url).host}`;
    const own_session = await signIn({ key: await service.key("acme") }, { origin });
    expect(own_session.cookie).toMatch(/^__Host-fanfold_session_\d+=/);
    const planted = await signIn({ key: await service.key("globex") });
    // A planted cookie with a longer path comes first.
    const both = `${planted.cookie}; ${own_session.cookie}`;
    expect((await as(both, "GET", "/api/session")).body).toMatchObject({ tenant_id: "acme" });
    const out = await as(both, "DELETE", "/api/session", { ...own, origin });
    expect(out.headers.get("set-cookie")).toMatch(/^__Host-fanfold_session_\d+=; Path=\/; Max-Age=0; .*; Secure$/);
    expect((await as(own_session.cookie, "GET", "/api/session")).status).toBe(401);
  });

  test("what the browser was signed in with before is over when it signs in again", async () => {
    const first = await signIn({ key: await service.key("acme") });
    const second = await signIn({ key: await service.key("globex") }, { cookie: first.cookie });
    expect((await as(first.cookie, "GET", "/api/session")).status).toBe(401);
    expect((await as(second.cookie, "GET", "/api/session")).body).toMatchObject({ tenant_id: "globex" });
    const wrong = { key: null, body: { key: "let me in" }, headers: { cookie: second.cookie } };
    expect((await service.call("POST", "/api/session", wrong)).status).toBe(401);
    expect((await as(second.cookie, "GET", "/api/session")).status, "but not by a try that fails").toBe(200);
  });

  test("only hashes are kept", async () => {
    const key = await service.key();
    const { token } = await signIn({ key });
    const { code } = await createSignInLink(service.engine.db, { tenant_id: "default", key_id: key.split("_")[2]! });
    const rows = await service.db.sql<{ text: string }>`select s::text as text from app.sessions s`;
    const all = rows.map(({ text }) => text).join();
    expect(all).toContain(tokenHash(token));
    for (const secret of [token, code]) expect(all).not.toContain(secret.slice(4));
  });

  test("a wrong key, a code that never was, both and none are refused, and whoever goes on waits", async () => {
    const key = await service.key();
    const tries = async (body: unknown) => (await service.call("POST", "/api/session", { key: null, body })).status;
    expect(await tries({ key: `${key.slice(0, -4)}AAAA` })).toBe(401);
    expect(await tries({ key: "let me in" })).toBe(401);
    expect(await tries({ code: `ffl_${"A".repeat(43)}` })).toBe(401);
    expect(await tries({})).toBe(400);
    expect(await tries({ key, code: "x" })).toBe(400);
    const authenticator = createAuthentication({ db: service.engine.db, attempts: new FailedSignIns({ burst: 2 }) });
    const guarded = await openService({}, { authenticator });
    try {
      const statuses: number[] = [];
      for (let n = 0; n < 3; n++) {
        const body = { key: `${key.slice(0, -4)}AAA${n}` };
        statuses.push((await guarded.call("POST", "/api/session", { key: null, body })).status);
      }
      expect(statuses).toEqual([401, 401, 429]);
    } finally {
      await guarded.close();
    }
  });

  test("signing in and links are in the history, for whoever may see to keys", async () => {
    const key = await service.key("audited");
    await signIn({ key });
    await service.call("POST", "/api/session/link", { key });
    const kinds = await service.db.sql<{ kind: string; key_id: string }>`
      select kind, data ->> 'key_id' as key_id from app.events where tenant_id = 'audited' and kind <> 'key.created' order by event_id`;
    const key_id = key.split("_")[2];
    expect(kinds.filter(({ kind }) => kind.startsWith("key."))).toEqual([
      { kind: "key.signed_in", key_id },
      { kind: "key.link_made", key_id },
    ]);
  });
});

describe("a session", () => {
  test("does what its key may, in its key's tenant, and nothing else", async () => {
    const { cookie } = await signIn({ key: await service.key("acme", ["read", "submit"]) });
    const made = await as(cookie, "POST", "/api/jobs/submit/greet", own, { parameters: { by: "cookie" } });
    expect(made.status).toBe(201);
    expect((await as(cookie, "GET", `/api/jobs/${made.body.job_id}`)).status).toBe(200);
    expect(await as(cookie, "POST", `/api/jobs/${made.body.job_id}/cancel`)).toMatchObject({
      status: 403,
      body: { code: "forbidden", hint: expect.stringContaining("operate") },
    });
    const { cookie: other } = await signIn({ key: await service.key("globex") });
    expect((await as(other, "GET", `/api/jobs/${made.body.job_id}`)).status).toBe(404);
  });

  test("a change of its key's scopes is a change of its own", async () => {
    const made = await service.engine.keys.create({ name: "shrinks", scopes: ["read", "submit"] });
    const elsewhere = openServer(service.server_url, { max: 2 });
    let clock = 1;
    const keys = new KeyAuthenticator(elsewhere, { now: () => clock });
    const sessions = new SessionAuthenticator(elsewhere, keys, { now: () => clock });
    const { token } = await openSession(service.engine.db, { tenant_id: "default", key_id: made.key_id });
    const authorization = sessionAuthorization(token);
    expect([...(await sessions.authenticate(authorization)).scopes].sort()).toEqual(["read", "submit"]);
    await service.db.sql`update app.api_keys set scopes = '{read}' where key_id = ${made.key_id}`;
    clock += 5_000;
    expect([...(await sessions.authenticate(authorization)).scopes]).toEqual(["read"]);
    await sessions.close();
    await keys.close();
    await elsewhere.close();
  });

  test("ends with its key: at once where that was revoked, and within five seconds elsewhere", async () => {
    const made = await service.engine.keys.create({ name: "ends", scopes: ["read"] });
    const { cookie, token } = await signIn({ key: made.key });
    const elsewhere = openServer(service.server_url, { max: 2 });
    let clock = 1;
    const keys = new KeyAuthenticator(elsewhere, { now: () => clock });
    const sessions = new SessionAuthenticator(elsewhere, keys, { now: () => clock });
    await sessions.authenticate(sessionAuthorization(token));
    expect((await as(cookie, "GET", "/api/jobs")).status).toBe(200);
    await service.engine.keys.revoke(made.key_id);
    expect(await as(cookie, "GET", "/api/jobs")).toMatchObject({
      status: 401,
      body: { code: "unauthenticated", detail: "the key of this session has ended" },
    });
    clock += 3_999;
    await sessions.authenticate(sessionAuthorization(token));
    clock += 2;
    await expect(sessions.authenticate(sessionAuthorization(token))).rejects.toMatchObject({ code: "unauthenticated" });
    await sessions.close();
    await keys.close();
    await elsewhere.close();
  });

  test("lasts 12 hours after its last use, and 7 days at most", async () => {
    const { token } = await signIn({ key: await service.key() });
    const hash = tokenHash(token);
    const age = (created: string, used: string, expires: string) =>
      service.db.sql`
        update app.sessions set created_at = now() - ${created}::text::interval, last_used_at = now() - ${used}::text::interval,
          expires_at = now() + ${expires}::text::interval where token_hash = decode(${hash}, 'hex')`;
    const left = async () => (await findSession(service.engine.db, hash))?.usable_for_s ?? null;
    const touch = () => service.engine.db.sql`select app.touch_sessions(${JSON.stringify([hash])}::text::json)`;
    await age("2 days", "1 hour", "11 hours");
    await touch();
    expect(await left()).toBeGreaterThan(12 * 3600 - 60);
    await age("30 seconds", "30 seconds", "11 hours");
    await touch();
    expect(await left(), "one write a minute").toBeLessThan(11 * 3600 + 1);
    await age("6 days 23 hours", "1 hour", "11 hours");
    await touch();
    expect(await left()).toBeLessThan(3601);
    await age("1 day", "13 hours", "-1 hour");
    await touch();
    expect(await left()).toBeNull();
    await expect(service.engine.db.sql`select app.end_session(${hash})`.then(() => left())).resolves.toBeNull();
  });

  test("signing out ends it, and a browser without one signs out as well", async () => {
    const { cookie } = await signIn({ key: await service.key() });
    const out = await as(cookie, "DELETE", "/api/session");
    expect(out.status).toBe(204);
    expect(out.headers.get("set-cookie")).toMatch(/^fanfold_session_\d+=; Path=\/; Max-Age=0; HttpOnly/);
    expect((await as(cookie, "GET", "/api/session")).status).toBe(401);
    expect((await as(cookie, "DELETE", "/api/session")).status).toBe(204);
    expect((await service.call("DELETE", "/api/session", { key: null })).status).toBe(204);
  });

  test("what has ended is swept away when somebody signs in, and one key keeps a hundred at most", async () => {
    const made = await service.engine.keys.create({ name: "many", scopes: ["read"] });
    const of = { tenant_id: "default", key_id: made.key_id };
    for (let n = 0; n < 103; n++) await openSession(service.engine.db, of);
    const count = async () => {
      const [row] = await service.db.sql<{ n: number }>`
        select count(*)::integer as n from app.sessions where key_id = ${made.key_id}`;
      return row!.n;
    };
    expect(await count()).toBe(100);
    await service.db.sql`update app.sessions set expires_at = now() - interval '1 hour' where key_id = ${made.key_id}`;
    await signIn({ key: await service.key() });
    expect(await count()).toBe(0);
  });

  test("does not do a worker's part, and makes no links", async () => {
    const { cookie } = await signIn({ key: await service.key() });
    const worker = { types: ["t.say"], slots: 1, lease_s: 30 };
    expect(await as(cookie, "POST", "/api/workers/register", own, worker)).toMatchObject({
      status: 403,
      body: { hint: expect.stringContaining("a worker sends a key") },
    });
    expect(await as(cookie, "POST", "/api/session/link")).toMatchObject({ status: 403 });
    const made = await as(cookie, "POST", "/api/keys", own, { name: "for a worker", scopes: ["work"] });
    expect(made.status, "it hands out all that its key may").toBe(201);
  });

  test("reads no metrics: those are for scrapers, who have a header", async () => {
    const key = await service.key("default", ["read", "admin"], { operator: true });
    const { cookie } = await signIn({ key });
    expect((await as(cookie, "GET", "/metrics")).status).toBe(401);
    expect((await service.call("GET", "/metrics", { key })).status).toBe(200);
  });

  test("follows the stream, which ends when the session does", async () => {
    const { cookie } = await signIn({ key: await service.key() });
    const stream = await readEvents(`${service.url}/api/stream`, { key: null, headers: { cookie } });
    expect(stream.status).toBe(200);
    await stream.until(({ event }) => event === "ready");
    await as(cookie, "DELETE", "/api/session");
    expect((await stream.until(({ event }) => event === "end")).data).toMatchObject({ reason: "revoked" });
  });

  test("sessions that ended do not keep their owner from signing in", async () => {
    const key = await service.key();
    const attempts = new FailedSignIns({ burst: 3, per_s: 0.001 });
    const keys = new KeyAuthenticator(service.engine.db);
    const door = new Authentication([keys, new SessionAuthenticator(service.engine.db, keys)], attempts);
    for (let n = 0; n < 50; n++) {
      const stale = sessionAuthorization(`ffs_${"A".repeat(41)}${String(n).padStart(2, "0")}`);
      await expect(door.authenticate(stale, "192.0.2.9")).rejects.toMatchObject({ code: "unauthenticated" });
    }
    await door.authenticate(`Bearer ${key}`, "192.0.2.9");
    await door.close();
  });
});

describe("a link", () => {
  const keyOf = async () => ({ tenant_id: "default", key_id: (await service.key()).split("_")[2]! });

  test("is made with a key, and its code signs in once", async () => {
    const { status, body } = await service.call("POST", "/api/session/link", { key: await service.key("acme") });
    expect(status).toBe(201);
    expect(body.url).toMatch(new RegExp(`^${service.url}/sign-in#code=ffl_[\\w-]{43}$`));
    const code = new URL(body.url).hash.replace("#code=", "");
    // A preview of the link looks at the page, and uses nothing up.
    await fetch(body.url, { headers: { accept: "text/html" } });
    const { cookie } = await signIn({ code });
    expect((await as(cookie, "GET", "/api/session")).body).toMatchObject({ tenant_id: "acme" });
    expect(await service.call("POST", "/api/session", { key: null, body: { code } })).toMatchObject({
      status: 401,
      body: { detail: expect.stringContaining("it was used, or is older than ten minutes") },
    });
  });

  test("leads to the service, not to where a caller's Host header says", async () => {
    const authorization = `Bearer ${await service.key()}`;
    const answer = await new Promise<string>((resolve, reject) => {
      const asked = request(`${service.url}/api/session/link`, {
        method: "POST",
        headers: { host: "evil.example", authorization },
      });
      asked
        .on("error", reject)
        .on("response", (response) => text(response).then(resolve, reject))
        .end();
    });
    expect(new URL(JSON.parse(answer).url).origin).toBe(service.url);
  });

  test("used twice at the same time signs in once", async () => {
    const { code } = await createSignInLink(service.engine.db, await keyOf());
    const second = openServer(service.server_url, { max: 1 });
    let other: Promise<unknown> = Promise.resolve();
    // The first holds the link in an open transaction until the second waits for it.
    const first = await service.db.transaction(async (tx) => {
      const taken = await takeSignInLink(tx, code);
      other = takeSignInLink(second, code);
      for (let waiting = 0; waiting === 0; ) {
        const [row] = await service.engine.db.sql<{ n: number }>`
          select count(*)::integer as n from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock' and query like '%use_sign_in_link%'`;
        waiting = row!.n;
      }
      return taken;
    });
    expect(first).toMatchObject({ token: expect.stringMatching(/^ffs_/) });
    expect(await other).toBeNull();
    await second.close();
  });

  test("of two calls at the same moment one wins", async () => {
    const { code } = await createSignInLink(service.engine.db, await keyOf());
    const tries = Array.from({ length: 8 }, () => service.call("POST", "/api/session", { key: null, body: { code } }));
    const statuses = (await Promise.all(tries)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(1);
    expect(statuses.filter((status) => status === 401)).toHaveLength(7);
  });

  test("that is older than ten minutes, or whose key has ended, signs nobody in", async () => {
    const old = await createSignInLink(service.engine.db, await keyOf());
    const minutes = (Date.parse(old.expires_at) - Date.now()) / 60_000;
    expect(minutes).toBeGreaterThan(9.5);
    expect(minutes).toBeLessThan(10.1);
    await service.db.sql`
      update app.sessions set expires_at = now() - interval '1 second' where token_hash = decode(${tokenHash(old.code)}, 'hex')`;
    expect(await takeSignInLink(service.engine.db, old.code)).toBeNull();
    const made = await service.engine.keys.create({ name: "gone", scopes: ["read"] });
    const of_gone = { tenant_id: "default", key_id: made.key_id };
    const { code } = await createSignInLink(service.engine.db, of_gone);
    await service.engine.keys.revoke(made.key_id);
    expect(await takeSignInLink(service.engine.db, code)).toBeNull();
    await expect(createSignInLink(service.engine.db, of_gone)).rejects.toMatchObject({ code: "not_allowed_now" });
  });

  test("is no session: its code opens nothing as a cookie, nor does a session's token as a code", async () => {
    const { code } = await createSignInLink(service.engine.db, await keyOf());
    const { token, cookie } = await signIn({ key: await service.key() });
    const forged = cookie.replace(token, code.replace("ffl_", "ffs_"));
    expect((await as(forged, "GET", "/api/jobs")).status).toBe(401);
    const body = { code: token.replace("ffs_", "ffl_") };
    expect((await service.call("POST", "/api/session", { key: null, body })).status).toBe(401);
  });
});

describe("a cookie that another page sends", () => {
  let cookie: string;
  let host: string;
  beforeAll(async () => {
    ({ cookie } = await signIn({ key: await service.key() }));
    host = new URL(service.url).host;
  });
  const submit = (headers: Record<string, string>) => as(cookie, "POST", "/api/jobs/submit/greet", headers, {});

  test("changes nothing without the header that only our page adds", async () => {
    expect(await submit({})).toMatchObject({
      status: 403,
      body: { code: "forbidden", hint: expect.stringContaining("x-fanfold-request: 1") },
    });
    expect((await submit({ "x-fanfold-request": "true" })).status).toBe(403);
    expect((await submit(own)).status).toBe(201);
    for (const [method, path] of [
      ["DELETE", "/api/session"],
      ["PUT", "/api/groups/g1"],
      ["PATCH", "/api/tenants/acme"],
    ] as const)
      expect((await as(cookie, method, path, {})).status, `${method} ${path}`).toBe(403);
  });

  test("changes nothing where the browser says that it comes from elsewhere", async () => {
    for (const site of ["cross-site", "same-site", "none", "same-origin, cross-site"])
      expect((await submit({ ...own, "sec-fetch-site": site })).status, site).toBe(403);
    for (const origin of ["https://evil.example", "null", `http://${host}.evil.example`, `ftp://${host}`, ""])
      expect((await submit({ ...own, origin })).status, origin).toBe(403);
    expect((await submit({ ...own, "sec-fetch-site": "same-origin", origin: `http://${host}` })).status).toBe(200);
    expect((await submit({ ...own, origin: `https://${host}` })).status, "behind TLS that a proxy ends").toBe(200);
  });

  test("reads nothing where the browser says that it comes from elsewhere", async () => {
    for (const site of ["cross-site", "same-site"]) {
      for (const path of ["/api/jobs", "/api/session", "/api/stream", "/stac", "/assets/gold/x.tif"])
        expect(await as(cookie, "GET", path, { "sec-fetch-site": site }), `${site} ${path}`).toMatchObject({
          status: 403,
          body: { code: "forbidden" },
        });
    }
    for (const site of ["same-origin", "none"])
      expect((await as(cookie, "GET", "/api/jobs", { "sec-fetch-site": site })).status).toBe(200);
  });

  test("signs nobody in or out", async () => {
    const body = { key: await service.key() };
    const headers = { "sec-fetch-site": "cross-site" };
    expect((await service.call("POST", "/api/session", { key: null, body, headers })).status).toBe(403);
    expect((await as(cookie, "DELETE", "/api/session", { ...own, ...headers })).status).toBe(403);
    expect((await as(cookie, "GET", "/api/session")).status).toBe(200);
  });

  test("is never allowed along to pages of other origins, whatever the operator lets them read", async () => {
    for (const path of ["/stac", "/assets/gold/x.tif", "/api/jobs"]) {
      for (const method of ["GET", "OPTIONS"]) {
        const headers = { origin: "https://maps.example", "access-control-request-method": "GET" };
        const answer = await service.call(method, path, { headers });
        expect(answer.headers.get("access-control-allow-credentials"), `${method} ${path}`).toBeNull();
      }
    }
  });

  test("is not looked at where there is a header", async () => {
    const key = await service.key("globex", ["read"]);
    const both = { cookie, authorization: `Bearer ${key}`, "sec-fetch-site": "cross-site" };
    expect((await service.call("GET", "/api/session", { key: null, headers: both })).body).toMatchObject({
      tenant_id: "globex",
      expires_at: null,
    });
    const wrong = { cookie, authorization: "Bearer ff_live_wrong" };
    expect((await service.call("GET", "/api/jobs", { key: null, headers: wrong })).status).toBe(401);
  });

  test("of another service on another port of the machine is another cookie", async () => {
    const { port } = new URL(service.url);
    expect(cookie).toMatch(new RegExp(`^fanfold_session_${port}=`));
    const elsewhere = cookie.replace(port, String(Number(port) - 1));
    expect((await as(elsewhere, "GET", "/api/jobs")).status).toBe(401);
    expect((await as(`${elsewhere}; ${cookie}; other=1`, "GET", "/api/jobs")).status).toBe(200);
  });
});
