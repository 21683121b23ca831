import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freshDatabase } from "../postgres.js";
import { fanfold } from "./fake_terminal.js";

// Logins are shared by all databases of a server, so these have names of their own.
const mark = randomBytes(4).toString("hex");
const [tenant_login, stranger, unmapped] = [`acme_${mark}`, `stranger_${mark}`, `unmapped_${mark}`];
let database: Awaited<ReturnType<typeof freshDatabase>>;
let folder: string;

beforeAll(async () => {
  database = await freshDatabase();
  folder = await mkdtemp(path.join(tmpdir(), "fanfold-roles-"));
  await database.db.script(`
    create role ${tenant_login} login password 'p w/d';
    create role ${stranger} login password 'x';
    create role ${unmapped} login password 'x';
    grant fanfold_api, fanfold_worker to ${tenant_login}, ${unmapped};
    select app.create_tenant('acme');
    select app.map_role('${tenant_login}', 'acme')`);
});

afterAll(async () => {
  for (const role of [tenant_login, stranger, unmapped]) {
    await database.db.script(`delete from app.tenant_roles where role_name = '${role}'; drop role ${role}`);
  }
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

function as(login: string, password = "x"): { env: Record<string, string> } {
  const url = new URL(database.url);
  url.username = login;
  url.password = password;
  return { env: { DATABASE_URL: url.href, FANFOLD_DATA_DIR: folder } };
}

const levels = (document: { findings: { name: string; level: string }[] }) =>
  Object.fromEntries(document.findings.map(({ name, level }) => [name, level]));

describe("a login of one tenant", () => {
  const env = () => ({ env: { ...as(tenant_login, "p w/d").env, FANFOLD_TENANT: "acme" } });

  test("is found well by doctor, which names its tenant", async () => {
    const ended = await fanfold(["doctor", "--json"], env());
    expect(levels(ended.json())).toMatchObject({
      database: "ok",
      schema: "ok",
      login: "ok",
      row_security: "ok",
      tenant: "ok",
      bounds: "ok",
    });
    expect(ended.code).toBe(0);
  });

  test("submits for its tenant, and is refused with 4 for another", async () => {
    expect(await fanfold(["submit", "hello_world"], env())).toMatchObject({ code: 0 });
    expect((await fanfold(["jobs", "--json"], env())).json().jobs).toHaveLength(1);
    const other = await fanfold(["jobs", "--tenant", "default"], env());
    expect(other.code).toBe(4);
    expect(other.err).toContain("acme");
  });

  test("may not migrate a database that needs it", async () => {
    await database.db.sql`update app.schema_functions set hash = 'old' where name = 'note'`;
    const status = await fanfold(["migrate", "--status"], env());
    const tried = await fanfold(["migrate"], env());
    const used = await fanfold(["jobs"], env());
    await fanfold(["migrate"], { env: { DATABASE_URL: database.url } });
    expect(status).toMatchObject({ code: 1, out: expect.stringContaining("note") });
    expect(tried.code).toBe(4);
    expect(used).toMatchObject({ code: 5, err: expect.stringContaining("fanfold migrate") });
    expect(await fanfold(["migrate", "--status"], env())).toMatchObject({ code: 0 });
  });

  test("asks what a migration would do, and for an exit code alone", async () => {
    const admin = { env: { DATABASE_URL: database.url } };
    expect(await fanfold(["migrate", "--check"], admin)).toMatchObject({ code: 0 });
    expect((await fanfold(["migrate", "--plan"], admin)).out).toBe("nothing is pending\n");
    const last = await database.db.sql<{ version: number; name: string; hash: string }>`
      delete from app.schema_migrations where version = (select max(version) from app.schema_migrations) returning version, name, hash`;
    const { version, name, hash } = last[0]!;
    const check = await fanfold(["migrate", "--check"], admin);
    const plan = (await fanfold(["migrate", "--plan", "--json"], admin)).json();
    const shown = await fanfold(["migrate", "--plan"], admin);
    await database.db
      .sql`insert into app.schema_migrations (version, name, hash) values (${version}::integer, ${name}, ${hash})`;
    expect(check).toMatchObject({ code: 1, out: expect.stringContaining(name) });
    expect(plan).toMatchObject({ database_version: version - 1, migrations: [{ migration: name, contract: null }] });
    expect(shown).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^apply {5}[0-9a-z_]+\n[\s\S]*locked {4}\d+ tables/),
    });
  });

  test("does not show its password", async () => {
    const { out } = await fanfold(["doctor"], env());
    expect(out).not.toContain("p w/d");
    expect(out).not.toContain("p%20w");
    expect(out).toContain("***");
  });
});

describe("a superuser", () => {
  const env = () => ({ env: { DATABASE_URL: database.url, FANFOLD_DATA_DIR: folder } });

  test("is told by doctor when a table loses its row-level security", async () => {
    await database.db.script("alter table app.jobs no force row level security");
    const { code, out } = await fanfold(["doctor"], env());
    await database.db.script("alter table app.jobs force row level security");
    expect(code).toBe(1);
    expect(out).toMatch(/fail {2}row_security .*jobs/);
  });

  test("may migrate as often as it likes", async () => {
    expect(await fanfold(["migrate", "--status"], env())).toMatchObject({
      code: 0,
      out: expect.stringContaining("current"),
    });
    expect((await fanfold(["migrate", "--json"], env())).json()).toMatchObject({ applied: [], functions: [] });
  });
});

describe("a login without a tenant", () => {
  test("is told by doctor to get one, and is refused with 4", async () => {
    const doctor = await fanfold(["doctor", "--json"], as(unmapped));
    expect(doctor.code).toBe(1);
    expect(levels(doctor.json()).tenant).toBe("fail");
    const refused = await fanfold(["jobs"], as(unmapped));
    expect(refused.code).toBe(4);
    expect(refused.err).toContain("map_role");
  });
});

describe("a login without any right", () => {
  test("is told so by doctor and refused with 4", async () => {
    const doctor = await fanfold(["doctor", "--json"], as(stranger));
    expect(doctor.code).toBe(1);
    expect(levels(doctor.json())).toMatchObject({ database: "ok", login: "fail" });
    const refused = await fanfold(["jobs"], as(stranger));
    expect(refused.code).toBe(4);
    expect(refused.err).not.toMatch(/\n\s+at /);
  });
});

describe("a database without Fanfold", () => {
  test("is found so by doctor, by migrate --status and by every command", async () => {
    const bare = await freshDatabase({ bare: true });
    const env = { env: { DATABASE_URL: bare.url, FANFOLD_DATA_DIR: folder } };
    try {
      const doctor = await fanfold(["doctor", "--json"], env);
      expect(doctor.code).toBe(1);
      expect(levels(doctor.json())).toMatchObject({ database: "ok", schema: "fail" });
      expect((await fanfold(["migrate", "--status"], env)).code).toBe(1);
      expect(await fanfold(["jobs"], env)).toMatchObject({ code: 5, err: expect.stringContaining("fanfold migrate") });
      expect((await fanfold(["migrate", "--json"], env)).json()).toMatchObject({
        applied: expect.arrayContaining(["0001_foundation"]),
      });
      expect((await fanfold(["jobs"], env)).code).toBe(0);
    } finally {
      await bare.drop();
    }
  });

  test("or no database at all, is said with what to do", async () => {
    const url = new URL(database.url);
    url.pathname = "/there_is_none";
    const { code, err } = await fanfold(["jobs"], { env: { DATABASE_URL: url.href } });
    expect(code).toBe(5);
    expect(err).toContain("there_is_none");
    expect(err).toContain("createdb");
  });
});
