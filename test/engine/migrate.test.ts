// The migrator, on small schema folders made by each test.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Database } from "../../src/engine/database/database.js";
import { openEmbedded } from "../../src/engine/database/embedded_database.js";
import { openServer } from "../../src/engine/database/server_database.js";
import { assertCurrent, migrate, schemaState } from "../../src/engine/schema/migrate.js";
import { isLater } from "../../src/engine/schema/schema_folder.js";
import { plainScript } from "../plain_code.js";
import { freshDatabase } from "../postgres.js";

class Folder {
  readonly path = mkdtempSync(join(tmpdir(), "fanfold-schema-"));

  constructor() {
    mkdirSync(join(this.path, "migrations"));
    mkdirSync(join(this.path, "functions", "sums"), { recursive: true });
    onTestFinished(() => rmSync(this.path, { recursive: true, force: true }));
  }

  migration(name: string, text: string): this {
    writeFileSync(join(this.path, "migrations", `${name}.sql`), text);
    return this;
  }

  function(name: string, text: string): this {
    writeFileSync(join(this.path, "functions", `${name}.sql`), text);
    return this;
  }

  without(file: string): this {
    rmSync(join(this.path, file));
    return this;
  }

  get options() {
    return { folder: this.path };
  }
}

/** Two migrations and two functions. */
function small(): Folder {
  return new Folder()
    .migration("0001_things", "create table app.things (a int); insert into app.things values (1);")
    .migration("0002_more", "alter table app.things add b int; insert into app.things values (2, 2);")
    .function("one", "create or replace function app.one() returns int language sql as 'select 1'")
    .function(
      "sums/total",
      "create or replace function app.total(p_more int) returns int language sql as 'select p_more + sum(a)::int from app.things'",
    );
}

const kinds = {
  server: async () => {
    const { db, drop } = await freshDatabase({ bare: true });
    return { db, close: drop };
  },
  embedded: async () => {
    const embedded = await openEmbedded("memory://");
    return { db: embedded.as(null), close: () => embedded.close() };
  },
};

// On the embedded database each test file begins with a migration.
const kind = process.env.FANFOLD_TEST_EMBEDDED ? "embedded" : "server";
describe(`migrating (${kind})`, () => {
  let db: Database;
  let close: () => Promise<void>;

  beforeAll(async () => {
    ({ db, close } = await kinds[kind]());
  });
  beforeEach(() => db.script("drop schema if exists app cascade"));
  afterAll(() => close());

  const call = async (text: string) => {
    await db.script(`drop table if exists called; create temp table called as select (${text})::text as value`);
    const [row] = await db.sql<{ value: string }>`select value from called`;
    return row?.value;
  };

  test("applies what is new, in order and once, and says what it did", async () => {
    const folder = small();
    expect(await schemaState(db, folder.options)).toEqual({
      database_version: null,
      code_version: 2,
      pending: ["0001_things", "0002_more", "one", "total"],
    });
    expect(await migrate(db, folder.options)).toEqual({
      applied: ["0001_things", "0002_more"],
      functions: ["one", "total"],
      version: 2,
    });
    expect(await call("app.total(10)")).toBe("13");
    expect(await migrate(db, folder.options)).toEqual({ applied: [], functions: [], version: 2 });
    folder.migration("0003_last", "insert into app.things values (3, 3);");
    expect(await migrate(db, folder.options)).toEqual({ applied: ["0003_last"], functions: [], version: 3 });
    expect(await call("app.total(0)")).toBe("6");
    expect(await schemaState(db, folder.options)).toEqual({ database_version: 3, code_version: 3, pending: [] });
  });

  test("a function's file may move between folders, and no two may have its name", async () => {
    const folder = small();
    await migrate(db, folder.options);
    folder.function("sums/one", "create or replace function app.one() returns int language sql as 'select 1'");
    await expect(migrate(db, folder.options)).rejects.toThrow(/one\.sql: another folder has a file of this name/);
    folder.without("functions/one.sql");
    expect(await migrate(db, folder.options)).toEqual({ applied: [], functions: [], version: 2 });
    expect(await call("app.one()")).toBe("1");
  });

  test("leaves nothing behind when one file fails, and names file and line", async () => {
    const folder = small().function("sums/broken", "-- first line\ncreate or replace function app.broken() nonsense");
    await expect(migrate(db, folder.options)).rejects.toMatchObject({
      code: "42601",
      message: 'functions/sums/broken.sql:2: syntax error at or near "nonsense"',
    });
    expect(await db.sql`select to_regnamespace('app') is null as clean`).toEqual([{ clean: true }]);
  });

  test("refuses a database that is newer than the code, and one whose applied migration was changed since", async () => {
    const folder = small();
    await migrate(db, folder.options);
    folder.migration("0002_more", "alter table app.things add b bigint;");
    await expect(migrate(db, folder.options)).rejects.toThrow(/migration 2 \(0002_more\) was applied .* another text/);
    await expect(assertCurrent(db, folder.options)).rejects.toThrow(/fanfold migrate/);
    folder.without("migrations/0002_more.sql");
    await expect(migrate(db, folder.options)).rejects.toMatchObject({ name: "SchemaMismatch" });
    await expect(assertCurrent(db, folder.options)).rejects.toThrow(
      /at version 2, newer than .* knows 1.*fanfold migrate/,
    );
    expect(await schemaState(db, folder.options)).toMatchObject({ database_version: 2, code_version: 1 });
  });

  test("refuses to put older functions over those of a later release", async () => {
    const folder = small();
    await migrate(db, folder.options);
    await db.sql`update app.schema_functions set release = '99.10.0' where name = (select min(name) from app.schema_functions)`;
    await expect(migrate(db, folder.options)).rejects.toThrow(/functions are of Fanfold 99.10.0, newer/);
    await expect(assertCurrent(db, folder.options)).rejects.toMatchObject({ name: "SchemaMismatch" });
  });

  test("releases are told apart by number", () => {
    expect([
      isLater("0.10.0", "0.9.9"),
      isLater("0.9.9", "0.10.0"),
      isLater("1.0.0", "1.0.0"),
      isLater("1.0.1-rc.1", "1.0.0"),
    ]).toEqual([true, false, false, true]);
  });

  test("an older database is named with what it lacks and the command to run", async () => {
    const folder = small();
    await expect(assertCurrent(db, folder.options)).rejects.toThrow(
      /0001_things, 0002_more, one and 1 more.*fanfold migrate/,
    );
    await migrate(db, folder.options);
    await assertCurrent(db, folder.options);
    folder.function("one", "create or replace function app.one() returns int language sql as 'select 11'");
    await expect(assertCurrent(db, folder.options)).rejects.toThrow(/older than this version of Fanfold: one missing/);
  });

  test("does not take other line ends for another text", async () => {
    const folder = small();
    await migrate(db, folder.options);
    folder.migration("0001_things", "create table app.things (a int); insert into app.things values (1);");
    const text = "-- a\ncreate or replace function app.one() returns int language sql as 'select 1'";
    await migrate(db, folder.function("one", text).options);
    expect(await migrate(db, folder.function("one", text.replaceAll("\n", "\r\n")).options)).toMatchObject({
      functions: [],
    });
  });

  test("replaces a function when its file changed, and touches no other", async () => {
    const folder = small();
    await migrate(db, folder.options);
    const before =
      await db.sql`select oid, proname from pg_proc where pronamespace = 'app'::regnamespace order by proname`;
    folder.function("one", "create or replace function app.one() returns int language sql as 'select 11'");
    expect(await migrate(db, folder.options)).toEqual({ applied: [], functions: ["one"], version: 2 });
    expect(await call("app.one()")).toBe("11");
    const after =
      await db.sql`select oid, proname from pg_proc where pronamespace = 'app'::regnamespace order by proname`;
    expect(after).toEqual(before);
  });

  test("replaces a function whose result or parameter names changed", async () => {
    const folder = small();
    await migrate(db, folder.options);
    folder.function("one", "create or replace function app.one() returns text language sql as $$ select 'eleven' $$");
    folder.function(
      "sums/total",
      "create or replace function app.total(p_other int) returns int language sql as 'select p_other'",
    );
    expect(await migrate(db, folder.options)).toMatchObject({ functions: ["one", "total"] });
    expect(await call("app.one() || app.total(p_other => 5)")).toBe("eleven5");
  });

  test("leaves no old overload when a function's parameters changed", async () => {
    const folder = small();
    await migrate(db, folder.options);
    folder.function(
      "sums/total",
      "create or replace function app.total(p_text text default 'x') returns text language sql as 'select p_text'",
    );
    await migrate(db, folder.options);
    expect(
      await db.sql`select pg_get_function_arguments(oid) as arguments from pg_proc where proname = 'total'`,
    ).toEqual([{ arguments: "p_text text DEFAULT 'x'::text" }]);
  });

  test("keeps both of two that a file has under one name, and drops the one it loses", async () => {
    const folder = small();
    await migrate(db, folder.options);
    const of_text = "create or replace function app.total(p text) returns text language sql as 'select p';";
    const of_number = "create or replace function app.total(p int) returns int language sql as 'select p';";
    const there = async () =>
      (
        await db.sql<{ a: string }>`
        select pg_get_function_arguments(oid) as a from pg_proc where proname = 'total' order by 1`
      ).map(({ a }) => a);
    for (const text of [of_text + of_number, `${of_text}${of_number}\n`]) {
      folder.function("sums/total", text);
      await migrate(db, folder.options);
      expect(await there()).toEqual(["p integer", "p text"]);
    }
    folder.function("sums/total", of_number);
    await migrate(db, folder.options);
    expect(await there()).toEqual(["p integer"]);
  });

  test("drops a function whose file vanished", async () => {
    const folder = small();
    await migrate(db, folder.options);
    folder.without("functions/one.sql");
    expect((await schemaState(db, folder.options)).pending).toEqual(["drop one"]);
    expect(await migrate(db, folder.options)).toEqual({ applied: [], functions: ["one"], version: 2 });
    expect(
      await db.sql`select count(*) as n from pg_proc where proname = 'one' and pronamespace = 'app'::regnamespace`,
    ).toEqual([{ n: 0 }]);
    expect(await migrate(db, folder.options)).toMatchObject({ functions: [] });
  });

  test("functions belong to the owner of the schema, also when they are replaced later", async () => {
    await db.script(`do $$ begin create role fanfold_test_owner; exception when duplicate_object then null; end $$`);
    const folder = small().migration(
      "0003_owner",
      "grant create on schema app to fanfold_test_owner; alter schema app owner to fanfold_test_owner; set local role fanfold_test_owner;",
    );
    await migrate(db, folder.options);
    folder.function("one", "create or replace function app.one() returns text language sql as $$ select 'x' $$");
    await migrate(db, folder.options);
    const owners = await db.sql`
      select proname::text as name, proowner::regrole::text as owner
        from pg_proc where pronamespace = 'app'::regnamespace order by proname`;
    expect(owners).toEqual([
      { name: "one", owner: "fanfold_test_owner" },
      { name: "total", owner: "fanfold_test_owner" },
    ]);
    await db.script("drop schema app cascade; drop role fanfold_test_owner");
  });

  test("refuses a folder with gaps, twins, odd names or a file that does not make its function", async () => {
    await expect(migrate(db, new Folder().migration("0002_a", "").options)).rejects.toThrow(
      /0002_a.sql: expected migration 1/,
    );
    await expect(migrate(db, new Folder().migration("0001_a", "").migration("0001_b", "").options)).rejects.toThrow(
      /twins/,
    );
    await expect(migrate(db, new Folder().migration("1-a", "").options)).rejects.toThrow(/NNNN_name.sql/);
    const astray = small().function(
      "astray",
      "create or replace function app.other() returns int language sql as 'select 1'",
    );
    await expect(migrate(db, astray.options)).rejects.toThrow(
      /functions\/astray.sql must create the function app.astray/,
    );
  });
});

describe("several processes and one server", () => {
  let db: Database;
  let url: string;

  beforeAll(async () => {
    const fresh = await freshDatabase({ bare: true });
    ({ db, url } = fresh);
    return fresh.drop;
  });
  beforeEach(() => db.script("drop schema if exists app cascade"));

  async function waiting(name: string, count: number): Promise<void> {
    for (;;) {
      const rows = await db.sql`
        select pid from pg_stat_activity where application_name = ${name} and wait_event_type = 'Lock'`;
      if (rows.length === count) return;
    }
  }

  function open(application_name: string): Database {
    const opened = openServer(url, { application_name });
    onTestFinished(() => opened.close());
    return opened;
  }

  test("two that migrate at once do it once", async () => {
    const folder = small();
    const both = [open("migrating"), open("migrating")];
    const outcomes = db.transaction(async (tx) => {
      // Both meet a third that makes the schema, while nothing is there yet.
      await tx.script("create schema app");
      const started = both.map((one) => migrate(one, folder.options));
      await waiting("migrating", 2);
      return { started: Promise.all(started) };
    });
    const done = await (await outcomes).started;
    expect(done.map(({ applied }) => applied.length).sort()).toEqual([0, 2]);
    expect(await db.sql`select a from app.things order by a`).toEqual([{ a: 1 }, { a: 2 }]);
  });

  test("a migration that cannot have a table lets others pass and tries again", async () => {
    const folder = small();
    await migrate(db, folder.options);
    folder.migration("0003_alter", "alter table app.things add c int");
    const timed_out = open("alter");
    const done = await db.transaction(async (tx) => {
      await tx.script("lock table app.things in access share mode");
      const altering = migrate(timed_out, { ...folder.options, lock_timeout_s: 0.05 });
      // It waits, gives up, and waits again: only a retry can be seen waiting in a second transaction.
      const starts = new Set<string>();
      while (starts.size < 2) {
        const rows = await db.sql<{ start: string }>`
          select xact_start::text as start from pg_stat_activity where application_name = 'alter' and wait_event_type = 'Lock'`;
        for (const { start } of rows) starts.add(start);
      }
      return { altering };
    });
    expect(await done.altering).toMatchObject({ applied: ["0003_alter"] });
  });

  test("a process killed before its commit has changed nothing, and the next one migrates", async () => {
    const folder = small();
    const script = plainScript(new URL("migrate_child.ts", import.meta.url));
    const child = spawn(process.execPath, [script, url, folder.path], {
      env: { ...process.env, FANFOLD_FAULTS: "migrate-before-commit:kill9" },
      stdio: ["ignore", "inherit", "inherit"],
    });
    const [, signal] = await once(child, "exit");
    expect(signal).toBe("SIGKILL");
    expect(await schemaState(db, folder.options)).toMatchObject({ database_version: null });
    expect(await migrate(db, folder.options)).toMatchObject({ applied: ["0001_things", "0002_more"] });
  });
});
