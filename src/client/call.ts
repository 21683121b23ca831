// One call of the API, typed by its endpoint. Safe calls are tried again; an error is the one the server told, as a class.
import type { BodyIn, Endpoint, ParamsOf, QueryIn, ReplyOf } from "../core/api/endpoint.js";

export interface CallOptions<E> {
  params?: ParamsOf<E>;
  query?: QueryIn<E>;
  body?: BodyIn<E>;
  signal?: AbortSignal;
  headers?: Record<string, string>;
}

export type Caller = <E extends Endpoint>(endpoint: E, options?: CallOptions<E>) => Promise<ReplyOf<E>>;
