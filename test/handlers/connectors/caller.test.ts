// What `call` adds to a connector's calls by itself.
import { expect, onTestFinished, test } from "vitest";
import { default_policy } from "../../../src/core/places/outbound.js";
import type { SqlSession, TaskContext } from "../../../src/core/task/context.js";
import { makeCall } from "../../../src/handlers/connectors/caller.js";
import { fakeContext } from "../../jobs/fake_context.js";
import { listen } from "./listener.js";

test("a call passes on the trace, and every further call with an effect has a key of its own", async () => {
  const host = await listen((_, response) => response.end());
  onTestFinished(() => host.close());
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const session = { sql: async () => [{ reply: { granted: true, slot_id: 1 } }] } as unknown as SqlSession;
  const more = {
    traceparent,
    effect_key: "effect",
    outbound: { ...default_policy, allow_http: true, allow_private: [`127.0.0.1:${host.port}`] },
    db: (<T>(work: (given: SqlSession) => Promise<T>) => work(session)) as TaskContext["db"],
  };
  const call = makeCall(fakeContext({}, more as Partial<TaskContext>), {}, "http.request", null);
  await call({ url: host.url });
  await call({ url: host.url, method: "POST", json: {} });
  await call({ url: host.url, method: "DELETE", headers: { "X-Own": "1" } });
  await call({ url: host.url, method: "PUT", headers: { "Idempotency-Key": "mine" } });
  expect(host.requests.map(({ headers }) => headers["idempotency-key"])).toEqual([
    undefined,
    "effect",
    "effect-2",
    "mine",
  ]);
  expect(host.requests.every(({ headers }) => headers.traceparent === traceparent)).toBe(true);
  expect(host.requests[1]).toMatchObject({ headers: { "content-type": "application/json" }, body: "{}" });
});
