// W3C trace context: which trace a call belongs to, as the text of its `traceparent` header. What cannot be read is no context,
// never an error: the standard asks to go on as if it had not been sent. Pure.

export interface TraceParent {
  trace_id: string;
  /** The caller's span. */
  span_id: string;
  sampled: boolean;
}

const shape = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

export function parseTraceparent(text: unknown): TraceParent | null {
  if (typeof text !== "string" || text.length > 200) return null;
  const [, version, trace_id = "", span_id = "", flags = "", rest] = shape.exec(text.trim()) ?? [];
  // ff is forbidden; versions to come may add to the end, this one has none.
  if (version === undefined || version === "ff" || (version === "00" && rest !== undefined)) return null;
  if (/^0+$/.test(trace_id) || /^0+$/.test(span_id)) return null;
  return { trace_id, span_id, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export function formatTraceparent({ trace_id, span_id, sampled }: TraceParent): string {
  return `00-${trace_id}-${span_id}-${sampled ? "01" : "00"}`;
}

/** As it is stored and passed on: in the form of this version, or not at all. */
export function usableTraceparent(text: unknown): string | undefined {
  const parsed = parseTraceparent(text);
  return parsed === null ? undefined : formatTraceparent(parsed);
}

/** For logs. */
export function traceIdOf(traceparent: string | null | undefined): string | undefined {
  return traceparent?.slice(3, 35);
}
