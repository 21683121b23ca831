// Keys, tenants and limits over HTTP: who may hand out what, what is shown once, and what another tenant sees of it (nothing).
import { afterAll, beforeAll, expect, test } from "vitest";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { openService, type TestService } from "./service.js";

let service: TestService;
beforeAll(async () => {
  service = await openService({
    jobs: [
      defineJob({ type: "greet", stages: [{ name: "say", task: "t.say" }] }),
      defineJob({
        type: "coded",
        stages: [{ name: "each", task: "t.say", tasks: () => Array.from({ length: 5 }, () => ({ parameters: {} })) }],
      }),
    ],
    handlers: [defineHandler("t.say", {}, () => ({ said: true }))],
  });
});
afterAll(() => service.close());

async function make(body: object, key?: string) {
  const made = await service.call("POST", "/api/keys", { body: { name: "made", scopes: ["read"], ...body }, key });
  expect(made.status).toBe(201);
  return made.body as { key: string; key_id: string };
}

test("a key is shown whole when it is made, and never again", async () => {
  const made = await make({ name: "nightly import", scopes: ["submit", "read"], env: "test" });
  expect(made.key).toMatch(new RegExp(`^ff_test_${made.key_id}_[\\w-]{43}$`));
  const secret = made.key.split("_").slice(3).join("_");
  const hash = (
    await service.db.sql<{ h: string }>`
    select encode(secret_hash, 'hex') as h from app.api_keys where key_id = ${made.key_id}`
  )[0]!.h;
  const { body: got } = await service.call("GET", `/api/keys/${made.key_id}`);
  const { body: listed } = await service.call("GET", "/api/keys");
  const told = JSON.stringify([got, listed, await service.db.sql`select * from app.events`]);
  expect(got).toMatchObject({ name: "nightly import", scopes: ["read", "submit"], status: "active", operator: false });
  expect(listed.keys.map((one: { key_id: string }) => one.key_id)).toContain(made.key_id);
  expect(told).not.toContain(secret);
  expect(told).not.toContain(hash);
  expect((await service.call("GET", "/api/jobs", { key: made.key })).status).toBe(200);
  // Cut short, of another environment, with another secret, beside the header: one answer to all of them.
  for (const wrong of [
    made.key.slice(0, -1),
    made.key.replace("_test_", "_live_"),
    `${made.key.slice(0, -2)}zz`,
    "ff_",
    "x",
  ]) {
    const refused = await service.call("GET", "/api/jobs", { key: wrong });
    expect(refused.status, wrong).toBe(401);
    expect(JSON.stringify(refused.body)).not.toContain(secret.slice(0, 20));
  }
  expect((await service.call("GET", `/api/jobs?key=${made.key}`, { key: null })).status).toBe(401);
});

test("keys are listed by pages, newest first, and a forged cursor is refused", async () => {
  const key = await service.key("pages");
  const ids: string[] = [];
  for (let i = 0; i < 4; i++) ids.unshift((await make({ name: `page ${i}` }, key)).key_id);
  const seen: string[] = [];
  for (let next: string | null = ""; next !== null; ) {
    const { body } = await service.call("GET", `/api/keys?limit=2${next && `&cursor=${next}`}`, { key });
    seen.push(...body.keys.map((one: { key_id: string }) => one.key_id));
    next = body.next;
  }
  expect(seen.slice(0, 4)).toEqual(ids);
  expect(seen).toHaveLength(5);
  for (const forged of ["x';drop", "%00", "1-aaaaaaaaaaaa%00", "99999999999999999-aaaaaaaaaaaa", "-1"]) {
    const { status } = await service.call("GET", `/api/keys?cursor=${forged}`, { key });
    expect([forged, status]).toEqual([forged, forged.startsWith("9") ? 200 : 400]);
  }
});

test("a key hands out only what it has, and only operators make operators", async () => {
  const clerk = await service.key("default", ["admin", "read"]);
  const more = await service.call("POST", "/api/keys", { key: clerk, body: { name: "x", scopes: ["read", "submit"] } });
  expect(more).toMatchObject({ status: 403, body: { detail: expect.stringContaining("lacks submit") } });
  const operator = await service.call("POST", "/api/keys", { body: { name: "x", scopes: ["read"], operator: true } });
  expect(operator).toMatchObject({ status: 403, body: { detail: expect.stringContaining("operator") } });
  // Nor by way of a rotation.
  const strong = await make({ scopes: ["submit"] });
  const chief = await service.key("default", undefined, { operator: true });
  const made = await service.call("POST", "/api/keys", {
    key: chief,
    body: { name: "x", scopes: ["read"], operator: true },
  });
  expect(made).toMatchObject({ status: 201, body: { operator: true } });
  for (const id of [strong.key_id, made.body.key_id]) {
    expect((await service.call("POST", `/api/keys/${id}/rotate`, { key: clerk, body: {} })).status).toBe(403);
  }
  expect((await service.call("DELETE", `/api/keys/${made.body.key_id}`, { key: clerk })).status).toBe(403);
  const all = await service.call("POST", "/api/keys", {
    body: { name: "", scopes: ["fly"], expires_at: "soon", x: 1 },
  });
  expect(all.status).toBe(400);
  expect(all.body.problems.map((one: { path: string }) => one.path)).toEqual(
    expect.arrayContaining(["body.name", "body.scopes[0]", "body.expires_at"]),
  );
  const past = await service.call("POST", "/api/keys", {
    body: { name: "x", scopes: ["read"], expires_at: "2020-01-01T00:00:00Z" },
  });
  expect(past).toMatchObject({ status: 400, body: { problems: [{ path: "$.expires_at" }] } });
});

test("a rotated key goes on for the overlap, and the new one has its name and rights", async () => {
  const old = await make({ name: "turning", scopes: ["read"], env: "test" });
  const rotated = await service.call("POST", `/api/keys/${old.key_id}/rotate`, { body: { overlap_s: 600 } });
  expect(rotated).toMatchObject({
    status: 201,
    body: {
      old: { status: "ending" },
      new: { name: "turning", scopes: ["read"], rotated_from: old.key_id, env: "test" },
    },
  });
  expect(rotated.body.old.key).toBeUndefined();
  for (const key of [old.key, rotated.body.new.key]) {
    expect((await service.call("GET", "/api/jobs", { key })).status).toBe(200);
  }
  expect((await service.call("POST", `/api/keys/${old.key_id}/rotate`, { body: {} })).status).toBe(409);
  const at_once = await service.call("POST", `/api/keys/${rotated.body.new.key_id}/rotate`, { body: { overlap_s: 0 } });
  expect(at_once.status).toBe(201);
  expect((await service.call("GET", "/api/jobs", { key: rotated.body.new.key })).status).toBe(401);
  expect((await service.call("POST", `/api/keys/${old.key_id}/rotate`, { body: { overlap_s: -1 } })).status).toBe(400);
});

test("a revoked key is refused by this server at once, twice revoked is no error, and events tell who", async () => {
  const made = await make({ name: "leaked" });
  expect((await service.call("GET", "/api/jobs", { key: made.key })).status).toBe(200);
  const path = `/api/keys/${made.key_id}?reason=leaked&actor=ada`;
  expect(await service.call("DELETE", path)).toMatchObject({ status: 200, body: { status: "revoked" } });
  expect((await service.call("GET", "/api/jobs", { key: made.key })).status).toBe(401);
  expect((await service.call("DELETE", path)).status).toBe(200);
  const events = await service.db.sql`
    select kind, actor, reason from app.events where data ->> 'key_id' = ${made.key_id} order by event_id`;
  expect(events).toMatchObject([{ kind: "key.created" }, { kind: "key.revoked", reason: "leaked" }]);
  expect(events[1]!.actor).toMatch(/^key:[a-z0-9]{12} \(ada\)$/);
});

test("another tenant's keys do not exist, whatever is done to them", async () => {
  const made = await make({ name: "ours" });
  const stranger = await service.key("strangers");
  for (const [method, path, body] of [
    ["GET", `/api/keys/${made.key_id}`],
    ["POST", `/api/keys/${made.key_id}/rotate`, {}],
    ["DELETE", `/api/keys/${made.key_id}`],
  ] as const) {
    const answer = await service.call(method, path, { key: stranger, body });
    const of_nobody = await service.call(method, path.replace(made.key_id, "aaaaaaaaaaaa"), { key: stranger, body });
    expect([answer.status, of_nobody.status]).toEqual([404, 404]);
    expect(answer.body.detail.replace(made.key_id, "")).toBe(of_nobody.body.detail.replace("aaaaaaaaaaaa", ""));
  }
  const { body } = await service.call("GET", "/api/keys", { key: stranger });
  expect(JSON.stringify(body)).not.toContain(made.key_id);
  expect((await service.call("GET", "/api/jobs", { key: made.key })).status).toBe(200);
});

test("tenants are the operators' business", async () => {
  const chief = await service.key("default", undefined, { operator: true });
  const made = await service.call("POST", "/api/tenants", { key: chief, body: { tenant_id: "acme", name: "Acme" } });
  expect(made).toMatchObject({ status: 201, body: { tenant_id: "acme", name: "Acme", created: true } });
  const again = await service.call("POST", "/api/tenants", { key: chief, body: { tenant_id: "acme", name: "Other" } });
  expect(again).toMatchObject({ status: 200, body: { name: "Acme", created: false } });
  expect(await service.call("PATCH", "/api/tenants/acme", { key: chief, body: { name: "Acme Ltd." } })).toMatchObject({
    status: 200,
    body: { name: "Acme Ltd." },
  });
  expect((await service.call("GET", "/api/tenants/nobody", { key: chief })).status).toBe(404);
  const first = await service.call("GET", "/api/tenants?limit=1", { key: chief });
  const second = await service.call("GET", `/api/tenants?limit=1&cursor=${first.body.next}`, { key: chief });
  expect(first.body.tenants[0].tenant_id).toBe("acme");
  expect(second.body.tenants[0].tenant_id).toBe("default");
  // Its first key, and with it nobody else's.
  const key = await service.call("POST", "/api/tenants/acme/keys", {
    key: chief,
    body: { name: "first", scopes: ["admin"] },
  });
  expect(key).toMatchObject({ status: 201, body: { tenant_id: "acme" } });
  for (const path of ["/api/tenants", "/api/tenants/acme", "/api/limits/acme"]) {
    expect((await service.call("GET", path, { key: key.body.key })).status).toBe(403);
  }
  const bad = await service.call("POST", "/api/tenants", { key: chief, body: { tenant_id: "Not A Name", name: "" } });
  expect(bad).toMatchObject({ status: 400 });
  expect(bad.body.problems).toHaveLength(2);
});

test("limits are set by operators, seen by their tenant, and answered with 429, 413 and 422", async () => {
  const chief = await service.key("default", undefined, { operator: true });
  const key = await service.key("small");
  const put = (body: object) => service.call("PUT", "/api/limits/small", { key: chief, body });
  const submit = (n: number, more = {}) =>
    service.call("POST", "/api/jobs/submit/greet", { key, body: { parameters: { n, ...more } } });
  expect(await put({ queued_tasks: 1, submit_bytes: 50 })).toMatchObject({
    status: 200,
    body: { limits: { queued_tasks: 1, submit_bytes: 50, fan_out: null }, usage: { queued_tasks: 0 } },
  });
  expect((await submit(1)).status).toBe(201);
  const refused = await submit(2);
  expect(refused).toMatchObject({
    status: 429,
    body: { code: "over_limit", retry_after_s: 1, problems: [{ path: "limits.queued_tasks" }] },
  });
  expect(refused.body.detail).toContain("1 tasks are queued, this call brings 1, and the limit is 1");
  expect(refused.headers.get("retry-after")).toBe("1");
  expect(await submit(3, { text: "x".repeat(60) })).toMatchObject({ status: 413, body: { code: "too_large" } });
  expect(await service.call("GET", "/api/limits", { key })).toMatchObject({
    status: 200,
    body: { tenant_id: "small", limits: { queued_tasks: 1 }, usage: { queued_tasks: 1 } },
  });
  expect((await put({ queued_tasks: null, submits_per_s: 0.01, submit_burst: 1 })).status).toBe(200);
  expect((await submit(4)).status).toBe(201);
  const slow = await submit(5);
  expect(slow).toMatchObject({ status: 429, body: { problems: [{ path: "limits.submits_per_s" }] } });
  expect(Number(slow.headers.get("retry-after"))).toBeGreaterThan(50);
  expect((await put({ fan_out: 0, colour: 1 })).status).toBe(400);
  expect((await service.call("PUT", "/api/limits/nobody", { key: chief, body: {} })).status).toBe(404);
  // Nobody else feels it.
  expect((await service.call("POST", "/api/jobs/submit/greet", { body: { parameters: { other: 1 } } })).status).toBe(
    201,
  );
});

test("a stage that code plans wider than the limit fails for good, and says which limit", async () => {
  const chief = await service.key("default", undefined, { operator: true });
  const key = await service.key("narrow");
  await service.call("PUT", "/api/limits/narrow", { key: chief, body: { fan_out: 4 } });
  await service.worker();
  const { body: job } = await service.call("POST", "/api/jobs/submit/coded", { key, body: {} });
  const ended = await service.engine.forTenant("narrow").wait(job.job_id);
  expect(ended).toMatchObject({ status: "failed" });
  expect(ended.stages[0]).toMatchObject({
    status: "failed",
    error: {
      code: "beyond_limit",
      category: "permanent",
      message: expect.stringMatching(/5 tasks.*4 in one stage \(limit fan_out\)/),
    },
  });
  const tries = await service.db.sql`select attempt from app.attempts where tenant_id = 'narrow'`;
  expect(tries).toHaveLength(1);
});
