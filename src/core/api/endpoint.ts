// A verb is declared once, here as an endpoint: the SQL function that does it, its path, its words on the command line, what it takes
// and what it returns. The server registers it, the engine calls it, the OpenAPI document is made of it, the client has its methods
// from it, and the dashboard shows its command. Pure.
import { z } from "zod";
import { problem_media_type } from "./problem.js";

export const scopes = ["submit", "read", "operate", "work", "admin"] as const;
export type Scope = (typeof scopes)[number];

type Shape = z.ZodObject;
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * The SQL function of a verb, called with named arguments: the fields of the call (params, query and body), the tenant (except for an
 * operator's own verbs) and, where something changes, the actor. What a caller leaves out takes the function's own default.
 */
export type SqlFunction = string | SqlNamed;

export interface SqlNamed {
  /** In schema app, unless it names another: platform.get_request. */
  name: string;
  /** Fields that have another name in SQL; `limit` is `page_rows` everywhere. */
  named?: Readonly<Record<string, string>>;
  /** Arguments that no field gives, or that a field may leave out although the function has no default. */
  also?: Readonly<Record<string, boolean | string | null>>;
  /** It takes them all in one argument, `request json`, where `limit` is `rows`. */
  request?: true;
  /** It returns a bare list, which the reply has under this name. */
  list?: string;
}

/** An answer that is not an error: its JSON, or another media type. */
export interface Answer {
  description: string;
  schema?: z.ZodType;
  media_type?: string;
  /** What its headers say, by name. */
  headers?: Record<string, string>;
}

export interface Endpoint<
  Params extends Shape = Shape,
  Query extends Shape = Shape,
  Body extends z.ZodType = z.ZodType,
  Reply extends z.ZodType = z.ZodType,
  Sql extends SqlFunction | undefined = SqlFunction | undefined,
> {
  method: Method;
  /** With {names} in braces, as OpenAPI writes it. */
  path: string;
  tag: string;
  summary: string;
  description?: string;
  /** What a key must be allowed to; null: anybody may call it. */
  scope: Scope | null;
  /** Only for keys of the service's operators. */
  operator?: boolean;
  params: Params;
  query: Query;
  /** Request headers with a meaning of their own; names in small letters. */
  headers: Shape | null;
  /** null: it takes none. */
  body: Body | null;
  /** Larger bodies are refused before they are parsed. */
  body_limit: number;
  /** Keys and items in it, all together: a few bytes for each are many to look at. */
  body_values: number;
  /** Media types of the body besides application/json. */
  body_types: readonly string[];
  reply: Reply;
  /** The usual answer, and what else may be answered that is no error. */
  status: number;
  other_answers: Record<number, Answer>;
  /** Where the usual answer is not JSON. */
  media_type: string;
  /** What its errors are sent as. */
  error_type: string;
  /** Error statuses besides those every endpoint may give. */
  errors: readonly number[];
  /** Its body may hold what cannot be stored: the route reports, part by part, instead of refusing the whole. */
  loose: boolean;
  /** Sending it twice does no more than sending it once: the client may try again by itself. */
  repeatable: boolean;
  /**
   * It may keep a connection busy for as long as its caller's data are large, or wait for a row that a transaction of the tenant's own
   * login holds: of such calls a tenant has only so many at a time.
   */
  long: boolean;
  /** What the command line calls it, without `fanfold`: fields in {braces}; fields that stand in none are options. null: nothing. */
  cli: string | null;
  /** undefined: more is to be done than to call one function, and the code that does it is written by hand. */
  sql: Sql;
}

const none = z.strictObject({});
/** Room for the largest parameters (256 KB) with their JSON escapes, and the options. */
export const default_body_limit = 1024 * 1024;

/** Room for the largest parameters, were they nothing but digits. */
export const default_body_values = 150_000;
/** For those that take thousands of things at once. */
export const bulk_body_values = 1_000_000;

/** What the endpoints of one file share; each may say otherwise. */
type Shared = Pick<Endpoint, "tag" | "scope"> & Partial<Pick<Endpoint, "operator" | "errors" | "error_type" | "long">>;

/** What an endpoint says of itself; method and path stand before it. */
type Given<P, Q, B, R, S> = Pick<Endpoint, "summary"> &
  Partial<Omit<Endpoint, "method" | "path" | "params" | "query" | "body" | "reply" | "sql">> & {
    params?: P;
    query?: Q;
    body?: B;
    reply: R;
    sql?: S;
  };

type NamesIn<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;
/** The fields that a path names in braces. */
type PathParams<Path, Fields extends Record<string, z.ZodType>> = z.ZodObject<
  Pick<Fields, NamesIn<Path> & keyof Fields>,
  z.core.$strict
>;

/**
 * How the endpoints of one file are declared: `endpoint("GET /api/jobs/{job_id}", { summary, reply, … })`. Of `params` each has those
 * that its path names, unless it gives its own.
 */
export function endpointsOf<F extends Record<string, z.ZodType> = Record<never, never>>({
  params: fields,
  ...shared
}: Shared & { params?: F }) {
  return function endpoint<
    R extends z.ZodType,
    const H extends `${Method} /${string}`,
    P extends Shape = PathParams<H, F>,
    Q extends Shape = typeof none,
    B extends z.ZodType = z.ZodUndefined,
    S extends SqlFunction | undefined = undefined,
  >(http: H, own: Given<P, Q, B, R, S>): Endpoint<P, Q, B, R, S> {
    const given = { ...shared, ...own };
    const [method, path] = http.split(" ") as [Method, string];
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, fields?.[name as string]]);
    return {
      method,
      path,
      headers: null,
      body_limit: default_body_limit,
      body_values: default_body_values,
      body_types: [],
      status: 200,
      other_answers: {},
      media_type: "application/json",
      error_type: problem_media_type,
      errors: [],
      loose: false,
      repeatable: method !== "POST" && method !== "PATCH",
      // What changes something may wait for a lock.
      long: method !== "GET" && given.scope !== null,
      cli: null,
      ...given,
      sql: given.sql as S,
      params: (given.params ?? z.strictObject(Object.fromEntries(named))) as P,
      query: (given.query ?? none) as Q,
      body: (given.body ?? null) as B | null,
    };
  };
}

/** The error statuses that the endpoint may answer with: its own, and those that come with how it is called. */
export function errorStatuses(one: Endpoint): number[] {
  const has_path = Object.keys(one.params.shape).length > 0;
  const reads_body = one.method !== "GET";
  return [
    ...new Set([
      400,
      ...(one.scope === null ? [] : [401, 403, 429]),
      ...(has_path ? [404, 414] : []),
      ...(reads_body ? [413, 415] : []),
      ...one.errors,
      431,
      500,
      503,
    ]),
  ].sort((a, b) => a - b);
}

export type ParamsOf<E> = E extends Endpoint<infer P> ? z.output<P> : never;
export type QueryOf<E> = E extends Endpoint<Shape, infer Q> ? z.output<Q> : never;
export type BodyOf<E> = E extends Endpoint<Shape, Shape, infer B> ? z.output<B> : never;
export type ReplyOf<E> = E extends Endpoint<Shape, Shape, z.ZodType, infer R> ? z.output<R> : never;
/** An endpoint that is one SQL function. */
export type SqlEndpoint = Endpoint<Shape, Shape, z.ZodType, z.ZodType, SqlFunction>;
/** What a caller sends: defaults may be left out. */
export type QueryIn<E> = E extends Endpoint<Shape, infer Q> ? z.input<Q> : never;
export type BodyIn<E> = E extends Endpoint<Shape, Shape, infer B> ? z.input<B> : never;
