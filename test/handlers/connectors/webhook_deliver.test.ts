// Webhooks from end to end: the HTTP API makes endpoints, jobs end, a real worker delivers to a receiver on loopback, and an
// independent implementation of Standard Webhooks verifies what came.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { transformSync } from "rolldown/utils";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { defineHandler, defineJob } from "../../../src/core/declare/declare.js";
import { webhookDeliver } from "../../../src/handlers/connectors/webhook_deliver.js";
import { webhookTell } from "../../../src/handlers/connectors/webhook_tell.js";
import { openService, type TestService } from "../../server/service.js";
import { eventually } from "../../worker/shop.js";
import { type Listener, listen, listenRaw } from "./listener.js";
import { certificate, private_key } from "./self_signed.js";

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came
type Loose = any;

const job = defineJob({ type: "hooked", stages: [{ name: "work", task: "t.work" }] });
const work = defineHandler("t.work", {}, ({ fail, ...result }) => {
  if (fail) throw Object.assign(new Error("made to fail"), { code: "test" });
  return { success: true, result };
});

let service: TestService;
let receiver: Listener;
/** What the receiver answers next; 204 when there is nothing. */
let answers: ((response: Loose, request: Loose) => void)[] = [];
const named_secret = `whsec_${Buffer.alloc(24, 5).toString("base64")}`;

beforeAll(async () => {
  receiver = await listen((request, response) => {
    const answer = answers.shift() ?? ((one: Loose) => one.writeHead(204).end());
    answer(response, request);
  });
  service = await openService({ jobs: [job], handlers: [work, webhookDeliver, webhookTell] });
  // The receivers of this file, and nothing else that is not public.
  await service.worker({
    slots: 4,
    poll_s: 0.2,
    secrets: (_, name) => (name === "named" ? named_secret : null),
    outbound: {
      allow_http: true,
      allow_private: ["127.0.0.1"],
      ports: Array.from({ length: 64_512 }, (_, n) => n + 1024),
      refusal_ms: 0,
    },
  });
});
afterAll(async () => {
  await service.close();
  await receiver.close();
});
beforeEach(() => {
  answers = [];
  receiver.requests.length = 0;
});

const call = async (method: string, path: string, body?: unknown): Promise<Loose> => {
  const answer = await service.call(method, path, body === undefined ? {} : { body });
  expect([answer.status, answer.body]).toEqual([expect.toSatisfy((status: number) => status < 300), answer.body]);
  return answer.body;
};

async function endpoint(more: object = {}): Promise<Loose> {
  return call("POST", "/api/webhooks", { url: `${receiver.url}/hook`, ...more });
}

/** Only the endpoints of this test are to hear of its jobs. */
async function forget(...endpoints: Loose[]): Promise<void> {
  for (const { endpoint_id } of endpoints) await call("DELETE", `/api/webhooks/${endpoint_id}`);
}

let runs = 0;
async function ended(parameters: object = {}, options: object = {}): Promise<string> {
  const { job_id } = await service.engine.submit("hooked", { n: ++runs, ...parameters }, options);
  await service.engine.wait(job_id);
  return job_id;
}

async function settled(delivery_id: string, tries = 1): Promise<Loose> {
  let found: Loose;
  await eventually(async () => {
    found = await service.engine.webhooks.delivery(delivery_id);
    return found.tries.length >= tries;
  });
  return found;
}

async function ping(endpoint_id: string): Promise<Loose> {
  const { delivery_id } = await call("POST", `/api/webhooks/${endpoint_id}/ping`);
  return settled(delivery_id);
}

/** What is due later is due now. */
const hurry = () => service.db.sql`update app.ready set run_at = now() where task_type = 'connector.webhook.deliver'`;

describe("a message of one's own", () => {
  const sayings = defineJob({
    type: "sayings",
    stages: [
      { name: "work", task: "t.work" },
      {
        name: "tell",
        task: "webhook.deliver",
        parallelism: "fan_out",
        tasks: {
          each: "$.published[*]",
          index: "tile-{item}",
          parameters: { endpoint: "{parameters.endpoint}", type: "tiles.published", data: { tile: "{item}" } },
        },
      },
    ],
  });
  const told = async (parameters: object) => {
    const { task_id } = await service.engine.enqueue("webhook.deliver", parameters as Record<string, unknown>, {
      max_attempts: 2,
    });
    let task: Loose;
    await eventually(async () => {
      task = await service.engine.task(task_id);
      return task.finished_at !== null || task.attempts.length > 0;
    });
    return task;
  };

  test("is sent by a stage, signed with the endpoint's secret, the same id on every attempt", async () => {
    const made = await endpoint({ events: [] });
    answers = [(response) => response.writeHead(500).end("not yet")];
    const { stages } = JSON.parse(JSON.stringify(sayings.blueprint)) as Loose;
    await service.engine.blueprints.save("sayings", {
      stages: stages.map(({ name, task, parallelism, plan }: Loose) => ({
        name,
        task,
        parallelism,
        ...(plan === null ? {} : { tasks: plan }),
      })),
    });
    const { job_id } = await service.engine.submit("sayings", { endpoint: made.endpoint_id, published: [7, 8] });
    await service.engine.wait(job_id);
    expect((await service.engine.status(job_id)).status).toBe("completed");
    expect(receiver.requests).toHaveLength(3);
    const ids = new Map<string, number>();
    for (const { headers, body } of receiver.requests) {
      const verified = new Webhook(made.secret).verify(body, headers as Record<string, string>) as Loose;
      expect(verified).toMatchObject({ type: "tiles.published", job_id, stage: "tell" });
      expect(verified.index).toBe(`tile-${verified.data.tile}`);
      ids.set(headers["webhook-id"] as string, (ids.get(headers["webhook-id"] as string) ?? 0) + 1);
    }
    expect([...ids.values()].sort()).toEqual([1, 2]);
    await forget(made);
  });

  test("is refused where its parameters are not right, its endpoint is not the tenant's or it is disabled", async () => {
    for (const bad of [
      { endpoint: "mine", type: "a.b" },
      { url: "https://example.com/", type: "a.b" },
      { endpoint: `we_${"a".repeat(16)}`, type: "job.completed" },
    ]) {
      await expect(service.engine.enqueue("webhook.deliver", bad)).rejects.toMatchObject({ code: "bad_parameters" });
    }
    const other = await service.call("POST", "/api/webhooks", {
      key: await service.key("globex"),
      body: { url: `${receiver.url}/x` },
    });
    expect(await told({ endpoint: other.body.endpoint_id, type: "a.b" })).toMatchObject({
      status: "failed",
      error: { message: expect.stringContaining("no webhook endpoint") },
    });
    const made = await endpoint({ events: [] });
    await call("PATCH", `/api/webhooks/${made.endpoint_id}`, { enabled: false });
    expect(await told({ endpoint: made.endpoint_id, type: "a.b" })).toMatchObject({
      status: "failed",
      error: { message: expect.stringContaining("is disabled") },
    });
    expect(receiver.requests).toHaveLength(0);
    const inner = await endpoint({ events: [], url: "https://10.0.0.1/" });
    expect(await told({ endpoint: inner.endpoint_id, type: "a.b" })).toMatchObject({
      status: "failed",
      error: { code: "outbound_refused" },
    });
    await forget(made, inner);
  });
});

describe("an outcome", () => {
  test("is delivered once, signed over the very bytes, and verified by an independent implementation", async () => {
    const made = await endpoint({ description: "the test" });
    expect(made.secret).toMatch(/^whsec_/);
    const job_id = await ended({ text: "Zürich 😀 \u2028 <&>" });
    await eventually(() => receiver.requests.length === 1);
    const { headers, body, method } = receiver.requests[0]!;
    expect(method).toBe("POST");
    expect(headers["content-type"]).toBe("application/json");
    const verified = new Webhook(made.secret).verify(body, headers as Record<string, string>) as Loose;
    expect(verified).toMatchObject({ type: "job.completed", job_id, status: "completed" });
    expect(verified.final_results.text).toBe("Zürich 😀 \u2028 <&>");
    expect(() => new Webhook(made.secret).verify(`${body} `, headers as Record<string, string>)).toThrow();
    expect(headers["webhook-id"]).not.toContain(".");

    const { deliveries } = await call("GET", `/api/deliveries?job_id=${job_id}`);
    expect(deliveries).toMatchObject([{ delivery_id: headers["webhook-id"], endpoint_id: made.endpoint_id }]);
    const full = await settled(deliveries[0].delivery_id);
    expect(full).toMatchObject({
      status: "delivered",
      attempts: 1,
      payload: body,
      tries: [{ status: 204, error: null }],
    });
    await forget(made);
  });

  test("is verified by the receiver in docs/webhooks.md as it stands there, which refuses a stranger", async () => {
    const docs = readFileSync(new URL("../../../docs/webhooks.md", import.meta.url), "utf8");
    const [, code] = /```ts\n(\/\/ receiver\.ts[\s\S]*?)```/.exec(docs)!;
    const root = fileURLToPath(new URL("../../..", import.meta.url));
    const made = await endpoint();
    const plain = transformSync("receiver.ts", code!).code;
    const child = spawn(process.execPath, ["--input-type=module", "--eval", plain], {
      cwd: root,
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, WEBHOOK_SECRET: made.secret, PORT: "0" },
    });
    onTestFinished(() => void child.kill());
    let said = "";
    child.stdout.on("data", (piece: Buffer) => {
      said += piece.toString();
    });
    await eventually(() => said.includes("listening"));
    const url = `http://127.0.0.1:${/listening on (\d+)/.exec(said)![1]}/hook`;
    await call("PATCH", `/api/webhooks/${made.endpoint_id}`, { url });
    expect((await fetch(url, { method: "POST", body: "{}" })).status).toBe(401);
    const job_id = await ended();
    await eventually(() => said.includes(`job.completed ${job_id}`));
    await forget(made);
  });

  test("that failed is told as such, to addresses of the job's own, signed with a secret known by its name", async () => {
    const webhooks = [
      { url: `${receiver.url}/a`, secret: "secret://named" },
      { url: `${receiver.url}/b`, secret: "secret://named", events: ["job.failed" as const] },
      { url: `${receiver.url}/c`, secret: "secret://named", events: ["job.cancelled" as const] },
    ];
    await ended({ fail: true }, { webhooks });
    await service.db.sql`update app.ready set run_at = now()`;
    await eventually(() => receiver.requests.length === 2);
    expect(receiver.requests.map(({ path }) => path).sort()).toEqual(["/a", "/b"]);
    for (const { body, headers } of receiver.requests) {
      const told = new Webhook(named_secret).verify(body, headers as Record<string, string>);
      expect(told).toMatchObject({ type: "job.failed", stage_results: { work: { failed: 1 } } });
    }
  });

  test("is told to receivers that the submit over HTTP named, and a plain secret there is refused", async () => {
    const made = await endpoint({ events: [] });
    const webhooks = [{ url: `${receiver.url}/own`, secret: "secret://named" }, { endpoint: made.endpoint_id }];
    await call("POST", "/api/jobs/submit/hooked", { parameters: { n: ++runs }, webhooks });
    await eventually(() => receiver.requests.length === 2);
    expect(receiver.requests.map(({ path }) => path).sort()).toEqual(["/hook", "/own"]);
    const plain = [{ url: `${receiver.url}/own`, secret: "my-shared-secret" }];
    const refused = await service.call("POST", "/api/jobs/submit/hooked", { body: { webhooks: plain } });
    expect(refused.status).toBe(400);
    await forget(made);
  });

  test("after a rotation is signed with both secrets, and only with the new one when the overlap is over", async () => {
    const made = await endpoint();
    const rotated = await call("POST", `/api/webhooks/${made.endpoint_id}/secret`, { overlap_s: 600 });
    expect(rotated.secret).not.toBe(made.secret);
    await ping(made.endpoint_id);
    const [both] = receiver.requests;
    for (const { secret } of [made, rotated]) {
      expect(new Webhook(secret).verify(both!.body, both!.headers as Record<string, string>)).toMatchObject({
        type: "webhook.ping",
      });
    }
    const last = await call("POST", `/api/webhooks/${made.endpoint_id}/secret`, { overlap_s: 0 });
    await ping(made.endpoint_id);
    const now = receiver.requests[1]!;
    expect(() => new Webhook(rotated.secret).verify(now.body, now.headers as Record<string, string>)).toThrow();
    new Webhook(last.secret).verify(now.body, now.headers as Record<string, string>);
    await forget(made);
  });

  test("is sent again under the same id after a failure, with a new time, and replayed on request", async () => {
    const made = await endpoint();
    answers = [(response) => response.writeHead(500, { "content-type": "text/plain" }).end("no\u0000 thanks")];
    const job_id = await ended();
    const { deliveries } = await call("GET", `/api/deliveries?job_id=${job_id}`);
    const { delivery_id } = deliveries[0];
    expect(await settled(delivery_id)).toMatchObject({
      status: "pending",
      tries: [{ status: 500, body: "no thanks" }],
    });
    await hurry();
    expect(await settled(delivery_id, 2)).toMatchObject({ status: "delivered", attempts: 2, series: 1 });
    expect(await call("POST", `/api/deliveries/${delivery_id}/replay`)).toMatchObject({ status: "pending", series: 2 });
    expect(await settled(delivery_id, 3)).toMatchObject({ status: "delivered", attempts: 1, series: 2 });
    expect(receiver.requests.map(({ headers }) => headers["webhook-id"])).toEqual([
      delivery_id,
      delivery_id,
      delivery_id,
    ]);
    expect(new Set(receiver.requests.map(({ body }) => body)).size).toBe(1);
    const range = { statuses: ["delivered"], dry_run: true };
    expect(await call("POST", `/api/webhooks/${made.endpoint_id}/replay`, range)).toMatchObject({
      deliveries: 1,
      dry_run: true,
    });
    await forget(made);
  });
});

describe("a hostile receiver", () => {
  const hostile: [what: string, answer: (response: Loose) => void, expected: object][] = [
    [
      "a redirect is a failure and is not followed",
      (r) => r.writeHead(302, { location: `${receiver.url}/elsewhere` }).end(),
      { status: 302 },
    ],
    ["503 with Retry-After", (r) => r.writeHead(503, { "retry-after": "7200" }).end(), { status: 503 }],
    [
      "a reply of 10 MB is cut",
      (r) => r.writeHead(500, { "content-type": "text/plain" }).end(Buffer.alloc(10_000_000, 65)),
      { status: 500, bytes: 65_536, body: "A".repeat(1024) },
    ],
    [
      "a reply that is not text is counted and not kept",
      (r) => r.writeHead(500, { "content-type": "text/html" }).end("<script>"),
      { status: 500, bytes: 8, body: null },
    ],
    [
      "a connection that is cut",
      (r) => r.socket.destroy(),
      { status: null, error: expect.stringContaining("connection") },
    ],
  ];
  test.each(hostile)("%s", async (_, answer, expected) => {
    const made = await endpoint();
    answers = [answer];
    const { tries, status } = await ping(made.endpoint_id);
    expect({ status, tries }).toMatchObject({ status: "pending", tries: [expected] });
    expect(receiver.requests.map(({ path }) => path)).toEqual(["/hook"]);
    const [{ later }] = (await service.db.sql<Loose>`
      select bool_and(next_at > now() + interval '1 hour') as later from app.webhook_deliveries where status = 'pending'`) as [
      Loose,
    ];
    expect(later).toBe(expected === hostile[1]![2]);
    await forget(made);
  });

  test("no answer within the endpoint's time is a failure; a 2xx whose body never ends is a delivery", async () => {
    const made = await endpoint({ timeout_s: 1 });
    answers = [() => {}];
    expect(await ping(made.endpoint_id)).toMatchObject({
      status: "pending",
      tries: [{ error: expect.stringContaining("timeout") }],
    });
    answers = [(response) => response.writeHead(200, { "content-type": "text/plain" }).write("d")];
    expect(await ping(made.endpoint_id)).toMatchObject({ status: "delivered", tries: [{ status: 200, error: null }] });
    await forget(made);
  });

  test("410 disables the endpoint; enabled again, it gets what it missed by a replay", async () => {
    const made = await endpoint();
    answers = [(response) => response.writeHead(410).end()];
    expect(await ping(made.endpoint_id)).toMatchObject({ status: "failed", reason: expect.stringContaining("410") });
    expect(await call("GET", `/api/webhooks/${made.endpoint_id}`)).toMatchObject({ status: "disabled" });
    const refused = await service.call("POST", `/api/webhooks/${made.endpoint_id}/ping`);
    expect(refused).toMatchObject({ status: 409, body: { hint: expect.stringContaining("PATCH /api/webhooks") } });
    await call("PATCH", `/api/webhooks/${made.endpoint_id}`, { enabled: true });
    expect(await call("POST", `/api/webhooks/${made.endpoint_id}/replay`, {})).toMatchObject({ deliveries: 1 });
    await eventually(() => receiver.requests.length === 2);
    await forget(made);
  });

  test("one that is no HTTP server, and one whose certificate nobody signed, are failures that pass", async () => {
    const raw = await listenRaw((socket) => socket.end("SSH-2.0-hello\r\n"));
    const tls = createServer({ key: private_key, cert: certificate }, (_, response) => response.end());
    await new Promise<void>((resolve) => tls.listen(0, "127.0.0.1", resolve));
    const made = [
      await endpoint({ url: `${raw.url}/x` }),
      await endpoint({ url: `https://127.0.0.1:${(tls.address() as AddressInfo).port}/x` }),
    ];
    const told = await Promise.all(made.map(({ endpoint_id }) => ping(endpoint_id)));
    expect(told.map(({ status, tries }) => [status, tries[0].error.split(":")[0]])).toEqual([
      ["pending", "bad_response"],
      ["pending", "tls"],
    ]);
    await forget(...made);
    await raw.close();
    await new Promise((resolve) => tls.close(resolve));
  });

  test("an address that policy forbids is never called, fails at once, and says no more than that", async () => {
    const made = await endpoint({ url: "http://169.254.169.254/latest/meta-data" });
    const { status, tries, reason } = await ping(made.endpoint_id);
    expect({ status, reason }).toEqual({
      status: "failed",
      reason: "outbound_refused: this address may not be called",
    });
    expect(tries).toMatchObject([{ status: null, error: "outbound_refused: this address may not be called" }]);
    await forget(made);
  });

  test("a tenant's own list of hosts narrows the operator's", async () => {
    const made = await endpoint();
    await service.engine.connectors.set("webhook.deliver", "default", {
      outbound: { allow_hosts: ["hooks.example.com"] },
    });
    expect(await ping(made.endpoint_id)).toMatchObject({ status: "failed", tries: [{ status: null }] });
    expect(receiver.requests).toEqual([]);
    await service.engine.connectors.set("webhook.deliver", "default", { outbound: { allow_hosts: ["127.0.0.1"] } });
    expect(await ping(made.endpoint_id)).toMatchObject({ status: "delivered" });
    await service.engine.connectors.remove("webhook.deliver", "default");
    await forget(made);
  });

  test("a narrowing that is not right, stored past the API, refuses the try and says why", async () => {
    const made = await endpoint();
    const config = { outbound: { max_response_bytes: "x", timeout_s: -1 } };
    await service.db.sql`select app.set_connector(${JSON.stringify({
      connector: "webhook.deliver",
      name: "default",
      config,
    })}::text::json)`;
    const { status, tries } = await ping(made.endpoint_id);
    expect({ status, tries }).toMatchObject({ status: "pending", tries: [{ status: null }] });
    expect(tries[0].error).toMatch(/^wrong_config: .*\$\.outbound\.timeout_s/s);
    expect(receiver.requests).toEqual([]);
    await service.engine.connectors.remove("webhook.deliver", "default");
    await forget(made);
  });

  test("a secret that nobody knows is a failure of this try, and nothing is sent unsigned", async () => {
    const made = await endpoint({ secret: "secret://nobody_knows" });
    expect(made.secret).toBeNull();
    const { delivery_id } = await service.engine.webhooks.ping(made.endpoint_id);
    await eventually(async () => (await service.engine.webhooks.delivery(delivery_id)).reason !== null);
    expect(await service.engine.webhooks.delivery(delivery_id)).toMatchObject({
      status: "pending",
      attempts: 0,
      tries: [],
      url: made.url,
      reason: expect.stringContaining("it cannot be signed yet"),
    });
    expect(receiver.requests).toEqual([]);
    await forget(made);
  });
});

describe("over HTTP", () => {
  test("a secret is in the answer that made it and nowhere else, neither in the database nor in events", async () => {
    const made = await endpoint();
    const listed = JSON.stringify([
      await call("GET", "/api/webhooks"),
      await call("GET", `/api/webhooks/${made.endpoint_id}`),
      await service.db.sql`select * from app.webhook_endpoints`,
      await service.db.sql`select * from app.events`,
    ]);
    expect(listed).not.toContain(made.secret.slice("whsec_".length));
    await forget(made);
  });

  test("another tenant sees, changes, replays and discards nothing", async () => {
    const made = await endpoint();
    const { delivery_id } = await ping(made.endpoint_id);
    const key = await service.key("acme");
    for (const [method, path, body] of [
      ["GET", `/api/webhooks/${made.endpoint_id}`],
      ["PATCH", `/api/webhooks/${made.endpoint_id}`, { enabled: false }],
      ["DELETE", `/api/webhooks/${made.endpoint_id}`],
      ["POST", `/api/webhooks/${made.endpoint_id}/secret`, {}],
      ["POST", `/api/webhooks/${made.endpoint_id}/ping`],
      ["POST", `/api/webhooks/${made.endpoint_id}/replay`, {}],
      ["GET", `/api/deliveries/${delivery_id}`],
      ["POST", `/api/deliveries/${delivery_id}/replay`],
      ["POST", `/api/deliveries/${delivery_id}/discard`, {}],
    ] as const) {
      const answer = await service.call(method, path, { key, ...(body === undefined ? {} : { body }) });
      expect([method, path, answer.status]).toEqual([method, path, 404]);
    }
    const theirs = await service.call("GET", "/api/deliveries", { key });
    expect(theirs.body).toEqual({ deliveries: [], next: null });
    await forget(made);
  });

  test("pages of deliveries meet each other, and a forged cursor is refused", async () => {
    const made = await endpoint({ events: [] });
    for (let n = 0; n < 5; n++) await ping(made.endpoint_id);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const more: string = cursor === null ? "" : `&cursor=${cursor}`;
      const page = await call("GET", `/api/deliveries?endpoint_id=${made.endpoint_id}&limit=2${more}`);
      seen.push(...page.deliveries.map((one: Loose) => one.delivery_id));
      cursor = page.next;
    } while (cursor !== null);
    expect(seen).toEqual([...seen].sort().reverse());
    expect(new Set(seen).size).toBe(5);
    expect((await service.call("GET", "/api/deliveries?cursor=x'--")).status).toBe(400);
    await forget(made);
  });

  test("what cannot be an endpoint is refused with all that is wrong, and scopes are kept apart", async () => {
    const wrong = { url: "file:///etc/passwd", events: ["job.exploded"], timeout_s: 99, secret: "plain", extra: 1 };
    const refused = await service.call("POST", "/api/webhooks", { body: wrong });
    expect(refused.status).toBe(400);
    expect(refused.body.problems.map(({ path }: Loose) => path).sort()).toEqual([
      "body.events[0]",
      "body.extra",
      "body.secret",
      "body.timeout_s",
      "body.url",
    ]);
    for (const odd of ["a\u0000b", "\ud800", "x".repeat(501)]) {
      const answer = await service.call("POST", "/api/webhooks", {
        body: { url: "https://example.com/", description: odd },
      });
      expect([odd.slice(0, 3), answer.status]).toEqual([odd.slice(0, 3), 400]);
    }
    for (const url of [
      "https://",
      "https://user:pw@example.com/",
      "https://a b/",
      "http:\\\\127.0.0.1",
      "javascript:alert(1)",
    ]) {
      expect([url, (await service.call("POST", "/api/webhooks", { body: { url } })).status]).toEqual([url, 400]);
    }
    const key = await service.key("default", ["read", "operate", "submit"]);
    expect((await service.call("GET", "/api/webhooks", { key })).status).toBe(403);
    expect((await service.call("GET", "/api/deliveries", { key })).status).toBe(200);
  });
});
