import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Lease } from "../../src/worker/life/heartbeat.js";

beforeEach(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => vi.useRealTimers());

test("a lease that is not renewed ends by itself, once", () => {
  const onOver = vi.fn();
  const lease = new Lease(1000, performance.now(), onOver);
  vi.advanceTimersByTime(999);
  expect(lease.over()).toBe(false);
  vi.advanceTimersByTime(1);
  expect(onOver).toHaveBeenCalledTimes(1);
  expect(lease.over()).toBe(true);
  expect(onOver).toHaveBeenCalledTimes(1);
});

test("a lease counts from when the heartbeat was sent, not from when it was answered", () => {
  const onOver = vi.fn();
  const lease = new Lease(1000, performance.now(), onOver);
  const sent_at = performance.now();
  vi.advanceTimersByTime(900);
  lease.renew(sent_at);
  vi.advanceTimersByTime(100);
  expect(onOver).toHaveBeenCalled();
});

test("a renewed lease goes on", () => {
  const onOver = vi.fn();
  const lease = new Lease(1000, performance.now(), onOver);
  for (let beat = 0; beat < 10; beat++) {
    vi.advanceTimersByTime(333);
    lease.renew(performance.now());
  }
  expect(lease.over()).toBe(false);
  lease.end();
  expect(onOver).not.toHaveBeenCalled();
});

test("the clock decides when a blocked event loop kept the timer from firing", () => {
  const onOver = vi.fn();
  const lease = new Lease(1000, performance.now(), onOver);
  const later = performance.now() + 1001;
  expect(lease.over(later)).toBe(true);
  expect(onOver).toHaveBeenCalledTimes(1);
});

test("a late heartbeat does not bring an ended lease back", () => {
  const lease = new Lease(1000, performance.now(), () => {});
  vi.advanceTimersByTime(2000);
  lease.renew(performance.now());
  expect(lease.over()).toBe(true);
});

test("an ended lease leaves no timer", () => {
  const lease = new Lease(1000, performance.now(), () => {});
  lease.end();
  expect(vi.getTimerCount()).toBe(0);
});
