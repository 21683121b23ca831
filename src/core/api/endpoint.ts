// The HTTP API as data: the server registers it, the OpenAPI document is made of it, and the client is typed by it. One
// endpoint is one verb on one path. Pure.
import { z } from "zod";

export const scopes = ["submit", "read", "operate", "work", "admin"] as const;
export type Scope = (typeof scopes)[number];

type Shape = z.ZodObject;
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

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
> {
  method: Method;
  /** With {names} in braces, as OpenAPI writes it. */
  path: string;
  tag: string;
  summary: string;
  description?: string;
  /** What a key must be allowed to; null: anybody may call it. */
  scope: Scope | null;
  /** Only for keys of whoever runs the service. */
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
  /** Error statuses besides those every endpoint may give. */
  errors: readonly number[];
  /** Its body may hold what cannot be stored: whoever answers it tells, part by part, instead of refusing the whole. */
  loose: boolean;
  /** Sending it twice does no more than sending it once: the client may try again by itself. */
  repeatable: boolean;
}

const none = z.strictObject({});
/** Room for the largest parameters (256 KB) with their JSON escapes, and the options. */
export const default_body_limit = 1024 * 1024;

/** Room for the largest parameters, were they nothing but digits. */
export const default_body_values = 150_000;
/** For those that take thousands of things at once. */
export const bulk_body_values = 1_000_000;

type Given<P, Q, B, R> = Pick<Endpoint, "method" | "path" | "tag" | "summary" | "scope"> &
  Partial<
    Pick<
      Endpoint,
      | "description"
      | "operator"
      | "headers"
      | "body_limit"
      | "body_values"
      | "body_types"
      | "status"
      | "other_answers"
      | "media_type"
      | "errors"
      | "loose"
      | "repeatable"
    >
  > & { params?: P; query?: Q; body?: B; reply: R };

export function endpoint<
  R extends z.ZodType,
  P extends Shape = typeof none,
  Q extends Shape = typeof none,
  B extends z.ZodType = z.ZodUndefined,
>(given: Given<P, Q, B, R>): Endpoint<P, Q, B, R> {
  return {
    headers: null,
    body_limit: default_body_limit,
    body_values: default_body_values,
    body_types: [],
    status: 200,
    other_answers: {},
    media_type: "application/json",
    errors: [],
    loose: false,
    repeatable: given.method !== "POST" && given.method !== "PATCH",
    ...given,
    params: (given.params ?? none) as P,
    query: (given.query ?? none) as Q,
    body: (given.body ?? null) as B | null,
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
/** What a caller sends: defaults may be left out. */
export type QueryIn<E> = E extends Endpoint<Shape, infer Q> ? z.input<Q> : never;
export type BodyIn<E> = E extends Endpoint<Shape, Shape, infer B> ? z.input<B> : never;
