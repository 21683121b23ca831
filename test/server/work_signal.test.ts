// The bell of a server: a LISTEN that was not to be had once is asked for again.
import { pino } from "pino";
import { expect, onTestFinished, test, vi } from "vitest";
import { hintOf } from "../../src/core/task/notify_payload.js";
import { WorkBell } from "../../src/server/stream/work_signal.js";
import { freshDatabase } from "../postgres.js";

test("after a LISTEN that failed it listens again a few seconds later, and rings", async () => {
  const { db, drop } = await freshDatabase();
  onTestFinished(drop);
  const listen = vi.spyOn(db, "listen").mockRejectedValueOnce(new Error("no connection is left"));
  const clock = vi.spyOn(performance, "now").mockReturnValue(1_000);
  onTestFinished(() => void vi.restoreAllMocks());
  const bell = new WorkBell(db, pino({ level: "silent" }));
  for (let n = 0; n < 3; n++) await bell.listen();
  expect(listen).toHaveBeenCalledTimes(1);
  clock.mockReturnValue(10_000);
  for (let n = 0; n < 3; n++) await bell.listen();
  expect(listen).toHaveBeenCalledTimes(2);
  const rung = bell.rings(new Set(["t.only"]), bell.now(), 60_000, new AbortController().signal);
  await db.sql`select pg_notify('fanfold_ready', ${hintOf("t.only")})`;
  await rung;
  expect(bell.now()).toBe(1);
  await bell.stop();
});
