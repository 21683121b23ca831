// What the pending migrations would do to the tables that are there: read off their text, beside what Postgres says of each table's size.
import type { Queryable } from "../database/database.js";
import { type Contract, contractOf, type OldWorker, oldWorkers } from "./contracts.js";
import { compare, lockedTables, type MigrateOptions } from "./migrate.js";
import { readSchemaFolder, schema_folder } from "./schema_folder.js";
import { schemaOwner } from "./sql_files.js";

/** From the longest to the shortest: the table is written anew, rows of it are written, all of it is read, only its description changes. */
export const effects = ["rewritten", "written", "read", "described"] as const;
export type Effect = (typeof effects)[number];

export interface TableSize {
  table: string;
  /** With its indexes and long values. */
  size_bytes: number;
  /** As Postgres last estimated them; null: never. */
  rows: number | null;
}

export interface PlannedMigration {
  migration: string;
  contract: (Contract & { older_workers: OldWorker[] }) | null;
  tables: (TableSize & { effect: Effect })[];
  /** It builds statements as it runs, which are not among these. */
  has_built_statements: boolean;
}

export interface MigrationPlan {
  database_version: number | null;
  code_version: number;
  migrations: PlannedMigration[];
  /** Functions made, replaced or dropped. */
  functions: string[];
  /** Nobody else reads or writes these from the first change to the commit. Empty where only functions change. */
  locked: TableSize[];
}

export async function migrationPlan(db: Queryable, options: MigrateOptions = {}): Promise<MigrationPlan> {
  const code = await readSchemaFolder(options.folder ?? schema_folder);
  const { migrations, functions, vanished } = await compare(db, code);
  const owner = await schemaOwner(db, "app");
  const sizes = await sizesOf(db, migrations.length === 0 ? [] : await lockedTables(db, owner));
  const refused = new Map((await oldWorkers(db, migrations, owner)).map((one) => [one.migration, one.workers]));
  const is_new = migrations.length === code.migrations.length;
  return {
    database_version: is_new ? null : code.migrations.length - migrations.length,
    code_version: code.migrations.length,
    migrations: migrations.map((one) => {
      const contract = contractOf(one);
      return {
        migration: one.name,
        contract: contract && { ...contract, older_workers: refused.get(one.name) ?? [] },
        tables: [...effectsOf(one.text)].flatMap(([table, effect]) => {
          const size = sizes.get(table);
          return size === undefined ? [] : [{ ...size, effect }];
        }),
        has_built_statements: /\bexecute\s+(format\s*\(|')/i.test(withoutComments(one.text)),
      };
    }),
    functions: [...functions.map(({ name }) => name), ...vanished],
    locked: [...sizes.values()],
  };
}

async function sizesOf(db: Queryable, tables: readonly string[]): Promise<Map<string, TableSize>> {
  const rows = await db.sql<TableSize>`
    select t.name as table, pg_total_relation_size(t.name::regclass)::float8 as size_bytes,
        nullif(c.reltuples, -1)::float8 as rows
      from json_array_elements_text(${JSON.stringify(tables)}::json) t(name)
      join pg_class c on c.oid = t.name::regclass
     order by 2 desc, 1`;
  return new Map(rows.map((row) => [row.table, row]));
}

const table = String.raw`(?:only\s+)?((?:app|platform)\.[a-z_][a-z0-9_]*)`;

/** Alterations for which Postgres writes the whole table anew. */
const rewriting = [
  /\balter\s+(?:column\s+)?\w+\s+(?:set\s+data\s+)?type\b/,
  /\badd\s+(?:column\s+)?.*\bdefault\b.*\b(?:gen_random_uuid|uuidv[47]|random|clock_timestamp|timeofday|nextval)\s*\(/,
  /\badd\s+(?:column\s+)?.*\bgenerated\s+(?:always|by\s+default)\s+as\b/,
  /\badd\s+(?:column\s+)?(?:if\s+not\s+exists\s+)?\w+\s+(?:small|big)?serial\b/,
  /\bset\s+(?:unlogged|logged|tablespace|access\s+method)\b/,
];
const reading = /\bset\s+not\s+null\b|\b(?:check|references|unique|primary\s+key|exclude)\b|\bvalidate\s+constraint\b/;

/** By table: the longest of what a migration's statements do to it. A table that the migration makes is among them. */
export function effectsOf(text: string): Map<string, Effect> {
  const found = new Map<string, Effect>();
  const note = (name: string, effect: Effect) => {
    const before = found.get(name);
    if (before === undefined || effects.indexOf(effect) < effects.indexOf(before)) found.set(name, effect);
  };
  for (const statement of withoutComments(text).toLowerCase().replace(/\s+/g, " ").split(";")) {
    const altered = new RegExp(`\\balter table (?:if exists )?${table}(.*)$`).exec(statement);
    if (altered) note(altered[1]!, effectOf(altered[2]!));
    for (const [pattern, effect] of [
      [`\\bcreate (?:unique )?index (?:if not exists )?(?:\\w+ )?on ${table}`, "read"],
      [`\\bupdate ${table}`, "written"],
      [`\\bdelete from ${table}`, "written"],
      [`\\binsert into ${table}`, "written"],
      [`\\btruncate (?:table )?${table}`, "rewritten"],
      [`\\bdrop table (?:if exists )?${table}`, "described"],
      [`\\b(?:trigger|policy|rule) .* on ${table}`, "described"],
    ] as const)
      for (const match of statement.matchAll(new RegExp(pattern, "g"))) note(match[1]!, effect);
  }
  return found;
}

function effectOf(alteration: string): Effect {
  if (rewriting.some((pattern) => pattern.test(alteration))) return "rewritten";
  return reading.test(alteration) && !/\bnot valid\b/.test(alteration) ? "read" : "described";
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, " ").replace(/--[^\n]*/g, " ");
}
