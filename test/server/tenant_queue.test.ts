// Whoever waits for a turn is let in, refused, or gone: never forgotten.
import { expect, test } from "vitest";
import { OverLimit } from "../../src/core/errors/errors.js";
import { TenantQueue } from "../../src/server/http/tenant_queue.js";

const never = new AbortController().signal;

function gate(): { opened: Promise<void>; open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

test("whoever has waited too long is told to come back, and those who come later have their turn", async () => {
  const turns = new TenantQueue(1, { longest_ms: 20 });
  const { opened, open } = gate();
  const ahead = turns.within("acme", never, () => opened);
  await expect(turns.within("acme", never, async () => "second")).rejects.toThrow(OverLimit);
  const third = turns.within("acme", never, async () => "third");
  open();
  await ahead;
  expect(await third).toBe("third");
  expect(await turns.within("acme", never, async () => "fourth")).toBe("fourth");
});

test("whoever is gone before his turn does not take it", async () => {
  const turns = new TenantQueue(1);
  const { opened, open } = gate();
  const caller = new AbortController();
  const ahead = turns.within("acme", never, () => opened);
  const gone = turns.within("acme", caller.signal, async () => "gone");
  caller.abort();
  await expect(gone).rejects.toThrow("the caller is gone");
  open();
  await ahead;
  expect(await turns.within("acme", never, async () => "next")).toBe("next");
});

/** A queue by a clock of its own, which calls and rests move on. */
function byClock() {
  let now = 0;
  const rests: number[] = [];
  const turns = new TenantQueue(4, {
    now: () => now,
    rest: async (ms) => {
      rests.push(Math.round(ms));
      now += ms;
    },
  });
  const call = (tenant: string, ms: number) =>
    turns.within(tenant, never, async () => {
      now += ms;
    });
  const rested = async (tenant: string, ms: number) => {
    rests.length = 0;
    await call(tenant, ms);
    return rests.reduce((sum, one) => sum + one, 0);
  };
  return { rested, call };
}

test("while others call too, a tenant has a quarter of a connection's time, and those who use little never wait", async () => {
  const { rested, call } = byClock();
  await call("acme", 10);
  let rests = 0;
  for (let n = 0; n < 20; n++) {
    rests += await rested("evil", 500);
    expect(await rested("acme", 10)).toBe(0);
  }
  // Three times what its calls took, but for what it may use at once: 200 ms, and what the first and the last call took.
  expect(rests).toBeGreaterThan(3 * 20 * 500 - 4 * (200 + 500) - 20 * 10);
  expect(rests).toBeLessThan(3 * 20 * 500);
});

test("a tenant that is alone is not slowed down, and neither is anybody soon after the others have gone", async () => {
  const { rested, call } = byClock();
  for (let n = 0; n < 10; n++) expect(await rested("acme", 1_000)).toBe(0);
  await call("other", 10);
  // No single call waits for all that those before it have used.
  expect(await rested("acme", 1_000)).toBe(3_000);
  await call("acme", 6_000);
  expect(await rested("acme", 1_000)).toBe(0);
});

test("a database that stood still is not held against its callers: what they owe is paid within two rests", async () => {
  const { rested, call } = byClock();
  await call("other", 10);
  for (let n = 0; n < 8; n++) await call("acme", 10_000);
  let rests = 0;
  for (let n = 0; n < 50; n++) {
    await call("other", 10);
    rests += await rested("acme", 1);
  }
  expect(rests).toBeGreaterThan(0);
  expect(rests).toBeLessThanOrEqual(2 * 3_000);
});
