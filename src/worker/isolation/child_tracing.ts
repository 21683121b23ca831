// An OpenTelemetry SDK that an isolated handler's module has brought along goes on with the worker's trace. The library is
// loaded only where there is one: a process that starts for a single task must not pay for it.

/** Where the library keeps whatever was registered, in every version 1. */
const registered = Symbol.for("opentelemetry.js.api.1");

export async function joinTrace(traceparent: string | null): Promise<<T>(work: () => T) => T> {
  if (!(registered in globalThis)) return (work) => work();
  const { context } = await import("@opentelemetry/api");
  const { contextOf } = await import("../../engine/tracing.js");
  const joined = contextOf(traceparent);
  return (work) => context.with(joined, work);
}
