// A verb as the engine calls it: the SQL function of its endpoint with named arguments, so that no two of them can change places.

import type { BodyIn, ParamsOf, QueryOf, ReplyOf, SqlEndpoint, SqlNamed } from "../../core/api/endpoint.js";
import { layersError } from "../../core/errors/no_layers.js";
import { asCommand, type Words } from "../../core/shown/action.js";
import type { Queryable, Scalar } from "../database/database.js";
import { asked } from "./reply.js";
import { worded } from "./worded.js";

/** The SQL types of arguments that are not text. A name has one type in every function. */
const types: Readonly<Record<string, string>> = {
  approved: "boolean",
  attempts: "integer",
  before: "bigint",
  dry_run: "boolean",
  everybody: "boolean",
  hours: "integer",
  minutes: "integer",
  most: "integer",
  open_only: "boolean",
  page_rows: "integer",
  priority: "integer",
  ranges: "json",
  request: "json",
  run_at: "timestamptz",
  slots: "integer",
  statuses: "json",
  style: "json",
  worker: "uuid",
};

export const sqlType = (argument: string): string => types[argument] ?? "text";

/** The name in SQL of a field of the API. */
export function argumentOf({ sql }: SqlEndpoint, field: string): string {
  const { named = {}, request }: Partial<SqlNamed> = typeof sql === "string" ? {} : sql;
  return named[field] ?? (field === "limit" ? (request ? "rows" : "page_rows") : field);
}

type Nullable<Fields> = { [Name in keyof Fields]: Fields[Name] | (undefined extends Fields[Name] ? null : never) };
/** Those of an object without any take nothing from the others. */
type Some<Fields> = [Fields] extends [never] ? unknown : string extends keyof Fields ? unknown : Fields;
/** All that a verb takes. What may be left out may be null too. */
export type VerbFields<E> = Some<ParamsOf<E>> &
  Nullable<Some<Partial<QueryOf<E>>> & Some<NonNullable<BodyIn<E>>> & { actor?: string }>;

/** The verb for this tenant. A field that is undefined is left to the function's default. */
export function callVerb<E extends SqlEndpoint>(
  { db, tenant, words = asCommand }: { db: Queryable; tenant: string; words?: Words },
  verb: E,
  fields: VerbFields<E>,
): Promise<ReplyOf<E>> {
  const {
    name,
    also = {},
    request = false,
    list,
  } = typeof verb.sql === "string" ? ({ name: verb.sql } as SqlNamed) : verb.sql;
  // The tenant comes last: no field of a call can take its place.
  const given = Object.entries({ ...also, ...defined(fields as object), ...(verb.operator ? {} : { tenant }) }).map(
    ([field, value]) => [argumentOf(verb, field), value] as const,
  );
  const sent = request ? ([["request", Object.fromEntries(given)]] as const) : given;
  const strings = statement(
    name,
    sent.map(([argument]) => argument),
  );
  const reply = asked<unknown>(db.sql(strings, ...sent.map(([argument, value]) => scalar(sqlType(argument), value))));
  return reply.then(
    (rows) => worded(name, list === undefined ? rows : { [list]: rows }, words),
    (error: unknown) => {
      throw name.startsWith("geo.") ? layersError(error) : error;
    },
  );
}

/** The verbs of one noun. */
export class Noun {
  constructor(
    readonly db: Queryable,
    readonly tenant: string,
    readonly words: Words = asCommand,
  ) {}

  call<E extends SqlEndpoint>(verb: E, fields: VerbFields<E>): Promise<ReplyOf<E>> {
    return callVerb(this, verb, fields);
  }
}

function defined(fields: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function scalar(type: string, value: unknown): Scalar {
  if (value === null) return null;
  return type === "json" ? JSON.stringify(value) : (value as Scalar);
}

/** One array of pieces for each set of arguments: drivers know a statement by it. */
const statements = new Map<string, TemplateStringsArray>();

function statement(name: string, names: readonly string[]): TemplateStringsArray {
  const key = `${name} ${names.join(" ")}`;
  const known = statements.get(key);
  if (known !== undefined) return known;
  const cast = (argument: string) => (sqlType(argument) === "json" ? "::text::json" : `::${sqlType(argument)}`);
  const called = name.includes(".") ? name : `app.${name}`;
  const pieces = names.map((argument, place) => {
    const before = place === 0 ? `select ${called}(` : `${cast(names[place - 1]!)}, `;
    return `${before}${argument} => `;
  });
  const last = names.at(-1);
  pieces.push(last === undefined ? `select ${called}() as reply` : `${cast(last)}) as reply`);
  const strings = Object.assign(pieces, { raw: pieces });
  statements.set(key, strings);
  return strings;
}
