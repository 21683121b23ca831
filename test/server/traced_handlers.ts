// Handlers for the tests of traces: one runs in the worker, one in a process of its own; both call out with their trace context.
import { defineHandler } from "../../src/core/declare/declare.js";

async function callOut({ url, fail }: Record<string, unknown>, traceparent: string | null) {
  const headers: Record<string, string> = traceparent === null ? {} : { traceparent };
  await fetch(String(url), { headers });
  if (fail === true) throw new Error("on purpose");
  return { traceparent };
}

export const calls_out = defineHandler("calls.out", {}, (parameters, ctx) => callOut(parameters, ctx.traceparent));

export const calls_out_isolated = defineHandler(
  "calls.isolated",
  { isolation: "process", module: import.meta.url },
  (parameters, ctx) => callOut(parameters, ctx.traceparent),
);
