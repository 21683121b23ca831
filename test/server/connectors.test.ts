// Configurations of connectors over HTTP: no secret by value, all problems at once, each tenant its own.
import { afterAll, beforeAll, expect, test } from "vitest";
import { httpRequest } from "../../src/handlers/connectors/http_request.js";
import { openService, type TestService } from "./service.js";

let service: TestService;
beforeAll(async () => {
  service = await openService({ handlers: [httpRequest] });
});
afterAll(() => service.close());

const path = "/api/connectors/http.request/crm";
const config = {
  base_url: "https://crm.example.com/v1",
  headers: { authorization: "Bearer secret://crm_key", accept: "application/json" },
  limits: { max_concurrent: 4, rate_per_s: 10 },
  outbound: { allow_hosts: ["crm.example.com"] },
};

test("a configuration is set, listed, replaced and removed, and the history says by whom", async () => {
  const set = await service.call("PUT", path, { body: { config, actor: "ada" } });
  expect(set).toMatchObject({ status: 200, body: { connector: "http.request", name: "crm", config } });
  expect(set.body.updated_by).toContain("(ada)");
  expect(await service.call("GET", "/api/connectors")).toMatchObject({
    body: { connectors: [{ name: "crm", config }] },
  });
  const smaller = { base_url: config.base_url };
  await service.call("PUT", path, { body: { config: smaller } });
  const listed = await service.call("GET", "/api/connectors?connector=http.request");
  expect(listed.body.connectors.map((one: { config: unknown }) => one.config)).toEqual([smaller]);
  expect(await service.call("DELETE", path)).toMatchObject({ status: 200, body: { removed: true } });
  expect(await service.call("DELETE", path)).toMatchObject({ status: 404, body: { code: "not_found" } });
  const events = await service.db.sql<{ kind: string }>`select kind from app.events where kind like 'connector.%'`;
  expect(events).toHaveLength(3);
});

test("what looks like a secret, or is not known, is refused with what to do, and is not repeated", async () => {
  const wrong = {
    base_url: "nowhere",
    colour: "red",
    limits: { max_concurrent: 0 },
    headers: { "x-api-key": "hunter2hunter2", authorization: "Bearer abcdefghijkl", note: "sk_live_abcdefgh1234" },
    query: { access_token: "hunter2hunter2" },
  };
  const { status, body } = await service.call("PUT", path, { body: { config: wrong } });
  expect(status).toBe(400);
  const found = body.problems.map((one: { path: string }) => one.path);
  expect(found).toEqual(
    expect.arrayContaining([
      "$.base_url",
      "$.limits.max_concurrent",
      '$.headers["x-api-key"]',
      "$.headers.authorization",
      "$.headers.note",
      "$.query.access_token",
    ]),
  );
  expect(JSON.stringify(body)).toContain("secret://<name>");
  expect(JSON.stringify(body)).not.toMatch(/hunter2|abcdefgh/);
  expect(await service.call("GET", "/api/connectors")).toMatchObject({ body: { connectors: [] } });
  for (const bad of [
    "/api/connectors/http.request/No",
    "/api/connectors/HTTP/x",
    "/api/connectors/http.request/a%2Fb",
  ]) {
    expect((await service.call("PUT", bad, { body: { config: {} } })).status).toBe(400);
  }
  const large = { config: { headers: { note: "x".repeat(100_000) } } };
  expect((await service.call("PUT", path, { body: large })).status).toBe(400);
  // A connector that this server does not know is checked for secrets all the same.
  const other = "/api/connectors/acme.crm/main";
  const plain = await service.call("PUT", other, { body: { config: { anything: { password: "hunter2" } } } });
  expect(plain).toMatchObject({ status: 400, body: { problems: [{ path: "$.anything.password" }] } });
  const heavy = { config: { anything: Array.from({ length: 12_000 }, (_, n) => `${n}`) } };
  expect((await service.call("PUT", other, { body: heavy })).status).toBe(413);
});

test("a tenant sees and touches its own only, and writing takes an admin", async () => {
  await service.call("PUT", path, { body: { config } });
  const other = await service.key("globex");
  expect(await service.call("GET", "/api/connectors", { key: other })).toMatchObject({ body: { connectors: [] } });
  expect((await service.call("DELETE", path, { key: other })).status).toBe(404);
  const reader = await service.key("default", ["read"]);
  expect((await service.call("PUT", path, { key: reader, body: { config } })).status).toBe(403);
  expect((await service.call("DELETE", path, { key: reader })).status).toBe(403);
  expect((await service.call("GET", "/api/connectors", { key: reader })).status).toBe(200);
  expect((await service.call("GET", "/api/connectors", { key: null })).status).toBe(401);
});

test("the hosts that were called are listed, the troubled first", async () => {
  const enter = (scope: string) =>
    service.db.sql<{ reply: { slot_id: number } }>`
      select app.host_enter(json_build_object('scope', ${scope}::text, 'break_after', 1)) as reply`;
  const [bad] = await enter("bad.example.com");
  await service.db.sql`
    select app.host_leave(json_build_object('slot_id', ${bad!.reply.slot_id}::bigint, 'outcome', 'failed'))`;
  await enter("good.example.com");
  const { body } = await service.call("GET", "/api/connector-hosts");
  expect(body.hosts).toMatchObject([
    { scope: "bad.example.com", breaker: "open", calls: 0 },
    { scope: "good.example.com", breaker: "closed", calls: 1 },
  ]);
  const other = await service.key("globex");
  expect(await service.call("GET", "/api/connector-hosts", { key: other })).toMatchObject({ body: { hosts: [] } });
});
