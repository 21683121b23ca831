// What people call things: whatever a terminal would obey, nobody sees, or looks like another name is refused over HTTP and by SQL.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineHandler, defineJob } from "../../src/core/declare/declare.js";
import { openService, type TestService } from "./service.js";

let service: TestService;
let operator: string;
beforeAll(async () => {
  service = await openService({
    jobs: [defineJob({ type: "greet", stages: [{ name: "say", task: "t.say" }] })],
    handlers: [defineHandler("t.say", {}, () => null)],
  });
  await service.key();
  operator = await service.key("default", undefined, { operator: true });
});
afterAll(() => service.close());

const unseen = [
  "a\u001b[31mb",
  "a\u0007",
  "a\rb",
  "a\u009bb",
  "a\u202eb",
  "\u2066a",
  "a\u200fb",
  "a\u200bb",
  "\ufeffa",
];
const decomposed = "Zu\u0308rich";
const good = ["Zürich", "نامه‌ای", "東京 · 2", "👩‍🔬 rasters", "Acme Ltd."];

let count = 0;
const places: Record<string, (name: string) => Promise<number>> = {
  "a view": (name) => send("PUT", `/api/views/${encodeURIComponent(name)}`, { query: "" }),
  "a key": (name) => send("POST", "/api/keys", { name, scopes: ["read"] }),
  "a tenant": (name) => send("POST", "/api/tenants", { tenant_id: `t${++count}`, name }),
  "a group": (name) => send("PUT", `/api/groups/g${++count}`, { name }),
  "a label": (name) => send("POST", "/api/jobs/submit/greet", { parameters: { n: ++count }, labels: { [name]: "x" } }),
  "a label's value": (name) =>
    send("POST", "/api/jobs/submit/greet", { parameters: { n: ++count }, labels: { x: name } }),
  "a schedule's label": (name) =>
    send("PUT", `/api/schedules/s${++count}`, {
      cron: "0 0 1 1 *",
      job_type: "greet",
      options: { labels: { x: name } },
    }),
  "an actor": (name) => send("PUT", `/api/groups/g${++count}`, { actor: name }),
};
const descriptions: typeof places = {
  "a webhook's description": (description) =>
    send("POST", "/api/webhooks", { url: `https://example.com/${++count}`, description }),
  "a schedule's description": (description) =>
    send("PUT", `/api/schedules/s${++count}`, { cron: "0 0 1 1 *", job_type: "greet", description }),
};

async function send(method: string, path: string, body: unknown): Promise<number> {
  return (await service.call(method, path, { key: operator, body })).status;
}

describe.each(Object.entries({ ...places, ...descriptions }))("%s over HTTP", (name, place) => {
  test("is anything people can read", async () => {
    for (const text of [...good, ...(name in descriptions ? ["two\nlines", decomposed] : [])]) {
      expect([text, await place(text)]).toEqual([text, expect.toSatisfy((status) => status < 300)]);
    }
  });

  test("is nothing that cannot be seen or looks like another", async () => {
    const bad = [...unseen, ...(name in places ? [decomposed] : [])];
    for (const text of bad) expect([text, await place(text)]).toEqual([text, 400]);
  });
});

const in_sql: Record<string, (name: string) => Promise<unknown>> = {
  "a view": (name) => service.db.sql`select app.put_view(${name}, '', 'default')`,
  "a group": (name) => request("create_group", { group_id: `q${++count}`, name }),
  "a tenant": (name) => request("add_tenant", { tenant_id: `q${++count}`, name }),
  "a label": (name) => submitted({ [name]: "x" }),
  "a label's value": (name) => submitted({ x: name }),
  "a key": (name) =>
    request("create_key", {
      name,
      key_id: String(++count).padStart(12, "k"),
      secret_hash: "0".repeat(64),
      scopes: ["read"],
    }),
};

function request(verb: string, body: object): Promise<unknown> {
  const text = JSON.stringify({ tenant: "default", ...body });
  return service.db.script(`select app.${verb}('${text.replaceAll("'", "''")}'::json)`);
}

function submitted(labels: object): Promise<unknown> {
  const blueprint = JSON.stringify({ type: "by_sql", stages: [{ name: "say", task: "t.say" }] });
  const options = JSON.stringify({ labels });
  return service.db.sql`
    select app.submit(${blueprint}::text::jsonb, ${JSON.stringify({ n: ++count })}::text::jsonb, 'reuse', ${options}::text::jsonb, 'default')`;
}

test.each(Object.entries(in_sql))("%s in SQL is held to the same", async (_, place) => {
  for (const text of good) await place(text);
  for (const text of [...unseen, decomposed]) {
    await expect(place(text), JSON.stringify(text)).rejects.toMatchObject({ code: "FF002" });
  }
});

test("a view that was saved before names were looked at can be deleted", async () => {
  const name = "old\u001b[2J";
  await service.db.sql`
    insert into app.saved_views (tenant_id, name, query, created_by, updated_by) values ('default', ${name}, '', 'x', 'x')`;
  expect((await service.call("DELETE", `/api/views/${encodeURIComponent(name)}`)).status).toBe(200);
});
