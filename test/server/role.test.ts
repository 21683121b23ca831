// Under which roles the service starts, and what it says to the others.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../../src/engine/database/database.js";
import { openServer } from "../../src/engine/database/server_database.js";
import { assertServingRole } from "../../src/server/access/role.js";
import { freshDatabase } from "../postgres.js";

const mark = Math.random().toString(36).slice(2, 8);
const role = (name: string) => `ff_${name}_${mark}`;
const names = ["good", "owner", "bypass", "tenant", "unmapped", "bare"];
let admin: Database;
let url: string;
let drop: () => Promise<void>;
beforeAll(async () => {
  ({ db: admin, url, drop } = await freshDatabase());
  for (const name of names) await admin.script(`create role ${role(name)} login`);
  await admin.script(`
    grant fanfold_api, fanfold_worker to ${["good", "owner", "bypass", "tenant", "unmapped"].map(role).join(", ")};
    grant fanfold_owner to ${role("owner")};
    alter role ${role("bypass")} bypassrls;
    select app.create_tenant('acme');
    select app.map_role('${role("tenant")}', 'acme')`);
  for (const name of ["good", "owner", "bypass"]) await admin.sql`select app.map_role(${role(name)}::text::name, null)`;
});
afterAll(async () => {
  for (const name of names) await admin.script(`drop owned by ${role(name)}; drop role ${role(name)}`);
  await drop();
});

async function refusalOf(name: string): Promise<string | null> {
  const as = new URL(url);
  as.username = role(name);
  const db = openServer(as.href);
  try {
    return await assertServingRole(db).then(
      () => null,
      (error: Error & { hint: string }) => `${error.message}\n${error.hint}`,
    );
  } finally {
    await db.close();
  }
}

test("a role without rights of its own, mapped as the server's, may serve", async () => {
  expect(await refusalOf("good")).toBeNull();
});

test("a superuser is refused, with the SQL for another role", async () => {
  const refusal = await assertServingRole(admin).catch((error: Error & { hint: string }) => error);
  expect(refusal).toMatchObject({ code: "forbidden", message: expect.stringContaining("superuser") });
  const { hint, message } = refusal as { hint: string; message: string };
  // Another database of this server may have made the role.
  const [{ exists } = { exists: false }] = await admin.sql<{ exists: boolean }>`
    select exists (select from pg_roles where rolname = 'fanfold_server') as exists`;
  expect(hint).toContain(
    exists
      ? "grant fanfold_api, fanfold_worker to fanfold_server;"
      : "create role fanfold_server login password '<password>' in role fanfold_api, fanfold_worker;",
  );
  expect(hint).toContain(
    "select app.map_role('fanfold_server', null); then DATABASE_URL=postgres://fanfold_server:<password>@",
  );
  expect(`${message}${hint}`.match(/map_role/g)).toHaveLength(1);
  expect(hint).not.toContain(";;");
});

test("an owner of the tables and a role that bypasses row-level security are refused", async () => {
  const owner = await refusalOf("owner");
  expect(owner).toContain("owns the tables");
  expect(owner).toContain("fanfold_server");
  expect(owner).not.toContain("revoke");
  expect(await refusalOf("bypass")).toContain("bypasses row-level security");
});

test("a role of one tenant, an unmapped one and one without any grant are refused, each with what to run", async () => {
  expect(await refusalOf("tenant")).toContain('belongs to tenant "acme"');
  expect(await refusalOf("unmapped")).toContain(`select app.map_role('${role("unmapped")}', null);`);
  const bare = await refusalOf("bare");
  expect(bare).toContain("not a member of fanfold_api and fanfold_worker");
  expect(bare).toContain(
    `grant fanfold_api, fanfold_worker to ${role("bare")}; select app.map_role('${role("bare")}', null);`,
  );
});

test("the embedded database serves as it is", async () => {
  // Nothing is asked of it, so nothing of it is needed.
  await assertServingRole({ kind: "embedded" } as Database);
});
