// What pending migrations would do is said before they do it, and one that takes away what old workers need waits for these.
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Database } from "../../src/engine/database/database.js";
import { migrate, schemaState } from "../../src/engine/schema/migrate.js";
import { effectsOf, migrationPlan } from "../../src/engine/schema/migration_plan.js";
import { readSchemaFolder, schema_folder } from "../../src/engine/schema/schema_folder.js";
import { freshDatabase } from "../postgres.js";

const code = await readSchemaFolder(schema_folder);

let db: Database;
beforeEach(async () => {
  const database = await freshDatabase();
  onTestFinished(database.drop);
  db = database.db;
});

/** The package's own schema, and migrations after it. */
function withMigrations(...texts: string[]) {
  const folder = mkdtempSync(join(tmpdir(), "fanfold-plan-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(join(schema_folder, "migrations"), join(folder, "migrations"), { recursive: true });
  symlinkSync(join(schema_folder, "functions"), join(folder, "functions"));
  const names = texts.map((text, at) => {
    const name = `${String(code.migrations.length + at + 1).padStart(4, "0")}_next`;
    writeFileSync(join(folder, "migrations", `${name}.sql`), text);
    return name;
  });
  return { folder, names };
}

describe("the plan", () => {
  test("names each table with what is done to it and how large it is, and changes nothing", async () => {
    await db.sql`insert into app.tallies (name, amount) select 'some', 1 from generate_series(1, 5000)`;
    await db.script("analyze app.tallies");
    const { folder, names } = withMigrations(
      "alter table app.tallies alter column amount type numeric;\nupdate app.events set kind = kind;\ncreate index on app.workers (host);",
      "-- alter table app.jobs is only spoken of.\nalter table app.jobs add column spare text;\ncreate table app.fresh (a integer);",
    );
    const before = await schemaState(db);

    const plan = await migrationPlan(db, { folder });
    expect(plan).toMatchObject({ database_version: code.migrations.length, functions: [] });
    expect(plan.migrations.map(({ migration }) => migration)).toEqual(names);
    const [first, second] = plan.migrations;
    expect(Object.fromEntries(first!.tables.map(({ table, effect }) => [table, effect]))).toEqual({
      "app.tallies": "rewritten",
      "app.events": "written",
      "app.workers": "read",
    });
    expect(second!.tables).toMatchObject([{ table: "app.jobs", effect: "described" }]);
    const tallies = plan.locked.find(({ table }) => table === "app.tallies")!;
    expect(tallies.rows).toBeGreaterThanOrEqual(5000);
    expect(tallies.size_bytes).toBeGreaterThan(100_000);
    expect(plan.locked.map(({ table }) => table)).toEqual(expect.arrayContaining(["app.jobs", "platform.requests"]));
    expect(await schemaState(db)).toEqual(before);

    await migrate(db, { folder });
    expect(await migrationPlan(db, { folder })).toMatchObject({ migrations: [], functions: [], locked: [] });
  });

  test("of functions alone locks no table", async () => {
    await db.sql`update app.schema_functions set hash = 'old' where name = 'note'`;
    expect(await migrationPlan(db)).toMatchObject({ migrations: [], functions: ["note"], locked: [] });
    await migrate(db);
  });

  test("expects every rewrite that our own migrations have made", { timeout: 60_000 }, async () => {
    const bare = await freshDatabase({ bare: true });
    onTestFinished(bare.drop);
    const folder = mkdtempSync(join(tmpdir(), "fanfold-plan-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    for (const part of ["migrations", "functions"]) mkdirSync(join(folder, part));
    const files = async () => {
      const rows = await bare.db.sql<{ name: string; file: string }>`
        select n.nspname || '.' || c.relname as name, pg_relation_filenode(c.oid)::text as file
          from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where n.nspname in ('app', 'platform') and c.relkind = 'r'`;
      return new Map(rows.map(({ name, file }) => [name, file]));
    };
    const unexpected: string[] = [];
    for (const { name, text } of code.migrations) {
      const before = await files();
      writeFileSync(join(folder, "migrations", `${name}.sql`), text);
      await migrate(bare.db, { folder });
      for (const [table, file] of await files())
        if (before.has(table) && before.get(table) !== file && effectsOf(text).get(table) !== "rewritten")
          unexpected.push(`${name}: ${table}`);
    }
    expect(unexpected).toEqual([]);
  });
});

describe("a migration that needs workers of a later release", () => {
  const contract = "-- contract: needs workers of 0.6.0 or later\nalter table app.workers drop column host;";

  async function worker(version: string | null, { heard_s = 0, status = "live" } = {}): Promise<void> {
    await db.sql`
      insert into app.workers (worker_id, host, version, types, slots, lease_s, status, heartbeat_at)
      values (gen_random_uuid(), 'old-host', ${version}, '{}', 1, 30, ${status}, now() - make_interval(secs => ${heard_s}::float8))`;
  }

  test.each([["0.5.9"], [null]])(
    "is refused while one of %s lives, and forced where that is known",
    async (version) => {
      await worker(version);
      await worker("0.10.0");
      const { folder, names } = withMigrations(contract);
      const plan = await migrationPlan(db, { folder });
      expect(plan.migrations[0]!.contract).toMatchObject({
        release: "0.6.0",
        older_workers: [{ host: "old-host", version }],
      });
      await expect(migrate(db, { folder })).rejects.toThrow(
        new RegExp(`${names[0]} needs workers of 0\\.6\\.0 or later, and live are .* on old-host of .*--force`),
      );
      expect((await schemaState(db, { folder })).pending).toEqual(names);
      expect((await migrate(db, { folder, force: true })).applied).toEqual(names);
    },
  );

  test("is applied when the old ones have stopped or are past their lease", async () => {
    await worker("0.5.9", { status: "stopped" });
    await worker("0.5.9", { heard_s: 40 });
    await worker("0.6.0");
    const { folder, names } = withMigrations(contract);
    expect((await migrate(db, { folder })).applied).toEqual(names);
  });

  test("whose first line is misspelt is refused, with the file", async () => {
    const { folder } = withMigrations("-- contract: workers from 0.6 on\nselect 1;");
    await expect(migrate(db, { folder })).rejects.toThrow(/next\.sql:1: a destructive migration begins with/);
  });
});
