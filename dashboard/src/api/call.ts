// Calls of the API, by the name of the verb, which gives their path and their types. The session is a cookie that scripts cannot read; the header tells the
// server that a page of its own asks, which no other page can make a browser send.
import type { BodyIn, Endpoint, ParamsOf, QueryIn, ReplyOf } from "../../../src/core/api/endpoint.js";
import type { ProblemDetails } from "../../../src/core/api/problem.js";
import type { VerbEndpoint, VerbName } from "../../../src/core/shown/verb_words.js";
import { type Fields, verbRequest } from "./commands.js";

/** Fields that are declared; an endpoint that takes none is typed as one that takes any. */
type Declared<T> = string extends keyof T ? unknown : T;
type TakenBy<E> = E extends Endpoint
  ? Declared<ParamsOf<E>> & Declared<QueryIn<E>> & Declared<NonNullable<BodyIn<E>>>
  : never;
/** What a verb takes: what its path names, its query and its body. What is undefined or empty is not sent. */
export type FieldsOf<Name extends VerbName> = TakenBy<VerbEndpoint<Name>>;
export type Reply<Name extends VerbName> = ReplyOf<VerbEndpoint<Name>>;

/** What went wrong, in the server's words. */
export class ApiProblem extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string | undefined;
  readonly problems: NonNullable<ProblemDetails["problems"]>;
  readonly retry_after_s: number | undefined;
  readonly request_id: string | undefined;

  constructor({ status, code, detail, hint, problems, retry_after_s, request_id }: Partial<ProblemDetails>) {
    super(detail ?? "the server did not answer as expected");
    this.name = "ApiProblem";
    this.status = status ?? 0;
    this.code = code ?? "unknown";
    this.hint = hint;
    this.problems = problems ?? [];
    this.retry_after_s = retry_after_s;
    this.request_id = request_id;
  }
}

/** The whole address of a path of the API, under whatever base path the page was loaded from. */
export function urlOf(path: string, given: { params?: Record<string, string | number>; query?: object } = {}): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(given.params?.[name])));
  const url = new URL(filled.replace(/^\//, ""), document.baseURI);
  for (const [key, value] of Object.entries(given.query ?? {})) {
    if (value === undefined || value === null || value === "") continue;
    url.searchParams.set(key, Array.isArray(value) ? value.join(",") : String(value));
  }
  return url.href;
}

let on_signed_out = () => {};
/** Called when the server no longer knows the session. */
export function whenSignedOut(listener: () => void): void {
  on_signed_out = listener;
}

export async function request(
  method: string,
  path: string,
  given: {
    params?: Record<string, string | number>;
    query?: object;
    body?: unknown;
    signal?: AbortSignal | undefined;
  } = {},
  headers: Record<string, string> = {},
): Promise<Response> {
  const { body, signal } = given;
  let response: Response;
  try {
    response = await fetch(urlOf(path, given), {
      method,
      headers: {
        "x-fanfold-request": "1",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      credentials: "same-origin",
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      signal: signal ?? null,
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiProblem({
      detail: "the server cannot be reached",
      code: "unreachable",
      hint: "is it running? this page tries again by itself",
    });
  }
  if (response.ok || response.status === 304) return response;
  const problem = await problemOf(response);
  if (problem.status === 401 && path !== "/api/session") on_signed_out();
  throw problem;
}

async function problemOf(response: Response): Promise<ApiProblem> {
  const { status } = response;
  try {
    return new ApiProblem({ ...((await response.json()) as ProblemDetails), status });
  } catch {
    return new ApiProblem({ status, detail: `the server answered ${status}`, code: "unexpected" });
  }
}

export async function call<Name extends VerbName>(
  name: Name,
  fields: FieldsOf<Name>,
  signal?: AbortSignal,
): Promise<Reply<Name>> {
  const response = await send(name, fields, signal);
  return (response.status === 204 ? undefined : await response.json()) as Reply<Name>;
}

/** The answer as it was sent: numbers keep all their digits. */
export async function callText<Name extends VerbName>(
  name: Name,
  fields: FieldsOf<Name>,
  signal?: AbortSignal,
): Promise<string> {
  return (await send(name, fields, signal)).text();
}

function send(name: VerbName, fields: unknown, signal: AbortSignal | undefined): Promise<Response> {
  const { method, path, ...given } = verbRequest(name, fields as Fields);
  return request(method, path, { ...given, signal });
}
