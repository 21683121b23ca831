// The span of a request, where the process has an OpenTelemetry SDK; without one, the caller's trace context is handed on as it
// came. Only the traceparent header is read: baggage is neither stored nor passed on.
import { type Context, context, type Span, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { traceIdOf, usableTraceparent } from "../../core/values/traceparent.js";
import { contextOf, fanfoldTracer, isTracing, traceparentOf } from "../../engine/tracing.js";
import { routeOf } from "../metrics/http_metrics.js";

interface RequestTrace {
  span: Span;
  context: Context;
}

export class RequestTraces {
  readonly #traces = new WeakMap<FastifyRequest, RequestTrace>();

  constructor(app: FastifyInstance) {
    app.addHook("onRequest", (request, _, done) => {
      if (isTracing()) this.#begin(request);
      done();
    });
    app.addHook("onResponse", (request, reply, done) => {
      this.#end(request, reply.statusCode);
      done();
    });
    app.addHook("onRequestAbort", (request, done) => {
      this.#end(request, 499);
      done();
    });
  }

  /** What the caller's work is part of: goes with everything it submits. */
  traceparent(request: FastifyRequest): string | undefined {
    const begun = this.#traces.get(request);
    return (begun && traceparentOf(begun.span)) ?? usableTraceparent(request.headers.traceparent);
  }

  traceId(request: FastifyRequest): string | undefined {
    return traceIdOf(this.traceparent(request));
  }

  within<T>(request: FastifyRequest, work: () => T): T {
    const begun = this.#traces.get(request);
    return begun === undefined ? work() : context.with(begun.context, work);
  }

  /** Known only when the caller is. */
  tenant(request: FastifyRequest, tenant: string): void {
    this.#traces.get(request)?.span.setAttribute("fanfold.tenant", tenant);
  }

  #begin(request: FastifyRequest): void {
    const route = routeOf(request);
    const parent = contextOf(usableTraceparent(request.headers.traceparent));
    const attributes = {
      "http.request.method": request.method,
      "http.route": route,
      "fanfold.request_id": request.id,
    };
    const span = fanfoldTracer().startSpan(`${request.method} ${route}`, { kind: SpanKind.SERVER, attributes }, parent);
    this.#traces.set(request, { span, context: trace.setSpan(parent, span) });
  }

  #end(request: FastifyRequest, status: number): void {
    const begun = this.#traces.get(request);
    if (begun === undefined) return;
    this.#traces.delete(request);
    begun.span.setAttribute("http.response.status_code", status);
    if (status >= 500) begun.span.setStatus({ code: SpanStatusCode.ERROR });
    begun.span.end();
  }
}
