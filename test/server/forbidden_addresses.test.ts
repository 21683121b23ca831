// Where the service knows what its workers may call, it keeps no address that they would always refuse, and says why.
import { afterAll, beforeAll, expect, test } from "vitest";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { httpRequest } from "../../src/handlers/connectors/http_request.js";
import { openService, type TestService } from "./service.js";

let service: TestService;
beforeAll(async () => {
  service = await openService(
    {
      jobs: [defineJob({ type: "greet", stages: [{ name: "say", task: "t.say" }] })],
      handlers: [defineHandler("t.say", {}, () => null), httpRequest],
    },
    {},
    { outbound: { allow_private: ["10.1.0.0/16"] } },
  );
});
afterAll(() => service.close());

const forbidden = ["https://168.63.129.16/", "https://localhost/x", "http://example.com/", "https://example.com:22/"];
const secret = "secret://hook";

test.each(forbidden)("%s is kept by no webhook, no configuration and no job", async (url) => {
  const made = await service.call("POST", "/api/webhooks", { body: { url: "https://example.com/hook", secret } });
  expect(made).toMatchObject({ status: 201, body: { warnings: [] } });
  const answers = [
    await service.call("POST", "/api/webhooks", { body: { url, secret } }),
    await service.call("PATCH", `/api/webhooks/${made.body.endpoint_id}`, { body: { url } }),
    await service.call("PUT", "/api/connectors/http.request/crm", { body: { config: { base_url: url } } }),
    await service.call("POST", "/api/jobs/submit/greet", { body: { parameters: {}, webhooks: [{ url, secret }] } }),
  ];
  for (const { status, body } of answers) {
    expect([status, body.problems]).toEqual([
      400,
      [
        {
          path: expect.stringMatching(/url$/),
          problem: expect.any(String),
          fix: expect.stringContaining("FANFOLD_OUTBOUND_"),
        },
      ],
    ]);
  }
  expect(
    (await service.call("GET", "/api/webhooks")).body.endpoints.map((one: { url: string }) => one.url),
  ).not.toContain(url);
});

test("what the operator opened is kept, and what a configuration closes for itself is not", async () => {
  const opened = await service.call("POST", "/api/webhooks", { body: { url: "https://10.1.2.3/", secret } });
  expect(opened.status).toBe(201);
  const config = { base_url: "https://api.example.com", outbound: { allow_hosts: ["example.org"] } };
  const closed = await service.call("PUT", "/api/connectors/http.request/own", { body: { config } });
  expect(closed).toMatchObject({ status: 400, body: { problems: [{ path: "$.base_url" }] } });
});

test.each([
  [{ url: "https://example.com/done" }, "webhooks[0]", "has a url and no secret to sign with"],
  [{}, "webhooks[0]", 'is neither {"url"'],
  [{ url: "https://example.com/done", endpoint: `we_${"a".repeat(16)}` }, "webhooks[0]", "url"],
  [{ endpoint: "mine" }, "webhooks[0].endpoint", "is not a webhook endpoint's id"],
  [{ url: "ftp://example.com/", secret }, "webhooks[0].url", "is not an http(s) address"],
  [{ url: "https://example.com/done", secret: "hunter2" }, "webhooks[0].secret", "is not the name of a secret"],
])("a submit whose receiver is %j is told what is wrong with it", async (receiver, path, words) => {
  const body = { parameters: {}, webhooks: [receiver] };
  const answer = await service.call("POST", "/api/jobs/submit/greet", { body });
  expect([answer.status, answer.body.problems]).toEqual([
    400,
    [expect.objectContaining({ path: `body.${path}`, problem: expect.stringContaining(words) })],
  ]);
  expect(JSON.stringify(answer.body)).not.toContain("hunter2");
});
