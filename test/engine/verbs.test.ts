// Every verb that is one SQL function, held against the function as it is after migrating: a name, a type, a default or a grant that does
// not fit would be found out by the first caller otherwise.
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import type { SqlEndpoint, SqlFunction } from "../../src/core/api/endpoint.js";
import type { Database } from "../../src/engine/database/database.js";
import { argumentOf, sqlType } from "../../src/engine/verbs/verb.js";
import { allRoutes } from "../../src/server/routes/index.js";
import { withoutPostgis } from "../catalog_packages.js";
import { freshDatabase } from "../postgres.js";

interface Procedure {
  name: string;
  arguments: { name: string; type: string; has_default: boolean }[];
  granted: boolean;
}

let db: Database;
let drop: () => Promise<void>;
let procedures: Procedure[];

beforeAll(async () => {
  ({ db, drop } = await freshDatabase(without_layers ? {} : { variant: "stac" }));
  procedures = await db.sql<Procedure>`
    select case when n.nspname = 'app' then '' else n.nspname || '.' end || p.proname as name, has_function_privilege('fanfold_api', p.oid, 'execute') as granted,
      coalesce((
        select json_agg(json_build_object('name', p.proargnames[a.place], 'type', format_type(a.type, null),
          'has_default', a.place > p.pronargs - p.pronargdefaults) order by a.place)
          from unnest(p.proargtypes) with ordinality a (type, place)), '[]') as arguments
      from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname in ('app', 'platform', 'geo')`;
});
afterAll(() => drop());

/** Verbs of layers are where PostGIS is. */
const without_layers = (await withoutPostgis()) !== null;
const verbs = allRoutes()
  .map(({ endpoint }) => endpoint)
  .filter((endpoint): endpoint is SqlEndpoint => endpoint.sql !== undefined)
  .filter(({ sql }) => !(without_layers && nameOf(sql).startsWith("geo.")))
  .map((verb) => ({ verb, words: `${verb.method} ${verb.path}` }));

function nameOf(sql: SqlFunction): string {
  return typeof sql === "string" ? sql : sql.name;
}

/** A body may be left out as a whole. */
function fieldsOf(schema: z.ZodType | null): [name: string, is_needed: boolean][] {
  if (schema instanceof z.ZodPrefault || schema instanceof z.ZodDefault)
    return fieldsOf(schema.unwrap() as z.ZodType).map(([name]) => [name, false]);
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape).map(([name, field]) => [
    name,
    !(field as z.ZodType).safeParse(undefined).success,
  ]);
}

/** The arguments of a verb by name: those that every call gives are true. */
function givenBy(verb: SqlEndpoint): Map<string, boolean> {
  const { also = {}, request } = typeof verb.sql === "string" ? { also: {}, request: undefined } : verb.sql;
  if (request) return new Map([["request", true]]);
  const fields = [...fieldsOf(verb.params), ...fieldsOf(verb.query), ...fieldsOf(verb.body)];
  const given = new Map(fields.map(([name, is_needed]) => [argumentOf(verb, name), is_needed]));
  for (const name of Object.keys(also)) given.set(name, true);
  if (!verb.operator) given.set("tenant", true);
  if (verb.method !== "GET") given.set("actor", true);
  return given;
}

test("there are verbs of every noun", () => {
  expect(verbs.length).toBeGreaterThan(40);
});

test.each(verbs)("$words calls a function that takes what it gives", ({ verb }) => {
  const name = nameOf(verb.sql);
  const found = procedures.filter((procedure) => procedure.name === name);
  expect(found, name).toHaveLength(1);
  const [procedure] = found as [Procedure];
  const given = givenBy(verb);
  const taken = new Map(procedure.arguments.map((argument) => [argument.name, argument]));
  expect(
    [...given.keys()].map((argument) => [argument, taken.get(argument)?.type ?? "no such argument"]),
    "names and types",
  ).toEqual(
    [...given.keys()].map((argument) => [
      argument,
      sqlType(argument) === "timestamptz" ? "timestamp with time zone" : sqlType(argument),
    ]),
  );
  const missing = procedure.arguments.filter((argument) => !argument.has_default && given.get(argument.name) !== true);
  expect(missing, "arguments without a default that a call may leave out").toEqual([]);
  expect(procedure.granted, "granted to fanfold_api").toBe(true);
});
