// How long a try waits for the next.
import { expect, test } from "vitest";
import { mayHaveArrived, type RetryPolicy, retryAfter, type Trouble, waitMs } from "../../src/client/retries.js";

const policy: RetryPolicy = { retries: 4, longest_wait_ms: 60_000 };
const cut: Trouble = { kind: "network", sent: true };
const asked = (retry_after_s: number): Trouble => ({ kind: "answer", status: 429, code: "over_limit", retry_after_s });

test("the bound doubles with each try up to ten seconds, and chance chooses below it", () => {
  expect([0, 1, 2, 5, 6, 1000].map((retry) => waitMs(cut, retry, policy, 1))).toEqual([
    200, 400, 800, 6400, 10_000, 10_000,
  ]);
  expect(waitMs(cut, 3, policy, 0)).toBe(0);
});

test("what the server asks for is the least that is waited, with a little more by chance", () => {
  expect(waitMs(asked(2), 0, policy, 0)).toBe(2000);
  expect(waitMs(asked(2), 0, policy, 1)).toBe(2500);
  expect(waitMs(asked(60), 0, policy, 1)).toBe(61_000);
  expect(waitMs(asked(61), 0, policy, 0)).toBeNull();
});

test("Retry-After is seconds, or a date read against the answer's own clock", () => {
  const read = (value: string, date = "Thu, 01 Jan 2026 00:00:00 GMT") =>
    retryAfter(new Headers({ "retry-after": value, date }));
  expect(
    ["7", "0", "Thu, 01 Jan 2026 00:01:30 GMT", "Wed, 31 Dec 2025 23:00:00 GMT", "soon", "-1"].map((one) => read(one)),
  ).toEqual([7, 0, 90, 0, undefined, undefined]);
  expect(retryAfter(new Headers())).toBeUndefined();
});

test("only an error that says no connection came about is sure", () => {
  const thrown = (code: string) => Object.assign(new TypeError("fetch failed"), { cause: { code } });
  expect(
    ["ECONNREFUSED", "ENOTFOUND", "ECONNRESET", "UND_ERR_SOCKET"].map((code) => mayHaveArrived(thrown(code))),
  ).toEqual([false, false, true, true]);
  const both = Object.assign(new AggregateError([{ code: "ECONNREFUSED" }]), {});
  expect(mayHaveArrived(Object.assign(new TypeError("fetch failed"), { cause: both }))).toBe(false);
  expect(mayHaveArrived(new Error("who knows"))).toBe(true);
});
