// Spans, where the process has an OpenTelemetry SDK. Without one nothing is made: whether there is one is asked once per call or
// claim, never per task, and a trace context that came in is passed on as it came.
import {
  type Attributes,
  type Context,
  context,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { formatTraceparent, parseTraceparent, usableTraceparent } from "../core/values/traceparent.js";

/** What a provider stands for as long as nobody has registered one. */
const nobody = new ProxyTracerProvider().getDelegate();

export function isTracing(): boolean {
  const provider = trace.getTracerProvider();
  return !(provider instanceof ProxyTracerProvider && provider.getDelegate() === nobody);
}

export function fanfoldTracer(): Tracer {
  return trace.getTracer("fanfold");
}

/** The context of the caller who sent this; without a usable one, `otherwise`. */
export function contextOf(traceparent: string | null | undefined, otherwise: Context = ROOT_CONTEXT): Context {
  const parsed = parseTraceparent(traceparent);
  if (parsed === null) return otherwise;
  return trace.setSpanContext(otherwise, {
    traceId: parsed.trace_id,
    spanId: parsed.span_id,
    traceFlags: parsed.sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote: true,
  });
}

export function traceparentOf(span: Span): string | undefined {
  const { traceId, spanId, traceFlags } = span.spanContext();
  const sampled = (traceFlags & TraceFlags.SAMPLED) !== 0;
  return usableTraceparent(formatTraceparent({ trace_id: traceId, span_id: spanId, sampled }));
}

export interface Sent {
  name: string;
  attributes: Attributes;
  /** The caller's trace context; else the span that is active here. */
  traceparent: string | undefined;
}

/** Runs `work` in a span of its own, and hands it the trace context to store with what it makes. */
export async function inProducerSpan<T>(
  { name, attributes, traceparent }: Sent,
  work: (traceparent: string | undefined, span: Span | undefined) => Promise<T>,
): Promise<T> {
  const given = usableTraceparent(traceparent);
  if (!isTracing()) return work(given, undefined);
  const parent = contextOf(given, context.active());
  const span = fanfoldTracer().startSpan(name, { kind: SpanKind.PRODUCER, attributes }, parent);
  try {
    return await context.with(trace.setSpan(parent, span), work, undefined, traceparentOf(span) ?? given, span);
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR });
    span.setAttribute("error.type", String((error as { code?: unknown })?.code ?? (error as Error)?.name ?? "error"));
    throw error;
  } finally {
    span.end();
  }
}
