// Every SQL function as it is after migrating: checked by plpgsql_check where the server has that extension, and by rules
// that need nothing but the catalogue.
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Database } from "../src/engine/database/database.js";
import { openServer } from "../src/engine/database/server_database.js";
import { freshDatabase, realServer } from "./postgres.js";

let db: Database;
let drop: () => Promise<void>;

beforeAll(async () => {
  ({ db, drop } = await freshDatabase());
});
afterAll(() => drop());

async function offersCheck(): Promise<boolean> {
  const admin = openServer((await realServer()).admin_url);
  try {
    const rows = await admin.sql`select from pg_available_extensions where name = 'plpgsql_check'`;
    return rows.length > 0;
  } finally {
    await admin.close();
  }
}

describe.runIf(await offersCheck())("plpgsql_check", () => {
  test("finds no error and no warning in any function", async () => {
    await db.script("create extension plpgsql_check");
    const checked = await db.sql<{ name: string; findings: string[] | null }>`
      select p.proname::text as name,
        (select array_agg(format('%s, line %s: %s', c.level, c.lineno, c.message))
           from plpgsql_check_function_tb(p.oid, other_warnings => true, extra_warnings => false, performance_warnings => false) c) as findings
        from pg_proc p join pg_language l on l.oid = p.prolang
       where p.pronamespace in ('app'::regnamespace, 'platform'::regnamespace) and l.lanname = 'plpgsql' and p.prorettype <> 'trigger'::regtype
       order by 1`;
    expect(checked.length).toBeGreaterThan(0);
    expect(checked.filter(({ findings }) => findings !== null)).toEqual([]);
  });
});

test("a function that acts for its owner pins its search path", async () => {
  const open = await db.sql`
    select proname::text as name from pg_proc
     where pronamespace in ('app'::regnamespace, 'platform'::regnamespace) and prosecdef
       and not exists (select from unnest(proconfig) setting where setting like 'search_path=%')`;
  expect(open).toEqual([]);
});

test("no function of ours can be called by just anybody", async () => {
  const open = await db.sql`
    select p.proname::text as name from pg_proc p
     where p.pronamespace in ('app'::regnamespace, 'platform'::regnamespace)
       and exists (select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a where a.grantee = 0)
     order by 1`;
  expect(open).toEqual([]);
});

test("every guard that test:mutations takes out is where its table has it", async () => {
  const { mutations, mutantOf } = (await import(new URL("../scripts/mutants.mjs", import.meta.url).href)) as {
    mutations: [name: string, file: string][];
    mutantOf(mutation: [name: string, file: string], text: string): string;
  };
  expect(mutations.length).toBeGreaterThan(10);
  for (const mutation of mutations) {
    const text = await readFile(new URL(`../${mutation[1]}`, import.meta.url), "utf8");
    expect([mutation[0], mutantOf(mutation, text) !== text]).toEqual([mutation[0], true]);
  }
});
