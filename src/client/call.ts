// One call of the API, typed by its endpoint. Types only: `createTransport` makes the caller.
import type { BodyIn, Endpoint, ParamsOf, QueryIn, ReplyOf } from "../core/api/endpoint.js";

export interface CallOptions<E> {
  params?: ParamsOf<E>;
  query?: QueryIn<E>;
  body?: BodyIn<E>;
  signal?: AbortSignal | undefined;
  headers?: Record<string, string>;
  /** Sending this very call twice does no more than once, though the endpoint in general cannot promise it. */
  repeatable?: boolean;
  /** The most time for each try; the client's when left out. */
  timeout_ms?: number;
}

/** Resolves with what the server answered; rejects with a FanfoldError, or with the signal's reason. */
export type Caller = <E extends Endpoint>(endpoint: E, options?: CallOptions<E>) => Promise<ReplyOf<E>>;

/** An answer with what stands around it. */
export interface Answered<E> {
  status: number;
  headers: Headers;
  body: ReplyOf<E>;
}
