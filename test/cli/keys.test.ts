// Tenants, keys and limits from the command line, on a server and on the embedded database.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readKey } from "../../src/core/values/api_key.js";
import { KeyAuthenticator } from "../../src/server/access/auth.js";
import { freshDatabase } from "../postgres.js";
import { migratedFolder } from "./embedded_folder.js";
import { fanfold } from "./fake_terminal.js";

let database: Awaited<ReturnType<typeof freshDatabase>>;
let folder: string;
let env: Record<string, string>;
beforeAll(async () => {
  database = await freshDatabase();
  folder = await mkdtemp(path.join(tmpdir(), "fanfold-keys-"));
  env = { DATABASE_URL: database.url, FANFOLD_DATA_DIR: folder };
});
afterAll(async () => {
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

const run = (...argv: string[]) => fanfold(argv, { env });

test("a tenant is made, named and listed, and told twice it is there already", async () => {
  expect((await run("tenants", "create", "acme", "--name", "Acme")).out).toContain("tenant acme is made");
  expect((await run("tenants", "create", "acme")).out).toContain("was there already");
  expect((await run("tenants", "rename", "acme", "Acme Ltd.")).code).toBe(0);
  const { tenants, next } = (await run("tenants", "--json")).json();
  expect(tenants).toMatchObject([{ tenant_id: "acme", name: "Acme Ltd." }, { tenant_id: "default" }]);
  expect(next).toBeNull();
  expect(await run("tenants", "create", "Not A Name")).toMatchObject({
    code: 2,
    err: expect.stringContaining("tenant_id"),
  });
  expect(await run("tenants", "rename", "nobody", "x")).toMatchObject({
    code: 2,
    err: expect.stringContaining("nobody"),
  });
});

test("a key alone is on standard output, works, is rotated and revoked", async () => {
  const made = await run("keys", "create", "ops", "--scope", "all", "--operator", "--env", "test");
  expect(made.code).toBe(0);
  expect(made.err).toContain("it is not shown again");
  const key = made.out.trim();
  const parts = readKey(key)!;
  expect(parts.env).toBe("test");
  const authenticator = new KeyAuthenticator(database.db);
  expect(await authenticator.authenticate(`Bearer ${key}`)).toMatchObject({ operator: true, tenant_id: "default" });
  await authenticator.close();
  const listed = await run("keys");
  expect(listed.out).toContain(parts.key_id);
  expect(listed.out).not.toContain(parts.secret);
  const rotated = (await run("keys", "rotate", parts.key_id, "--overlap", "60", "--json")).json();
  expect(rotated).toMatchObject({ old: { status: "ending" }, new: { operator: true, rotated_from: parts.key_id } });
  expect((await run("keys", "rotate", parts.key_id)).code).toBe(2);
  const { key_id } = rotated.new;
  const late = await run("keys", "rotate", key_id, "--overlap", "-1", "--expires", "tomorrow");
  expect(late).toMatchObject({ code: 2, err: expect.stringMatching(/--overlap[\s\S]*--expires/) });
  const ends = (await run("keys", "rotate", key_id, "--expires", "2099-12-31T18:00:00+01:00", "--json")).json();
  expect(ends.new).toMatchObject({ rotated_from: key_id, expires_at: expect.stringContaining("2099-12-31T17:00:00") });
  expect((await run("keys", "revoke", parts.key_id, "--reason", "leaked")).out).toContain("ended at");
  const [event] = await database.db.sql`select actor, reason from app.events where kind = 'key.revoked'`;
  expect(event).toEqual({ actor: "tess", reason: "leaked" });
  expect(await run("keys", "revoke", "aaaaaaaaaaaa")).toMatchObject({
    code: 2,
    err: expect.stringContaining("list them: fanfold keys\n"),
  });
});

test("what is wrong with a key is told at once, before or by the database", async () => {
  const here = await run("keys", "create", "x", "--expires", "tomorrow");
  expect(here.code).toBe(2);
  expect(here.err).toContain("--scope");
  expect(here.err).toContain("--expires");
  const unknown = await run("keys", "create", "x", "--scope", "read,fly");
  expect(unknown.code).toBe(2);
  expect(unknown.err).toContain('"fly" is not known');
  expect(unknown.err).toContain("submit, read, operate, work, admin");
  const there = await run("keys", "create", "x".repeat(101), "--scope", "read", "--env", "UPPER");
  expect(there.code).toBe(2);
  expect(there.err).toContain("$.env");
  expect(there.err).toContain("$.name");
});

test("scopes may be given with commas, one by one, or twice", async () => {
  const made = await run("keys", "create", "x", "--scope", "submit, read", "--scope", "read", "--json");
  expect(made.json().scopes).toEqual(["read", "submit"]);
});

test("limits are shown, set by name and lifted with none", async () => {
  const set = await run("limits", "acme", "set", "queued_tasks=1000", "submits_per_s=2.5", "fan_out=10");
  expect(set.code).toBe(0);
  expect(set.out).toMatch(/queued_tasks +1,000 +0/);
  expect(set.out).toMatch(/submits_per_s +2.5 +3 left/);
  const shown = (await run("limits", "acme", "set", "fan_out=none", "--json")).json();
  expect(shown.limits).toMatchObject({ queued_tasks: 1000, fan_out: null });
  expect((await run("limits", "--json")).json()).toMatchObject({
    tenant_id: "default",
    limits: { queued_tasks: null },
  });
  const wrong = await run("limits", "acme", "set", "queud_tasks=1", "fan_out=many");
  expect(wrong.code).toBe(2);
  expect(wrong.err).toContain('Did you mean "queued_tasks"?');
  expect(wrong.err).toContain('"many" is not a number');
  expect((await run("limits", "acme", "set", "fan_out=0")).code).toBe(2);
  expect((await run("limits", "set", "fan_out=0")).code).toBe(2);
  expect((await run("limits", "nobody")).code).toBe(2);
});

test("over a limit the command line ends with 4 and says when to come back", async () => {
  await run("limits", "acme", "set", "submits_per_s=0.01", "submit_burst=1");
  const submit = (n: number) => run("submit", "hello_world", `n=${n}`, "--tenant", "acme");
  expect((await submit(1)).code).toBe(0);
  const refused = await submit(2);
  expect(refused.code).toBe(4);
  expect(refused.err).toContain("limits.submits_per_s");
  expect(refused.err).toMatch(/come back in \d+ s/);
});

test("the embedded database has keys and limits as well", async () => {
  const data_dir = path.join(folder, "embedded");
  await migratedFolder(data_dir);
  const embedded = (...argv: string[]) => fanfold(argv, { env: { FANFOLD_DATA_DIR: data_dir } });
  const made = await embedded("keys", "create", "first", "--scope", "submit");
  expect(readKey(made.out.trim())).not.toBeNull();
  const limits = await embedded("limits", "default", "set", "queued_tasks=1", "--json");
  expect(limits.json()).toMatchObject({ limits: { queued_tasks: 1 }, usage: { queued_tasks: 0 } });
});
