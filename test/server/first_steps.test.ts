// What somebody meets who calls the service for the first time: examples that run, errors that say where and what to do instead.
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient } from "../../src/client/index.js";
import { builtinRegistry } from "../../src/jobs/index.js";
import { openService, type TestService } from "./service.js";

let service: TestService;
let key: string;
beforeAll(async () => {
  service = await openService(builtinRegistry());
  key = await service.key("acme");
});
afterAll(() => service?.close());

test("the page's first example is a call that works, at the address it was read at", async () => {
  const { body: page } = await service.call("GET", "/api/docs", { key: null });
  const example = /-d &#39;(.+?)&#39;|-d '(.+?)'/.exec(page);
  expect(page).toContain(`${service.url}/api/jobs/submit/hello_world`);
  const body = JSON.parse((example?.[1] ?? example?.[2] ?? "").replaceAll("&quot;", '"'));
  const { status } = await service.call("POST", "/api/jobs/submit/hello_world", { key, body });
  expect(status).toBe(201);
  expect(page).not.toContain("[object Object]");
});

test("a batch tells of each bad item which one it is", async () => {
  const items = [
    { parameters: { n: 3 } },
    { parameters: { n: "3" } },
    { parameters: { n: 3 } },
    { parameters: { m: 1 } },
  ];
  const { status, body } = await service.call("POST", "/api/jobs/submit/hello_world/batch", { key, body: { items } });
  expect(status).toBe(400);
  expect(body.problems).toContainEqual({
    path: "items[1].parameters.n",
    problem: expect.stringMatching(/^expected a (whole )?number, got text$/),
    fix: "Leave the quotes out: 3.",
  });
  expect(body.problems.some(({ path }: { path: string }) => path.startsWith("items[3].parameters"))).toBe(true);
  expect(body.detail).not.toMatch(/:$/);
});

test("the event of a submit names the key, alone, in a batch and in company", async () => {
  const many = await Promise.all(
    Array.from({ length: 8 }, (_, n) =>
      service.call("POST", "/api/jobs/submit/hello_world", { key, body: { parameters: { n: n + 10 } } }),
    ),
  );
  const batch = await service.call("POST", "/api/jobs/submit/hello_world/batch", {
    key,
    body: { items: [{ parameters: { n: 40 } }] },
  });
  for (const job_id of [...many.map(({ body }) => body.job_id), batch.body.jobs[0].job_id]) {
    const { body } = await service.call("GET", `/api/jobs/${job_id}/events`, { key });
    expect(body.events.find(({ kind }: { kind: string }) => kind === "job.submitted").actor).toMatch(/^key:/);
  }
});

test("a job has an address of its own; who deletes one that has not ended is told to cancel it", async () => {
  const { body: made } = await service.call("POST", "/api/jobs/submit/hello_world", {
    key,
    body: { parameters: { n: 50 } },
  });
  const [long, short] = await Promise.all([
    service.call("GET", `/api/jobs/status/${made.job_id}`, { key }),
    service.call("GET", `/api/jobs/${made.job_id}`, { key }),
  ]);
  expect(short.body).toEqual({ ...long.body, now: short.body.now });
  const refused = await service.call("DELETE", `/api/jobs/${made.job_id}`, { key });
  expect(refused.status).toBe(409);
  expect(refused.body.hint).toContain(`POST /api/jobs/${made.job_id.slice(0, 12)}/cancel`);
});

test("who only knows where the service is gets to the page", async () => {
  const api = await fetch(`${service.url}/api`, { redirect: "manual" });
  expect([api.status, api.headers.get("location")]).toEqual([302, "/api/docs"]);
  // The dashboard where it was built, else the same.
  expect([200, 302]).toContain((await fetch(service.url, { redirect: "manual" })).status);
});

test("what is not JSON, too short or half a name is told as that", async () => {
  const response = await fetch(`${service.url}/api/jobs/submit/hello_world`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: '{"n": 3,,}',
  });
  expect(((await response.json()) as { detail: string }).detail).toMatch(/^the body is not JSON: .+ at line 1/);
  const short = await service.call("GET", "/api/jobs/status/ab", { key });
  expect(short.body.problems[0].problem).toContain("at least 4 characters");
  const half = await service.call("GET", "/api/jobs?group=x", { key });
  expect(half.body.problems[0].fix).toBe('Did you mean "group_id"?');
});

test("an address that workers will refuse, and a connector nobody knows, are kept with a warning", async () => {
  const body = { url: "http://127.0.0.1:9/hook", secret: "secret://hook" };
  const made = await service.call("POST", "/api/webhooks", { key, body });
  expect([made.status, made.body.warnings.length]).toEqual([201, 2]);
  const pinged = await service.call("POST", `/api/webhooks/${made.body.endpoint_id}/ping`, { key });
  expect(pinged.body.url).toBe(body.url);
  const config = await service.call("PUT", "/api/connectors/http.requst/default", { key, body: { config: {} } });
  expect([config.status, config.body.warnings.length]).toEqual([200, 1]);
});

test("the SDK refuses options it does not know, and bare parameters, each in one clear error", async () => {
  // @ts-expect-error: a misspelt option
  expect(() => createClient({ url: service.url, key, timeout: 5 })).toThrow(/Did you mean "timeout_ms"/);
  const client = createClient({ url: service.url, key });
  await expect(client.submitMany("hello_world", [{ n: 3 } as never])).rejects.toThrow("item 0 has no parameters");
  expect(await client.connectors.list()).toHaveLength(1);
});

test("the stream of one job ends with it, also when it has ended before", async () => {
  const client = createClient({ url: service.url, key });
  const { job_id } = await client.submit("hello_world", { n: 60 });
  const kinds: string[] = [];
  const on_open = () => void client.cancel(job_id);
  for await (const told of client.stream({ job_id, on_open })) if (told.type === "event") kinds.push(told.event.kind);
  expect(kinds.at(-1)).toBe("job.cancelled");
  for await (const told of client.stream({ job_id })) expect(told).toBe("nothing");
});
