import { describe, expect, test } from "vitest";
import type { WayFacts } from "../../src/engine/database/server_way.js";
import {
  type CheckResult,
  judgeMigrations,
  judgeNode,
  judgeSchema,
  judgeSecretKey,
  judgeServer,
  judgeStorage,
  judgeWorkers,
  type ServerContext,
} from "../../src/engine/schema/diagnosis.js";
import type { SchemaFacts, ServerFacts } from "../../src/engine/schema/server_facts.js";

const now = new Date("2020-01-01T00:00:00Z");
const facts: ServerFacts = {
  version: "15.4",
  version_num: 150_004,
  session_user: "worker",
  is_superuser: false,
  is_owner: false,
  now,
  max_connections: 100,
  reserved_connections: 3,
  used_connections: 7,
  missing_roles: [],
  has_schema: true,
  may_use_schema: true,
  server_role_exists: false,
};
const way: WayFacts = { pooled: false, prepares: true, takes_settings: true, hears: true };
const context: ServerContext = { kind: "server", way, asked_at_ms: now.getTime(), round_trip_ms: 3 };
const schema: SchemaFacts = {
  role: "worker",
  tables_without_security: [],
  tables_without_force: [],
  mapping: "tenant",
  mapped_tenant: "acme",
  unset_bounds: [],
  database: "maps",
};

function finding(findings: CheckResult[], name: string): CheckResult {
  const found = findings.find((one) => one.name === name);
  if (!found) throw new Error(`no finding ${name}`);
  return found;
}

const server = (more: Partial<ServerFacts>, where: Partial<ServerContext> = {}) =>
  judgeServer({ ...facts, ...more }, { ...context, ...where });

describe("doctor", () => {
  test("finds nothing wrong with a healthy server", () => {
    const all = [...server({}), ...judgeSchema(schema, "server"), judgeNode("v20.1.0")];
    expect(all.filter((one) => one.level !== "ok")).toEqual([]);
  });

  test("says what to do whenever something is not ok", () => {
    const all = [
      ...server(
        { version_num: 140_000, is_superuser: true, missing_roles: ["fanfold_owner"], used_connections: 99 },
        { way: { pooled: true, prepares: false, takes_settings: false, hears: false } },
      ),
      ...judgeSchema(
        {
          ...schema,
          tables_without_security: ["jobs"],
          tables_without_force: ["tasks"],
          mapping: "none",
          mapped_tenant: null,
        },
        "server",
      ),
      judgeMigrations({ database_version: 0, code_version: 1, pending: [] }),
      judgeNode("v18.0.0"),
      judgeWorkers({ live: 0, silent: 0, slots: 0 }),
      judgeStorage(
        { kind: "disk", place: "/x" },
        { step: "write", why: "EACCES", hint: "make it writable for this user, or choose another" },
      ),
    ];
    const unwell = all.filter((one) => one.level !== "ok");
    expect(unwell.map((one) => one.name)).toEqual([
      "version", "pooler", "connections", "login", "roles", "row_security", "tenant", "schema", "node", "workers", "storage",
    ]); // biome-ignore format: one row
    expect(unwell.every((one) => one.fix)).toBe(true);
  });

  test("says how a role becomes the server's, or one tenant's", () => {
    const [, tenant] = judgeSchema({ ...schema, role: "web", mapping: "none", mapped_tenant: null }, "server");
    expect(tenant?.fix).toContain("select app.map_role('web', null);");
    expect(tenant?.fix).toContain("'<tenant>'");
    expect(finding(server({ may_use_schema: false }), "login").fix).toContain(
      "grant fanfold_api, fanfold_worker to worker; select app.map_role('worker', null);",
    );
  });

  test("advises a role beside the owner's, made or only granted as there is one", () => {
    const fix = (server_role_exists: boolean) => finding(server({ is_owner: true, server_role_exists }), "login").fix;
    expect(fix(false)).toContain("create role fanfold_server login password '<password>'");
    expect(fix(true)).toContain("grant fanfold_api, fanfold_worker to fanfold_server;");
    expect(fix(true)).not.toMatch(/create role|revoke|;;/);
  });

  test("warns without a key for secrets, on a server only", () => {
    expect(judgeSecretKey("embedded", 0)).toBeNull();
    expect(judgeSecretKey("server", 1)).toMatchObject({ level: "ok" });
    expect(judgeSecretKey("server", 0)).toMatchObject({
      level: "warn",
      fix: expect.stringContaining("openssl rand -base64 32"),
    });
  });

  test("says what a pooler takes away, and who shares its connections", () => {
    const pooled = { pooled: true, prepares: false, takes_settings: false, hears: false };
    const deaf = server({}, { way: pooled });
    expect(finding(deaf, "pooler")).toMatchObject({
      level: "warn",
      fix: expect.stringContaining("FANFOLD_LISTEN_URL"),
    });
    expect(finding(deaf, "pooler").message).toContain("looked for every 100 to 200 ms");
    expect(finding(deaf, "connections").message).toContain("share those that it opens");
    expect(finding(server({}, { way: { ...pooled, hears: true } }), "pooler").level).toBe("ok");
  });

  test("fails on a Postgres older than 15", () => {
    expect(finding(server({ version_num: 149_999 }), "version").level).toBe("fail");
    expect(finding(server({ version_num: 150_000 }), "version").level).toBe("ok");
  });

  test("warns of a clock that is off by more than two seconds and more than the question took", () => {
    const at = (ms: number, round_trip_ms = 1) =>
      finding(server({ now: new Date(now.getTime() + ms) }, { round_trip_ms }), "clock").level;
    expect([at(1_999), at(2_001), at(-2_001), at(5_000, 6_000)]).toEqual(["ok", "warn", "warn", "ok"]);
  });

  test("warns at half of the connections and fails when they are nearly gone", () => {
    const at = (used_connections: number) => finding(server({ used_connections }), "connections").level;
    expect([at(49), at(50), at(92), at(93)]).toEqual(["ok", "warn", "warn", "fail"]);
  });

  test("warns a superuser and an owner that row-level security does not hold for them", () => {
    expect(finding(server({ is_superuser: true }), "login")).toMatchObject({
      level: "warn",
      message: expect.stringContaining("superuser"),
    });
    expect(finding(server({ is_owner: true }), "login")).toMatchObject({
      level: "warn",
      message: expect.stringContaining("owner"),
    });
  });

  test("fails when any table lost its row-level security or its force", () => {
    for (const hole of [{ tables_without_security: ["jobs"] }, { tables_without_force: ["jobs"] }]) {
      expect(finding(judgeSchema({ ...schema, ...hole }, "server"), "row_security")).toMatchObject({
        level: "fail",
        message: expect.stringContaining("jobs"),
      });
    }
  });

  test("gives the SQL for bounds that a role's sessions lack", () => {
    const unset_bounds = [{ name: "temp_file_limit", value: "2GB" }];
    expect(finding(judgeSchema({ ...schema, unset_bounds }, "server"), "bounds")).toEqual({
      name: "bounds",
      level: "warn",
      message: "sessions of this role start without temp_file_limit",
      fix: "as a superuser: alter role worker in database maps set temp_file_limit = '2GB';",
    });
  });

  test("fails for a role that is mapped to no tenant", () => {
    expect(finding(judgeSchema({ ...schema, mapping: "none", mapped_tenant: null }, "server"), "tenant").level).toBe(
      "fail",
    );
    expect(finding(judgeSchema({ ...schema, mapping: "server", mapped_tenant: null }, "server"), "tenant").level).toBe(
      "ok",
    );
  });

  test("tells an old schema from one that is newer than the code", () => {
    expect(judgeMigrations({ database_version: 1, code_version: 1, pending: [] }).level).toBe("ok");
    expect(judgeMigrations({ database_version: 1, code_version: 2, pending: ["0002_x"] })).toMatchObject({
      level: "fail",
      fix: "run: fanfold migrate",
    });
    expect(judgeMigrations({ database_version: 3, code_version: 2, pending: [] })).toMatchObject({
      level: "fail",
      fix: "update fanfold",
    });
  });

  test("does not ask the embedded database about logins, poolers and tenants", () => {
    const names = [
      ...server({ is_superuser: true }, { kind: "embedded", way: null }),
      ...judgeSchema(schema, "embedded"),
    ].map((one) => one.name);
    expect(names).toEqual(["version", "clock", "roles", "row_security"]);
  });
});
