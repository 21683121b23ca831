// Which calls take turns: a tenant that asks from a thousand places at once is answered as few callers would be.
import { expect, test } from "vitest";
import { type Call, inTurn, type Route } from "../../src/server/http/route.js";
import { TenantQueue } from "../../src/server/http/tenant_queue.js";
import { allRoutes } from "../../src/server/routes/index.js";

class Turn extends Error {}

/** Calls of a tenant, as far as those need it that take a turn before they do anything else. */
function callOf(queues: Record<string, unknown>, tenant = "acme"): Call<never> {
  const engine = { tenant };
  const signal = new AbortController().signal;
  return {
    engine,
    principal: { tenant_id: tenant },
    service: queues,
    signal,
    params: {},
    query: {},
    body: {},
    headers: {},
  } as unknown as Call<never>;
}

async function takesTurn({ answer }: Route): Promise<boolean> {
  const queue = {
    within: () => {
      throw new Turn();
    },
  };
  try {
    await answer(callOf({ long_calls: queue, short_calls: queue }) as never);
    return false;
  } catch (error) {
    return error instanceof Turn;
  }
}

test("every question that takes a key takes a turn, but for files and streams, which last as long as their reader", async () => {
  const without: string[] = [];
  for (const route of allRoutes()) {
    const { method, path, scope } = route.endpoint;
    if (method === "GET" && scope !== null && /^\/api\//.test(path) && !(await takesTurn(route))) without.push(path);
  }
  expect(without.sort()).toEqual([
    "/api/stream",
    "/api/tasks/{task_id}/asset",
    "/api/tasks/{task_id}/value",
    "/api/workers/{worker_id}/files/content",
    "/api/workers/{worker_id}/results/spilled",
  ]);
});

test("short questions of one tenant are answered a few at a time, and another tenant's at once", async () => {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  let under_way = 0;
  const endpoint = { long: false } as Route["endpoint"];
  const asked = inTurn({
    endpoint,
    answer: async () => {
      under_way++;
      return opened as never;
    },
  });
  const at_once = inTurn({ endpoint, answer: async () => "answered" as never });
  const queues = { short_calls: new TenantQueue(8, { share: 1 }) };
  const flood = Array.from({ length: 200 }, () => asked.answer(callOf(queues, "evil")));
  expect(await at_once.answer(callOf(queues, "good"))).toBe("answered");
  expect(under_way).toBe(8);
  const held = { ...callOf(queues, "evil"), query: { wait: true } } as unknown as Call<never>;
  expect(await at_once.answer(held)).toBe("answered");
  open();
  await Promise.all(flood);
  expect(under_way).toBe(200);
});
