import { expect, test } from "vitest";
import { defineHandler } from "../../src/core/declare/declare.js";
import { eventually, gate, openShop } from "./shop.js";

test("a claim that a server crash has forgotten is given up when its number comes again", async () => {
  const { passed, open } = gate();
  const signals: AbortSignal[] = [];
  const again = defineHandler("again", {}, async (_, ctx) => {
    signals.push(ctx.signal);
    if (signals.length > 1) return "second";
    await passed;
    return "first";
  });
  const shop = await openShop({ handlers: [again] });
  const worker = await shop.worker({ slots: 2, poll_s: 0.1, abort_grace_s: 60 });
  const { task_id } = await shop.engine.enqueue("again", {});
  await eventually(() => signals.length === 1);
  // What recovery leaves: the claim and its number were never given out, and the task is ready.
  await shop.db.transaction(async (tx) => {
    await tx.sql`select app.put_back(k, k.held, 0) from app.claims k`;
    await tx.sql`
      select setval(pg_get_serial_sequence('app.claims', 'claim_id'), (select claim_id from app.claims), false)`;
    await tx.sql`delete from app.claims`;
  });
  await eventually(() => signals.length === 2);
  expect(signals[0]!.aborted).toBe(true);
  await eventually(async () => (await shop.engine.task(task_id)).status === "completed");
  open();
  await eventually(() => worker.stats().dropped === 1);
  expect(await shop.engine.task(task_id)).toMatchObject({ result: "second" });
  expect(worker.stats().fenced).toBe(0);
});
