// Puts SQL files into a schema: a migration's text, and functions that are replaced or dropped when their file changed. Always
// inside the caller's transaction.
import { DatabaseError, type Queryable, quoteName } from "../database/database.js";
import type { SqlFunction } from "./schema_folder.js";
import { SchemaMismatch } from "./schema_mismatch.js";

/** Migrations, the catalogue's too, run one at a time: its tables refer to the app's. */
export const turn_of_migrations = "lock table app.schema_migrations in share row exclusive mode";

/** A file may change its role; the bookkeeping after it must not inherit that. */
export async function applyFile(tx: Queryable, path: string, text: string, role: string | null = null): Promise<void> {
  try {
    if (role !== null) await tx.script(`set local role ${quoteName(role)}`);
    await tx.script(text);
    await tx.script("reset role");
  } catch (error) {
    throw inFile(error, path, text);
  }
}

/** Functions belong to the owner of the schema, also when a later run replaces one. */
export async function schemaOwner(tx: Queryable, schema: string): Promise<string | null> {
  const [row] = await tx.sql<{ owner: string; is_me: boolean }>`
    select nspowner::regrole::text as owner, nspowner = current_user::regrole as is_me
      from pg_namespace where nspname = ${schema}`;
  return row === undefined || row.is_me ? null : row.owner.replace(/^"(.*)"$/, "$1").replaceAll('""', '"');
}

export async function replaceFunction(
  tx: Queryable,
  schema: string,
  { name, text, path }: SqlFunction,
  owner: string | null,
): Promise<void> {
  const before = await overloads(tx, schema, name);
  await tx.script("savepoint replace_function");
  try {
    await applyFile(tx, path, text, owner);
  } catch (error) {
    // 42P13: create or replace cannot change what a function returns or how its parameters are called.
    if (before.length === 0 || !(error instanceof DatabaseError) || error.code !== "42P13") throw error;
    await tx.script("rollback to savepoint replace_function");
    await dropOverloads(tx, before);
    await applyFile(tx, path, text, owner);
  }
  const after = await overloads(tx, schema, name);
  if (after.length === 0) {
    throw new SchemaMismatch(`${path} must create the function ${schema}.${name}, as its file name says`);
  }
  // With other parameters it is another function to Postgres, and one that the file does not have any more would stay and be called.
  const versions = new Map(before.map(({ oid, xmin }) => [oid, xmin]));
  await dropOverloads(
    tx,
    after.filter(({ oid, xmin }) => versions.get(oid) === xmin),
  );
  await tx.script("release savepoint replace_function");
}

interface Overload {
  oid: number;
  /** The version of its row: another one once it was replaced. */
  xmin: string;
  signature: string;
}

function overloads(tx: Queryable, schema: string, name: string): Promise<Overload[]> {
  return tx.sql<Overload>`
    select p.oid, p.xmin::text as xmin, format('%I.%I(%s)', n.nspname, proname, pg_get_function_identity_arguments(p.oid)) as signature
      from pg_proc p join pg_namespace n on n.oid = pronamespace
     where nspname = ${schema} and proname = ${name} order by p.oid`;
}

/** All functions of this name. */
export async function dropFunction(tx: Queryable, schema: string, name: string): Promise<void> {
  await dropOverloads(tx, await overloads(tx, schema, name));
}

async function dropOverloads(tx: Queryable, dropped: readonly Overload[]): Promise<void> {
  for (const { signature } of dropped) await tx.script(`drop routine ${signature}`);
}

/** The same error, with the file and the line it is in. */
function inFile(error: unknown, path: string, text: string): unknown {
  if (!(error instanceof DatabaseError)) return error;
  const line =
    error.position === undefined
      ? ""
      : `:${
          [...text]
            .slice(0, error.position - 1)
            .join("")
            .split("\n").length
        }`;
  return new DatabaseError(error.code, `${path}${line}: ${error.message}`, error);
}
