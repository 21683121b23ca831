// One trace from an HTTP request over the job to what a task's handler calls, with a real SDK that keeps its spans in memory.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Writable } from "node:stream";
import { context, SpanStatusCode, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  ParentBasedSampler,
  type ReadableSpan,
  SimpleSpanProcessor,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace-base";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { defineJob } from "../../src/core/declare/declare.js";
import { isTracing } from "../../src/engine/tracing.js";
import { createLog } from "../../src/log.js";
import { node_args } from "../worker/isolation_node.js";
import { openService, type TestService } from "./service.js";
import { calls_out, calls_out_isolated } from "./traced_handlers.js";

const trace_id = "0af7651916cd43dd8448eb211c80319c";
const caller = "b7ad6b7169203331";
const sampled = `00-${trace_id}-${caller}-01`;
const unsampled = `00-${trace_id}-${caller}-00`;

const job = (type: string, task: string) => defineJob({ type, stages: [{ name: "call", task }] });
const exporter = new InMemorySpanExporter();
const logged: Record<string, unknown>[] = [];
const calls: (string | undefined)[] = [];
let service: TestService;
let other_side: Server;
let url = "";

beforeAll(async () => {
  other_side = createServer((request, response) => {
    calls.push(request.headers.traceparent as string | undefined);
    response.end();
  });
  await new Promise<void>((resolve) => other_side.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(other_side.address() as AddressInfo).port}/`;
  service = await openService({
    handlers: [calls_out, calls_out_isolated],
    jobs: [job("calling", "calls.out"), job("calling_isolated", "calls.isolated")],
  });
  const stream = new Writable({
    write(line, _, done) {
      logged.push(JSON.parse(String(line)));
      done();
    },
  });
  await service.worker({ log: createLog({ level: "debug", stream }), isolation_node_args: node_args });
});
afterAll(async () => {
  await service.close();
  await new Promise((resolve) => other_side.close(resolve));
});
beforeEach(() => {
  exporter.reset();
  calls.length = 0;
  logged.length = 0;
});

async function run(job_type: string, headers: Record<string, string>, more: Record<string, unknown> = {}) {
  const parameters = { url, at: performance.now(), ...more };
  const answer = await service.call("POST", `/api/jobs/submit/${job_type}`, {
    headers,
    body: { parameters, correlation_id: "order-7" },
  });
  expect(answer.status).toBe(201);
  const { job_id } = answer.body as { job_id: string };
  await service.engine.wait(job_id);
  const [stored] = await service.db.sql<{ traceparent: string | null; job: string }>`
    select traceparent, to_jsonb(j)::text as job from app.jobs j where job_id = ${job_id}`;
  return { job_id, stored: stored! };
}

describe("without an SDK", () => {
  test("nothing is traced, and the caller's context goes through to the handler's calls", async () => {
    expect(isTracing()).toBe(false);
    const { stored } = await run("calling", { traceparent: sampled });
    expect(stored.traceparent).toBe(sampled);
    expect(calls).toEqual([sampled]);
    expect(exporter.getFinishedSpans()).toEqual([]);
    expect(logged.find(({ msg }) => msg === "task completed")).toMatchObject({ trace_id, correlation_id: "order-7" });
  });

  test.each([
    ["malformed", "00-xyz-1-01"],
    ["of zeros", `00-${"0".repeat(32)}-${caller}-01`],
    ["of the forbidden version", `ff-${trace_id}-${caller}-01`],
    ["longer than its version allows", `${sampled}-more`],
  ])("a context that is %s is as if it had not been sent", async (_, traceparent) => {
    const { stored } = await run("calling", { traceparent });
    expect(stored.traceparent).toBeNull();
    expect(calls).toEqual([undefined]);
  });
});

describe("with an SDK", () => {
  let provider: BasicTracerProvider;
  beforeAll(() => {
    provider = new BasicTracerProvider({
      sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(1) }),
      spanProcessors: [new SimpleSpanProcessor(exporter)],
    });
    trace.setGlobalTracerProvider(provider);
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  });
  afterAll(async () => {
    trace.disable();
    context.disable();
    await provider.shutdown();
  });

  /** The request's span ends when its answer has been sent, which may be after the task. */
  async function spansOf(trace: string, count: number): Promise<ReadableSpan[]> {
    const found = () => exporter.getFinishedSpans().filter((span) => span.spanContext().traceId === trace);
    await expect.poll(() => found().length, { timeout: 20_000 }).toBe(count);
    return found();
  }

  test.each([
    ["in the worker", "calling", "calls.out"],
    ["in a process of its own", "calling_isolated", "calls.isolated"],
  ])("one trace leads from the request to what a handler calls %s", async (_, job_type, task_type) => {
    const { job_id } = await run(job_type, { traceparent: sampled, baggage: "secret=very-secret" });
    const spans = await spansOf(trace_id, 3);
    const [request, submit, task] = ["POST /api/jobs/submit/{job_type}", `submit ${job_type}`, `task ${task_type}`].map(
      (name) => spans.find((span) => span.name === name)!,
    );
    expect(request!.parentSpanContext?.spanId).toBe(caller);
    expect(submit!.parentSpanContext?.spanId).toBe(request!.spanContext().spanId);
    expect(task!.parentSpanContext?.spanId).toBe(submit!.spanContext().spanId);
    expect(calls).toEqual([`00-${trace_id}-${task!.spanContext().spanId}-01`]);
    expect(request!.attributes).toMatchObject({ "http.response.status_code": 201, "fanfold.tenant": "default" });
    expect(submit!.attributes).toMatchObject({ "fanfold.job_id": job_id, "fanfold.job_type": job_type });
    expect(task!.attributes).toMatchObject({
      "fanfold.tenant": "default",
      "fanfold.job_id": job_id,
      "fanfold.job_type": job_type,
      "fanfold.stage": "call",
      "fanfold.task_type": task_type,
      "fanfold.attempt": 1,
      "fanfold.outcome": "completed",
    });
    expect(logged.find(({ msg }) => msg === "task completed")).toMatchObject({
      trace_id,
      job_id,
      tenant_id: "default",
      correlation_id: "order-7",
    });
  });

  test("baggage is neither stored nor passed on", async () => {
    const { stored } = await run("calling", { traceparent: sampled, baggage: "secret=very-secret" });
    expect(stored.job).not.toContain("very-secret");
    expect(stored.job).not.toContain("baggage");
    await spansOf(trace_id, 3);
  });

  test("what the caller did not sample is not recorded, and the handler's calls say so too", async () => {
    await run("calling", { traceparent: unsampled });
    expect(calls).toHaveLength(1);
    expect(calls[0]).toMatch(new RegExp(`^00-${trace_id}-[0-9a-f]{16}-00$`));
    expect(exporter.getFinishedSpans()).toEqual([]);
  });

  test("a failed attempt tells its category, and each attempt is a span of its own", async () => {
    const { task_id } = await service.engine.enqueue(
      "calls.out",
      { url, fail: true },
      { max_attempts: 2, traceparent: sampled },
    );
    const spans = await spansOf(trace_id, 3);
    const attempts = spans.filter(({ name }) => name === "task calls.out");
    expect(attempts.map(({ attributes }) => attributes["fanfold.attempt"]).sort()).toEqual([1, 2]);
    for (const { attributes, status } of attempts) {
      expect(attributes).toMatchObject({ "fanfold.outcome": "failed", "fanfold.category": "transient" });
      expect(status.code).toBe(SpanStatusCode.ERROR);
    }
    const task = await service.engine.task(task_id);
    expect(task.metadata).toEqual({ traceparent: expect.stringContaining(trace_id) });
  });

  test("without a caller's context the request begins a trace", async () => {
    const { stored } = await run("calling", {});
    const own = stored.traceparent!.slice(3, 35);
    expect((await spansOf(own, 3)).find(({ name }) => name.startsWith("POST"))?.parentSpanContext).toBeUndefined();
  });
});

test("a lone task's trace is no part of its body: the same key with another trace is the same task", async () => {
  const { engine } = service;
  const enqueue = (traceparent: string) =>
    engine.enqueue("calls.out", { url }, { idempotency_key: "once", metadata: { source: "test" }, traceparent });
  const first = await enqueue(sampled);
  const second = await enqueue(`00-${"1".repeat(32)}-${caller}-01`);
  expect(second).toEqual({ task_id: first.task_id, created: false });
  expect((await engine.task(first.task_id)).metadata).toEqual({ source: "test", traceparent: sampled });
});
