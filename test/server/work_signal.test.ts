// The signal for waiting workers: a LISTEN that was not to be had once is asked for again.
import { pino } from "pino";
import { expect, onTestFinished, test, vi } from "vitest";
import { notifyPayload } from "../../src/core/task/notify_payload.js";
import { WorkSignal } from "../../src/server/stream/work_signal.js";
import { freshDatabase } from "../postgres.js";

test("after a LISTEN that failed it listens again a few seconds later, and rings", async () => {
  const { db, drop } = await freshDatabase();
  onTestFinished(drop);
  const listen = vi.spyOn(db, "listen").mockRejectedValueOnce(new Error("no connection is left"));
  const clock = vi.spyOn(performance, "now").mockReturnValue(1_000);
  onTestFinished(() => void vi.restoreAllMocks());
  const work_signal = new WorkSignal(db, pino({ level: "silent" }));
  for (let n = 0; n < 3; n++) await work_signal.listen();
  expect(listen).toHaveBeenCalledTimes(1);
  clock.mockReturnValue(10_000);
  for (let n = 0; n < 3; n++) await work_signal.listen();
  expect(listen).toHaveBeenCalledTimes(2);
  const woken = work_signal.wait(new Set(["t.only"]), work_signal.now(), 60_000, new AbortController().signal);
  await db.sql`select pg_notify('fanfold_ready', ${notifyPayload("t.only")})`;
  expect(await woken).toBe("t.only");
  expect(work_signal.now()).toBe(1);
  // Of two that were heard, neither is the one.
  await db.sql`select pg_notify('fanfold_ready', ${notifyPayload("t.other")})`;
  await vi.waitFor(() => expect(work_signal.now()).toBe(2));
  const both = new Set(["t.only", "t.other"]);
  expect(await work_signal.wait(both, 0, 60_000, new AbortController().signal)).toBeNull();
  expect(await work_signal.wait(both, 1, 60_000, new AbortController().signal)).toBe("t.other");
  await work_signal.stop();
});
