// The harness finds what a connector makes of faults: http.request passes, and careless connectors are found out.
import { expect, test } from "vitest";
import { z } from "zod";
import { defineConnector } from "../../../src/handlers/connectors/connector.js";
import { faults, testConnector } from "../../../src/handlers/connectors/harness/index.js";
import { httpRequest } from "../../../src/handlers/connectors/http_request.js";

const healthy = { headers: { "content-type": "application/json" }, body: '{"fine":true}' };

test.each([
  ["json", undefined],
  ["stored", "stored"],
] as const)("http.request classes every fault rightly (%s)", async (_, response) => {
  const reports = await testConnector({
    connector: httpRequest,
    parameters: (url) => ({ url, ...(response === undefined ? {} : { response }) }),
    healthy,
    timeout_ms: 400,
  });
  expect(reports.filter(({ is_right }) => !is_right)).toEqual([]);
  expect(reports).toHaveLength(faults.length + 1);
  const found = Object.fromEntries(reports.map(({ fault, failure }) => [fault, failure?.code ?? null]));
  expect(found).toMatchObject({
    "a well host": null,
    "500": "http_500",
    "410": "http_410",
    "time-out": "timeout",
    "slow drip": "timeout",
    "10 MB reply": "response_too_large",
    redirect: "http_302",
    "TLS error": "tls",
    "connection reset": "connection",
    "half body": "connection",
    "not what it says it is": response === undefined ? "bad_response" : null,
  });
});

test("a connector that swallows errors, follows redirects or forgets Retry-After is found out", async () => {
  const careless = defineConnector({
    name: "careless",
    parameters: z.object({ url: z.string() }),
    async run({ url }, { call }) {
      try {
        await call({ url, max_redirects: 3, accept: (status) => status < 500 });
      } catch (error) {
        throw new Error(`failed: ${String(error)}`);
      }
    },
  });
  const reports = await testConnector({
    connector: careless,
    parameters: (url) => ({ url }),
    healthy,
    timeout_ms: 300,
  });
  const wrong = reports.filter(({ is_right }) => !is_right).map(({ fault }) => fault);
  expect(wrong).toEqual(
    expect.arrayContaining(["410", "404", "redirect", "503 with Retry-After", "429 with Retry-After"]),
  );
  expect(reports.find(({ fault }) => fault === "a well host")).toMatchObject({ is_right: true });
});

test("a configuration, secrets and the guard are the harness's to give", async () => {
  const crm = defineConnector({
    name: "acme.crm",
    parameters: z.object({ customer: z.string() }),
    configuration: z.object({ base_url: z.url(), headers: z.record(z.string(), z.string()) }),
    async run({ customer }, { call, config, secret }) {
      expect(config.headers.authorization).toBe("Bearer secret://crm_key");
      expect(await secret("crm_key")).toBe("k-123");
      return (await call({ url: `customers/${customer}` })).json();
    },
  });
  const reports = await testConnector({
    connector: crm,
    parameters: () => ({ customer: "7", config: "main" }),
    configurations: (url) => ({
      main: { base_url: `${url}/v1`, headers: { authorization: "Bearer secret://crm_key" } },
    }),
    secrets: { crm_key: "k-123" },
    healthy,
    timeout_ms: 300,
  });
  expect(reports.filter(({ is_right }) => !is_right)).toEqual([]);
  expect(reports[0]).toMatchObject({ result: { fine: true } });
});
