// fanfold connectors, on a database in a folder.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FreshDatabase, freshDatabase } from "../postgres.js";
import { type Ended, start } from "./fake_terminal.js";

let database: FreshDatabase;
beforeAll(async () => {
  database = await freshDatabase();
});
afterAll(() => database.drop());

function fanfold(...argv: string[]): Promise<Ended> {
  return start(argv, { env: { DATABASE_URL: database.url }, user: "ada" }).done;
}

test("a configuration is set from pairs, listed, and removed", async () => {
  expect((await fanfold("connectors")).out).toContain("fanfold connectors set http.request");
  const pairs = [
    "base_url=https://crm.example.com",
    "headers.authorization=Bearer secret://crm_key",
    "limits.rate_per_s=5",
  ];
  const set = await fanfold("connectors", "set", "http.request", "crm", ...pairs);
  expect(set).toMatchObject({ code: 0, out: expect.stringContaining("config=crm") });
  const listed = await fanfold("connectors", "list", "--json");
  expect(listed.json().connectors).toMatchObject([
    {
      connector: "http.request",
      name: "crm",
      updated_by: "ada",
      config: { headers: { authorization: "Bearer secret://crm_key" }, limits: { rate_per_s: 5 } },
    },
  ]);
  expect((await fanfold("connectors", "list")).out).toContain("secret://crm_key");
  expect(await fanfold("connectors", "remove", "http.request", "crm")).toMatchObject({ code: 0 });
  const again = await fanfold("connectors", "remove", "http.request", "crm");
  expect(again).toMatchObject({ code: 2, err: expect.stringContaining("list them: fanfold connectors\n") });
});

test("what looks like a secret is refused with where to keep it, and unknown keys are told", async () => {
  const { code, err } = await fanfold(
    "connectors",
    "set",
    "http.request",
    "crm",
    "headers.authorization=Bearer 0123456789",
    "url=x",
  );
  expect(code).not.toBe(0);
  expect(err).toContain("secret://<name>");
  expect(err).toContain("url");
  expect(err).not.toContain("0123456789");
  expect((await fanfold("connectors", "set", "http.request", "crm", "nonsense")).code).toBe(2);
});

test("the hosts that were called are shown", async () => {
  expect((await fanfold("connectors", "hosts")).out).toContain("nothing was called lately");
  await database.db.sql`select app.host_enter(json_build_object('scope', 'api.example.com'))`;
  expect((await fanfold("connectors", "hosts")).out).toMatch(/api\.example\.com\s+closed/);
});
