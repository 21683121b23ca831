import { expect, test } from "vitest";
import {
  formatTraceparent,
  parseTraceparent,
  traceIdOf,
  usableTraceparent,
} from "../../src/core/values/traceparent.js";

const trace_id = "0af7651916cd43dd8448eb211c80319c";
const span_id = "b7ad6b7169203331";
const good = `00-${trace_id}-${span_id}-01`;

test("a context is read and written as the standard has it", () => {
  expect(parseTraceparent(good)).toEqual({ trace_id, span_id, sampled: true });
  expect(parseTraceparent(`00-${trace_id}-${span_id}-00`)?.sampled).toBe(false);
  expect(formatTraceparent({ trace_id, span_id, sampled: true })).toBe(good);
  expect(traceIdOf(good)).toBe(trace_id);
  expect(traceIdOf(null)).toBeUndefined();
});

test("other flags are dropped, and a version to come may say more", () => {
  expect(usableTraceparent(`00-${trace_id}-${span_id}-03`)).toBe(good);
  expect(usableTraceparent(`cc-${trace_id}-${span_id}-01-what-the-future-will-be-like`)).toBe(good);
});

test.each([
  ["upper case", good.toUpperCase()],
  ["no flags", `00-${trace_id}-${span_id}`],
  ["a short trace", `00-${trace_id.slice(1)}-${span_id}-01`],
  ["a trace of zeros", `00-${"0".repeat(32)}-${span_id}-01`],
  ["a span of zeros", `00-${trace_id}-${"0".repeat(16)}-01`],
  ["the forbidden version", `ff-${trace_id}-${span_id}-01`],
  ["more than version 00 has", `${good}-00`],
  ["a future version without a dash", `cc-${trace_id}-${span_id}-01x`],
  ["two of them", `${good},${good}`],
  ["a list", [good]],
  ["nothing", undefined],
  ["a very long one", `cc-${trace_id}-${span_id}-01-${"x".repeat(500)}`],
])("%s is no context", (_, text) => {
  expect(parseTraceparent(text)).toBeNull();
});
