// connector.http.request as it runs: a worker under the server's role, a database, and a host on loopback that the operator
// has opened.
import { createHash } from "node:crypto";
import { createServer as createHttps } from "node:https";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { default_policy, guardedRequest } from "../../../src/handlers/connectors/guard/index.js";
import { selfSigned } from "../../../src/handlers/connectors/harness/index.js";
import { httpRequest } from "../../../src/handlers/connectors/http_request.js";
import { openService, type TestService } from "../../server/service.js";
import { eventually } from "../../worker/shop.js";
import { a, startDns } from "./dns_server.js";
import { type Listener, listen } from "./listener.js";

type Answer = Parameters<typeof listen>[0];

const secret = "sk/very+secret=42";
let service: TestService;
let host: Listener;
let other: Listener;
let answer: Answer;
const log_lines: string[] = [];

beforeAll(async () => {
  service = await openService({ handlers: [httpRequest] });
  host = await listen((...given) => answer(...given));
  other = await listen((_, response) => response.end("here"));
  await service.worker({
    slots: 4,
    poll_s: 0.05,
    log: pino({ level: "info" }, { write: (line: string) => void log_lines.push(line) }),
    secrets: (tenant, name) => (tenant === "default" && name === "crm_key" ? secret : null),
    outbound: {
      allow_http: true,
      allow_private: [`127.0.0.1:${host.port}`, `127.0.0.1:${other.port}`],
      refusal_ms: 0,
      max_response_bytes: 3_000_000,
    },
  });
});
afterAll(async () => {
  await service.close();
  await host.close();
  await other.close();
});
beforeEach(() => {
  host.requests.length = 0;
});

const json: Answer = (request, response) => {
  response.writeHead(200, {
    "content-type": "application/json",
    "set-cookie": "a=b",
    etag: '"1"',
    "x-internal": "10.0.0.1",
  });
  response.end(JSON.stringify({ path: request.url }));
};

async function run(parameters: Record<string, unknown>, more: { max_attempts?: number; tenant?: string } = {}) {
  const engine = service.engine.forTenant(more.tenant ?? "default");
  const { task_id } = await engine.enqueue("connector.http.request", parameters, {
    max_attempts: more.max_attempts ?? 1,
  });
  return ended(task_id, more.tenant);
}

async function ended(task_id: string, tenant = "default") {
  const engine = service.engine.forTenant(tenant);
  await eventually(async () => (await engine.task(task_id)).finished_at !== null);
  return engine.task(task_id);
}

/** Everything there is in the database, as text. */
async function rows(): Promise<string> {
  const [row] = await service.db.sql<{ text: string }>`
    select concat((select string_agg(t::text, ' ') from app.tasks t), (select string_agg(t::text, ' ') from app.results t),
      (select string_agg(t::text, ' ') from app.attempts t), (select string_agg(t::text, ' ') from app.task_logs t),
      (select string_agg(t::text, ' ') from app.events t), (select string_agg(t::text, ' ') from app.host_states t),
      (select string_agg(t::text, ' ') from app.connector_configs t)) as text`;
  return row!.text;
}

test("an answer comes back as JSON, with the headers that may be kept", async () => {
  answer = json;
  const task = await run({ url: `${host.url}/things?a=1`, query: { b: [2, "x y"], c: true } });
  expect(task).toMatchObject({
    status: "completed",
    result: { status: 200, json: { path: "/things?a=1&b=2&b=x+y&c=true" }, headers: { etag: '"1"' }, redirects: 0 },
  });
  expect(Object.keys((task.result as { headers: object }).headers).sort()).toEqual(["content-type", "date", "etag"]);
  expect(host.requests).toMatchObject([{ method: "GET", headers: { "user-agent": "fanfold" } }]);
  expect(host.requests[0]!.headers["idempotency-key"]).toBeUndefined();
});

test("secrets stand in headers, query and body of the call, and nowhere else, even if the host sends them back", async () => {
  answer = (request, response, body) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ you_sent: request.headers.authorization, body, url: request.url }));
  };
  await service.engine.connectors.set("http.request", "crm", {
    base_url: `${host.url}/v1`,
    headers: { authorization: "Bearer secret://crm_key" },
    query: { key: "secret://crm_key" },
    secrets: ["crm_key"],
  });
  const task = await run({
    config: "crm",
    method: "POST",
    url: "orders",
    json: { deep: [{ token: "secret://crm_key" }] },
  });
  expect(host.requests).toMatchObject([
    {
      path: `/v1/orders?key=${encodeURIComponent(secret)}`,
      headers: { authorization: `Bearer ${secret}` },
      body: JSON.stringify({ deep: [{ token: secret }] }),
    },
  ]);
  expect(task.result).toMatchObject({ json: { you_sent: "Bearer [redacted]" } });
  answer = (request, response) => {
    response.writeHead(400, { "content-type": "text/plain" });
    response.end(`your key ${request.headers.authorization} is not right`);
  };
  const failed = await run({ config: "crm", url: "orders" });
  expect(failed.error).toMatchObject({
    code: "http_400",
    message: expect.stringContaining("Bearer [redacted] is not"),
  });
  const text = (await rows()) + log_lines.join("");
  for (const form of [secret, encodeURIComponent(secret), Buffer.from(secret).toString("base64")]) {
    expect(text.includes(form)).toBe(false);
  }
  await service.engine.connectors.set("http.request", "other", { base_url: host.url, secrets: ["other"] });
  const missing = await run({ config: "other", url: "x", headers: { "x-key": "secret://other" } });
  expect(missing.error).toMatchObject({ category: "permanent", code: "secret_missing" });
  await service.key("globex");
  const globex = service.engine.forTenant("globex");
  await globex.connectors.set("http.request", "crm", { base_url: host.url, headers: { "x-key": "secret://crm_key" } });
  const foreign = await run({ config: "crm", url: "x" }, { tenant: "globex" });
  expect(foreign.error).toMatchObject({ code: "secret_missing" });
});

test("a task names no secret that its configuration does not let it name, wherever it puts it", async () => {
  answer = json;
  await service.engine.connectors.set("http.request", "plain", {
    base_url: host.url,
    headers: { authorization: "Bearer secret://crm_key" },
    secrets: ["another"],
  });
  const places = [
    { headers: { "x-key": "secret://crm_key" } },
    { headers: { authorization: "secret://crm_key" } },
    { query: { key: "secret://crm_key" } },
    { method: "POST", json: { deep: ["secret://crm_key"] } },
    { method: "POST", body: "is secret://crm_key" },
  ];
  for (const place of places) {
    for (const to of [{ url: host.url }, { url: "x", config: "plain" }]) {
      const { error } = await run({ ...to, ...place });
      expect(error).toMatchObject({ category: "permanent", code: "secret_not_configured" });
      expect(error!.message).toContain("fanfold connectors set http.request <name> base_url=https://…");
    }
  }
  expect((await run({ url: `${host.url}/secret://crm_key` })).error).toMatchObject({ code: "secret_not_configured" });
  expect(host.requests).toEqual([]);
});

test("a configuration that names a secret names the hosts it may go to", async () => {
  answer = json;
  const { connectors } = service.engine;
  const open = { headers: { authorization: "secret://crm_key" } };
  for (const config of [open, { secrets: ["crm_key"] }, { ...open, base_url: "https://secret://crm_key/x" }]) {
    await expect(connectors.set("http.request", "open", config)).rejects.toMatchObject({ code: "bad_request" });
  }
  await service.db.sql`
    insert into app.connector_configs (tenant_id, connector, name, config, updated_by)
    values ('default', 'http.request', 'open', ${JSON.stringify(open)}::text::jsonb, 'psql')`;
  const kept = await run({ config: "open", url: host.url });
  expect(kept.error).toMatchObject({ code: "bad_configuration" });
  expect(kept.error!.message).toContain("no host that it may go to");
  await connectors.set("http.request", "open", { ...open, outbound: { allow_hosts: ["api.example.com"] } });
  expect((await run({ config: "open", url: host.url })).error).toMatchObject({ code: "outbound_refused" });
  expect(host.requests).toEqual([]);
});

test("a redirect takes nothing of a call with a secret to another host", async () => {
  let status = 302;
  answer = (_, response) => response.writeHead(status, { location: `${other.url}/elsewhere` }).end();
  await service.engine.connectors.set("http.request", "moved", {
    base_url: host.url,
    headers: { authorization: "secret://crm_key", accept: "secret://crm_key", "x-key": "secret://crm_key" },
    secrets: ["crm_key"],
    outbound: { max_redirects: 3 },
  });
  const moved = await run({ config: "moved", url: "x", redirects: 1 });
  expect(moved).toMatchObject({ status: "completed", result: { redirects: 1 } });
  status = 307;
  const repeated = await run({ config: "moved", url: "x", method: "POST", body: "secret://crm_key", redirects: 1 });
  expect(repeated.error).toMatchObject({ category: "permanent", code: "redirect_refused" });
  expect(other.requests).toHaveLength(1);
  expect(JSON.stringify(other.requests)).not.toContain(secret);
});

test("a configuration's keys go to its own host only", async () => {
  answer = json;
  await service.engine.connectors.set("http.request", "own", { base_url: `${host.url}/v1`, headers: { a: "b" } });
  for (const url of [
    "https://evil.example.com/",
    `${host.url}/v2`,
    "../v2",
    `//127.0.0.1:${host.port}/v2`,
    `${host.url}/v11`,
  ]) {
    const task = await run({ config: "own", url });
    expect(task.error ?? host.requests.map(({ path }) => path)).not.toContain("/v2");
    if (task.error) expect(task.error).toMatchObject({ code: "bad_request" });
  }
  expect(host.requests.every(({ path }) => path.startsWith("/v1/"))).toBe(true);
  expect((await run({ config: "none", url: "x" })).error).toMatchObject({
    category: "permanent",
    code: "no_configuration",
  });
});

test("a call with an effect has the same idempotency key on every attempt", async () => {
  let calls = 0;
  answer = (_, response) => {
    response.writeHead(++calls === 1 ? 500 : 201);
    response.end();
  };
  const task = await run({ method: "POST", url: host.url, body: "x" }, { max_attempts: 2 });
  expect(task).toMatchObject({ status: "completed", attempt: 2, result: { status: 201, text: "" } });
  const keys = host.requests.map(({ headers }) => headers["idempotency-key"]);
  expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/), keys[0]]);
});

test("a host that asks to wait costs no attempt, and all calls to it wait", async () => {
  let calls = 0;
  answer = (_, response) => {
    calls += 1;
    response.writeHead(calls === 1 ? 429 : 200, calls === 1 ? { "retry-after": "1" } : {});
    response.end("fine");
  };
  await service.engine.connectors.set("http.request", "polite", { base_url: host.url });
  const first = await run({ config: "polite", url: "/" });
  expect(first).toMatchObject({ status: "completed", attempt: 1, result: { text: "fine" } });
  const attempts = await service.db.sql<{ code: string }>`
    select code from app.attempts where category = 'throttled' order by attempt_id`;
  expect(attempts[0]).toEqual({ code: "http_429" });
});

test("no more calls are under way than the configuration allows, whatever the slots", async () => {
  let running = 0;
  let most = 0;
  answer = (_, response) => {
    running += 1;
    most = Math.max(most, running);
    setTimeout(() => {
      running -= 1;
      response.end("done");
    }, 30);
  };
  await service.engine.connectors.set("http.request", "narrow", { base_url: host.url, limits: { max_concurrent: 1 } });
  const { task_ids } = await service.engine.enqueueMany(
    "connector.http.request",
    Array.from({ length: 3 }, () => ({ parameters: { config: "narrow", url: "/" }, max_attempts: 1 })),
  );
  for (const task_id of task_ids) expect(await ended(task_id)).toMatchObject({ status: "completed", attempt: 1 });
  expect(most).toBe(1);
});

test("a host that keeps failing is left alone", async () => {
  answer = (_, response) => response.writeHead(500).end();
  await service.engine.connectors.set("http.request", "broken", {
    base_url: host.url,
    breaker: { failures: 2, window_s: 600, cool_down_s: 600 },
  });
  for (let n = 0; n < 2; n++)
    expect((await run({ config: "broken", url: "/" })).error).toMatchObject({ code: "http_500" });
  const { task_id } = await service.engine.enqueue("connector.http.request", { config: "broken", url: "/" });
  await eventually(async () => {
    const [row] = await service.db.sql`select 1 from app.attempts where code = 'host_circuit_open'`;
    return row !== undefined;
  });
  expect(host.requests).toHaveLength(2);
  const [troubled] = await service.engine.connectors.hosts();
  expect(troubled).toMatchObject({ scope: "http.request/broken", breaker: "open" });
  await service.engine.cancelTask(task_id);
});

test("a large answer goes to storage piece by piece; a larger one than allowed is not stored at all", async () => {
  const content = Buffer.alloc(2_000_000, "fanfold ");
  answer = (request, response) => response.end(request.url === "/large" ? Buffer.concat([content, content]) : content);
  const task = await run({ url: `${host.url}/fits`, response: "stored" });
  const { stored } = task.result as { stored: { key: string; bytes: number; sha256: string; store: string } };
  expect(stored).toMatchObject({ bytes: content.length, sha256: createHash("sha256").update(content).digest("hex") });
  expect((await service.engine.store.get(stored)).equals(content)).toBe(true);
  const large = await run({ url: `${host.url}/large`, response: "stored" });
  expect(large.error).toMatchObject({ category: "permanent", code: "response_too_large" });
  const inline = await run({ url: `${host.url}/fits` });
  expect(inline.error).toMatchObject({ category: "permanent", code: "response_too_large" });
  const sent = await run({ method: "PUT", url: `${host.url}/back`, body_from: stored, response: "none" });
  expect([sent.status, host.requests.at(-1)?.body.length]).toEqual(["completed", content.length]);
  const forged = { ...stored, sha256: "0".repeat(64) };
  expect((await run({ method: "PUT", url: host.url, body_from: forged })).error).toMatchObject({ code: "bad_request" });
  const foreign = await service.engine.forTenant("acme").store.put("body", "theirs");
  const count = host.requests.length;
  const refused = await run({ method: "PUT", url: host.url, body_from: foreign });
  expect(refused.error).toMatchObject({ category: "permanent", code: "bad_request" });
  expect(host.requests).toHaveLength(count);
});

test("what was expected is looked at: status, content type, JSON; what contradicts itself is refused", async () => {
  answer = (request, response) => {
    response.writeHead(request.url === "/missing" ? 404 : 200, { "content-type": "text/html" });
    response.end("<p>");
  };
  const missing = await run({ url: `${host.url}/missing`, expect: { status: [200, 404] }, response: "text" });
  expect(missing).toMatchObject({ status: "completed", result: { status: 404, text: "<p>" } });
  expect((await run({ url: `${host.url}/missing` })).error).toMatchObject({ category: "permanent", code: "http_404" });
  const html = await run({ url: host.url, expect: { content_type: "application/json" } });
  expect(html.error).toMatchObject({ category: "permanent", code: "unexpected_answer" });
  expect((await run({ url: host.url, response: "json" })).error).toMatchObject({
    category: "transient",
    code: "bad_response",
  });
  expect((await run({ url: host.url, json: 1, body: "x" })).error).toMatchObject({ code: "bad_request" });
  await expect(run({ url: host.url, colour: "red" })).rejects.toThrow(/colour/);
});

test("what may not be called is refused in one sentence, and only the operator's log says why", async () => {
  const before = host.connections();
  const refused = { category: "permanent", code: "outbound_refused", message: "this address may not be called" };
  for (const url of [
    "http://127.0.0.1:1/",
    "http://10.0.0.5/",
    "file:///etc/passwd",
    "http://169.254.169.254/latest",
  ]) {
    expect((await run({ url })).error).toMatchObject(refused);
  }
  expect(log_lines.join("")).toContain("10.0.0.5 is private");
  expect(await rows()).not.toContain("is private");
  // A tenant narrows what the operator allows, and cannot widen it.
  await service.engine.connectors.set("http.request", "closed", { outbound: { allow_http: false } });
  expect((await run({ config: "closed", url: host.url })).error).toMatchObject(refused);
  await service.engine.connectors.set("http.request", "wide", {
    outbound: { allow_http: true, ports: [1, 22, host.port] },
  });
  expect((await run({ config: "wide", url: "http://127.0.0.1:22/" })).error).toMatchObject(refused);
  expect(host.connections()).toBe(before);
});

test("over TLS the name is what is checked and sent, whatever address was pinned", async () => {
  const certificate = selfSigned("api.example.com");
  const names: unknown[] = [];
  const server = createHttps(certificate, (request, response) => {
    names.push((request.socket as { servername?: string }).servername, request.headers.host);
    response.end("safe");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const dns = await startDns((name, type) => (type === "A" ? [a(name, "127.0.0.1")] : []));
  const policy = {
    ...default_policy,
    allow_http: false,
    allow_private: [`127.0.0.1:${port}`],
    resolver: dns.address,
    ca: certificate.cert,
  };
  try {
    const { body } = await guardedRequest({ url: `https://api.example.com:${port}/`, policy });
    expect([Buffer.from(body).toString(), ...names]).toEqual(["safe", "api.example.com", `api.example.com:${port}`]);
    const other = guardedRequest({ url: `https://other.example.com:${port}/`, policy });
    await expect(other).rejects.toMatchObject({ code: "tls", message: expect.stringContaining("another name") });
    const { ca: _, ...untrusting } = policy;
    const untrusted = guardedRequest({ url: `https://api.example.com:${port}/`, policy: untrusting });
    await expect(untrusted).rejects.toMatchObject({ code: "tls", category: "permanent" });
  } finally {
    server.close();
    server.closeAllConnections();
    await dns.close();
  }
});
