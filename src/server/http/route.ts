// Binds an endpoint of the contract to the function that answers it.
import type { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { BodyOf, Endpoint, ParamsOf, QueryOf, ReplyOf, SqlEndpoint } from "../../core/api/endpoint.js";
import type { Engine } from "../../engine/engine.js";
import { callVerb } from "../../engine/verbs/verb.js";
import { holderOf, type Principal } from "../access/auth.js";
import type { Metrics } from "../metrics/metrics.js";
import type { Service } from "../service.js";
import type { CallPlace } from "./call_places.js";

export interface Call<E = Endpoint> {
  params: ParamsOf<E>;
  query: QueryOf<E>;
  body: BodyOf<E>;
  /** Acts for the caller's tenant. */
  engine: Engine;
  principal: Principal;
  /** Names the request, its trace and its tenant on every line. */
  log: Logger;
  metrics: Metrics;
  /** W3C trace context of the request: hand it to whatever is submitted. */
  traceparent: string | undefined;
  /** Aborted when the caller is gone. */
  signal: AbortSignal;
  /** The place of this call among those of its tenant: a call that is held until something happens says so first. */
  place: CallPlace;
  /** What all calls share: the event feed, health, the signal for waiting workers. */
  service: Service;
  request: FastifyRequest;
  reply: FastifyReply;
  /** Who asks, for events: the key, and the person behind it where the caller says so. */
  actor(person?: string): string;
}

/** Answers with the endpoint's usual status, unless it calls reply.status itself. */
export type Answering<E> = (call: Call<E>) => Promise<ReplyOf<E>>;

export interface Route {
  endpoint: Endpoint;
  answer: Answering<Endpoint>;
  /** The tenant that a signed address acts for; null where it has no signature. Throws where the signature is not ours. */
  signedTenant?(request: FastifyRequest, service: Service): string | null;
  /** It reads layers: where the operator has opened a tenant's, a call without a credential acts for that tenant. */
  reads_layers?: boolean;
}

/** JSON that was text already, sent as it is: parsing it would round its long numbers. */
export class JsonText {
  constructor(readonly text: string) {}

  /** For the check of the answer. */
  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

/** As the reply that it is the text of. */
export function asText<Reply>(text: string): Reply {
  return new JsonText(text) as Reply;
}

/** An answer that says itself what it is: a page, a tile, or one that is sent piece by piece. */
export class OtherAnswer {
  constructor(
    readonly media_type: string,
    readonly body: string | Uint8Array | Readable,
  ) {}
}

/** One function for each endpoint of a noun that is not one SQL function: none can be forgotten. */
type Answers<Api> = {
  [Name in keyof Api as Api[Name] extends SqlEndpoint ? never : Name]: Answering<Api[Name]>;
};

/** An endpoint that is one SQL function is passed on to it, unless an answer is written for it all the same. */
export function routes<Api extends Record<string, Endpoint>>(
  api: Api,
  answers: Answers<Api> & { [Name in keyof Api]?: Answering<Api[Name]> },
): Route[] {
  const written = answers as Partial<Record<string, Answering<Endpoint>>>;
  return Object.entries(api).map(([name, endpoint]) => ({
    endpoint,
    answer: written[name] ?? passedOn(endpoint as SqlEndpoint),
  }));
}

function passedOn(endpoint: SqlEndpoint): Answering<Endpoint> {
  return ({ engine, params, query, body, actor }) => {
    if (endpoint.method === "GET") return callVerb(engine, endpoint, { ...query, ...params });
    const { actor: person, ...fields } = { ...query, ...(body as { actor?: string } | undefined), ...params };
    return callVerb(engine, endpoint, { ...fields, actor: actor(person) });
  };
}

/** A tenant has only so many calls at a time, fewer long ones, so that it does not keep the others from the database and from this process. */
export function inTurn(
  { endpoint, answer }: Route,
  turns: "long_calls" | "short_calls" = endpoint.long ? "long_calls" : "short_calls",
): Route {
  return {
    endpoint,
    answer: (call) => {
      // Held until something happens: that is no work.
      if ((call.query as { wait?: unknown }).wait === true) return answer(call);
      return call.service[turns].within(holderOf(call.principal), call.signal, () => answer(call));
    },
  };
}
